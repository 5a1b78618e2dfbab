/* Objects read by tables; see fields.h. */
#include "fields.h"

#include "answer.h"

struct spot spot_below(const struct spot *s, const struct json_walk *w, struct json_value child)
{
        return (struct spot){.up = s, .key = w->key, .index = w->index, .value = child};
}

static void say_wrong(struct reading *r, const struct field *f, const struct spot *s)
{
        char want[256], is[128];

        f->type->want(f, want, sizeof want);
        json_describe(s->value, is, sizeof is);
        reading_problem(r, s, "must be %s, not %s", want, is);
}

static const char *row_name(const void *rows, size_t i)
{
        return ((const struct field *)rows)[i].key;
}

static void say_unknown(struct reading *r, const struct fields *fields, const struct spot *s)
{
        void (*say)(struct reading *, const struct spot *, const char *, ...) =
                fields->unknown == UNKNOWN_WARNS ? reading_warning : reading_problem;
        const struct findings *said =
                fields->unknown == UNKNOWN_WARNS ? &r->warnings : &r->problems;
        const char *near = NULL;

        if (fields->unknown == UNKNOWN_IGNORED)
                return;
        if (said->count < FINDINGS_MAX)
                near = suggest(s->key, row_name, fields->rows, fields->count);
        if (near)
                say(r, s, "is not a key here; did you mean \"%s\"?", near);
        else
                say(r, s, "is not a key here");
}

static void say_missing(struct reading *r, const struct field *f, const struct spot *s)
{
        struct spot absent = {.up = s, .key = f->key, .value = s->value};
        char want[256];

        f->type->want(f, want, sizeof want);
        reading_problem(r, &absent, "is missing; it must be %s", want);
}

const struct field *field_find(const struct fields *fields, const char *key)
{
        for (size_t i = 0; i < fields->count; i++)
                if (strcmp(fields->rows[i].key, key) == 0)
                        return &fields->rows[i];
        return NULL;
}

void field_read(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        if (!f->type->read(r, f, s, to))
                say_wrong(r, f, s);
}

static void read_members(
        struct reading *r, const struct fields *fields, const struct spot *s, void *to)
{
        struct json_value child;

        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);
                const struct field *f = field_find(fields, w.key);

                if (!f)
                        say_unknown(r, fields, &below);
                else
                        field_read(r, f, &below, (char *)to + f->offset);
        }
        for (size_t i = 0; i < fields->count; i++)
                if (fields->rows[i].required &&
                        !json_object_get(s->value.node, fields->rows[i].key))
                        say_missing(r, &fields->rows[i], s);
}

void list_free(struct list *l)
{
        free(l->items);
        *l = (struct list){0};
}

bool list_make(struct list *l, size_t count, size_t size, struct reading *r, const struct spot *s)
{
        l->items = count > 0 ? calloc(count, size) : NULL;
        l->count = l->items ? count : 0;
        if (l->count < count)
                reading_problem(r, s, "is too large for the memory there is");
        return l->count == count;
}

static bool read_object(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        if (!json_is_object(s->value.node))
                return false;
        read_members(r, f->fields, s, to);
        return true;
}

static void want_object(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object");
}

static bool is_list(const struct field *f, const struct spot *s)
{
        size_t n = json_array_size(s->value.node);

        return json_is_array(s->value.node) && n >= f->least && n <= f->most;
}

static bool read_list(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct list *l = to;
        struct json_value child;

        if (!is_list(f, s))
                return false;
        if (!list_make(l, json_array_size(s->value.node), f->item_size, r, s) || l->count == 0)
                return true;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);
                char *item = (char *)l->items + w.index * f->item_size;

                if (f->fields->defaults)
                        memcpy(item, f->fields->defaults, f->item_size);
                if (!read_object(r, f, &below, item))
                        reading_problem(r, &below, "must be an object");
        }
        return true;
}

static bool read_texts(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct list *l = to;
        struct json_value child;

        if (!is_list(f, s))
                return false;
        if (!list_make(l, json_array_size(s->value.node), sizeof(const char *), r, s) ||
                l->count == 0)
                return true;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);
                const char *text = json_string_value(child.node), *complaint = NULL;

                if (!text || text[0] == '\0' || strlen(text) > SCORE_MAX_TEXT)
                        reading_problem(
                                r, &below, "must be a text of 1 to %d bytes", SCORE_MAX_TEXT);
                else if (f->check)
                        complaint = f->check(text);
                if (complaint)
                        reading_problem(r, &below, "%s", complaint);
                ((const char **)l->items)[w.index] = text ? text : "";
        }
        return true;
}

static void want_list(const struct field *f, char *out, size_t size)
{
        snprintf(out, size, "an array of %llu to %llu %s", (unsigned long long)f->least,
                (unsigned long long)f->most, f->type == &field_texts ? "texts" : "objects");
}

const struct field_type field_object = {read_object, want_object};
const struct field_type field_list = {read_list, want_list};
const struct field_type field_texts = {read_texts, want_list};

void put_texts(struct buffer *out, const struct list *texts)
{
        put_u32(out, (uint32_t)texts->count);
        for (size_t i = 0; i < texts->count; i++)
                put_text(out, ((const char **)texts->items)[i]);
}
