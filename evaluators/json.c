/* Documents, values and places; see json.h. */
#include "json.h"

#include "text.h"

#include <sys/auxv.h>

void json_place(const struct json *doc, size_t offset, unsigned *ret_line, unsigned *ret_column)
{
        const unsigned char *p = doc->text, *end = doc->text + offset, *newline;
        unsigned line = 1, column = 1;

        while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
                line++;
                p = newline + 1;
        }
        for (; p < end; p++)
                column += (*p & 0xc0) != 0x80;
        *ret_line = line;
        *ret_column = column;
}

static int fault_at(
        const struct json *doc, size_t offset, const char *text, struct json_fault *ret_fault)
{
        json_place(doc, offset, &ret_fault->line, &ret_fault->column);
        ret_fault->text = text;
        return -1;
}

/* jansson compares decoded keys and stops behind the second one: the last key before. */
static size_t duplicate_offset(const struct json *doc, size_t position)
{
        uint32_t i = doc->marks.count;

        while (i > 0 && doc->marks.list[i - 1].key >= position)
                i--;
        return i > 0 ? doc->marks.list[i - 1].key : 0;
}

static int make_tree(struct json *doc, struct json_fault *ret_fault)
{
        json_error_t e;

        /* Every number as a double: the digits come from the marks, and a whole number of 30
         * digits must not fail. */
        doc->root = json_loadb((const char *)doc->text, doc->len,
                JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &e);
        if (doc->root)
                return 0;
        if (json_error_code(&e) == json_error_duplicate_key)
                return fault_at(doc, duplicate_offset(doc, (size_t)e.position),
                        "this key is already there", ret_fault);
        return fault_at(doc, 0, "not enough memory for this document", ret_fault);
}

int json_read(struct json *ret, const void *bytes, size_t len, struct json_fault *ret_fault)
{
        static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
        size_t skip = len >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
        const char *wrong;
        size_t at;

        *ret = (struct json){.text = (const unsigned char *)bytes + skip, .len = len - skip};
        wrong = json_scan(ret->text, ret->len, &ret->marks, &at);
        if (wrong)
                return fault_at(ret, at, wrong, ret_fault);
        return make_tree(ret, ret_fault);
}

void json_free(struct json *doc)
{
        free(doc->marks.list);
        json_decref(doc->root);
        *doc = (struct json)JSON_INIT;
}

uint64_t json_random(void)
{
        const void *random = (const void *)getauxval(AT_RANDOM);
        uint64_t seed = 0;

        if (random)
                memcpy(&seed, random, sizeof seed);
        return seed | 1;
}

void json_seed(void)
{
        json_object_seed((size_t)json_random());
}

struct json_value json_root(const struct json *doc)
{
        return (struct json_value){.node = doc->root, .doc = doc};
}

struct json_walk json_walk(struct json_value parent)
{
        return (struct json_walk){.parent = parent, .mark = parent.mark + 1};
}

static json_t *walk_object(struct json_walk *w)
{
        json_t *object = w->parent.node;

        w->member = w->begun ? json_object_iter_next(object, w->member) : json_object_iter(object);
        w->key = w->member ? json_object_iter_key(w->member) : NULL;
        return w->member ? json_object_iter_value(w->member) : NULL;
}

bool json_next(struct json_walk *w, struct json_value *ret_child)
{
        json_t *node = NULL;

        if (w->begun)
                w->index++;
        if (json_is_object(w->parent.node))
                node = walk_object(w);
        else if (json_is_array(w->parent.node))
                node = json_array_get(w->parent.node, w->index);
        w->begun = true;
        if (!node)
                return false;
        *ret_child = (struct json_value){node, w->parent.doc, w->mark};
        w->mark = w->parent.doc->marks.list[w->mark].next;
        return true;
}

/* The child that the first step of `path` names; the step is taken off. */
static bool step(struct json_value parent, const char **path, struct json_value *ret_child)
{
        const char *p = *path + (**path == '.' || **path == '[');
        size_t n = strcspn(p, ".[]");
        bool by_index = **path == '[';
        struct json_walk w = json_walk(parent);

        *path = p + n + by_index;
        while (json_next(&w, ret_child)) {
                if (by_index && w.index == strtoul(p, NULL, 10))
                        return true;
                if (!by_index && w.key && strlen(w.key) == n && memcmp(w.key, p, n) == 0)
                        return true;
        }
        return false;
}

struct json_value json_locate(const struct json *doc, const char *path, bool *ret_found)
{
        struct json_value here = json_root(doc), child;
        bool found = true;

        while (*path != '\0' && (found = step(here, &path, &child)))
                here = child;
        if (ret_found)
                *ret_found = found;
        return here;
}

size_t json_offset(struct json_value v)
{
        return v.doc->marks.list[v.mark].key;
}

const char *json_raw(struct json_value v, size_t *ret_len)
{
        const struct json_mark *m = &v.doc->marks.list[v.mark];

        *ret_len = m->end - m->start;
        return (const char *)v.doc->text + m->start;
}

void json_number_text(struct json_value v, char *out, size_t size)
{
        const struct json_mark *m = &v.doc->marks.list[v.mark];

        snprintf(out, size, "%.*s", (int)(m->end - m->start), (const char *)v.doc->text + m->start);
}

void json_describe(struct json_value v, char *out, size_t size)
{
        char shown[48];

        switch (json_typeof(v.node)) {
        case JSON_OBJECT:
                snprintf(out, size, "an object");
                break;
        case JSON_ARRAY:
                snprintf(out, size, "an array");
                break;
        case JSON_STRING:
                text_escape(
                        shown, sizeof shown, json_string_value(v.node), json_string_length(v.node));
                snprintf(out, size, "the text \"%s%s\"", shown,
                        strlen(shown) < json_string_length(v.node) ? "…" : "");
                break;
        case JSON_TRUE:
        case JSON_FALSE:
                snprintf(out, size, "%s", json_is_true(v.node) ? "true" : "false");
                break;
        case JSON_NULL:
                snprintf(out, size, "null (leave the key out instead)");
                break;
        default:
                json_number_text(v, out, size);
        }
}
