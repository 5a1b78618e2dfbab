/* Values of an image's documents; see document.h. */
#include "images/document.h"

#include "text.h"

#include <stdarg.h>

int document_refuse(struct json_value v, enum code code, struct error *err, const char *format, ...)
{
        char why[sizeof err->text];
        unsigned line, column;
        va_list args;

        va_start(args, format);
        vsnprintf(why, sizeof why, format, args);
        va_end(args);
        json_place(v.doc, json_offset(v), &line, &column);
        return error_set(err, code, "line %u, column %u: %s", line, column, why);
}

int document_not_a(struct json_value v, const char *key, const char *wanted, struct error *err)
{
        char is[80];

        json_describe(v, is, sizeof is);
        return document_refuse(
                v, CODE_IMAGE_INVALID, err, "%s must be %s, not %s", key, wanted, is);
}

int document_read(struct json *doc, const void *bytes, size_t len, struct error *err)
{
        struct json_fault fault;

        if (json_read(doc, bytes, len, &fault) == 0)
                return 0;
        return error_set(err, CODE_IMAGE_INVALID, "line %u, column %u: %s", fault.line,
                fault.column, fault.text);
}

int document_read_object(struct json *doc, const void *bytes, size_t len, struct error *err)
{
        if (document_read(doc, bytes, len, err) < 0)
                return -1;
        return json_is_object(doc->root)
                       ? 0
                       : document_not_a(json_root(doc), "the document", "an object", err);
}

/* A member that is not null, which Go writes for an empty list. */
bool document_member(struct json_value parent, const char *key, struct json_value *ret)
{
        struct json_value child;

        *ret = (struct json_value){0};
        if (!json_is_object(parent.node))
                return false;
        for (struct json_walk w = json_walk(parent); json_next(&w, &child);)
                if (strcmp(w.key, key) == 0) {
                        *ret = child;
                        return !json_is_null(child.node);
                }
        return false;
}

int document_need(
        struct json_value parent, const char *key, struct json_value *ret, struct error *err)
{
        return document_member(parent, key, ret) ? 0
                                                 : document_refuse(parent, CODE_IMAGE_INVALID, err,
                                                           "%s is missing here", key);
}

int document_take_text(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err)
{
        if (!json_is_string(v.node))
                return document_not_a(v, key, "a text", err);
        if (json_string_length(v.node) > max)
                return document_refuse(
                        v, CODE_IMAGE_INVALID, err, "%s is longer than %zu bytes", key, max);
        *ret = json_string_value(v.node);
        return 0;
}

/* The text `key`, or "" where there is none. */
int document_get_text(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err)
{
        struct json_value v;

        *ret = "";
        return document_member(parent, key, &v) ? document_take_text(v, key, max, ret, err) : 0;
}

/* One line, printable: it will stand in messages and tables. */
int document_check_line(struct json_value v, const char *key, const char *text, struct error *err)
{
        const unsigned char *p = (const unsigned char *)text;

        for (size_t left = strlen(text), n; left > 0; p += n, left -= n) {
                uint32_t code = 0;

                n = text_utf8_next(p, left, &code);
                if (n == 0 || text_is_control(code))
                        return document_refuse(
                                v, CODE_IMAGE_INVALID, err, "%s has control characters", key);
        }
        return 0;
}

int document_take_line(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err)
{
        return document_take_text(v, key, max, ret, err) < 0
                       ? -1
                       : document_check_line(v, key, *ret, err);
}

int document_get_line(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err)
{
        struct json_value v;

        *ret = "";
        return document_member(parent, key, &v) ? document_take_line(v, key, max, ret, err) : 0;
}

/* The list `key`; without node where it is missing, which says the same as an empty one. */
int document_get_list(struct json_value parent, const char *key, uint32_t max,
        struct json_value *ret, struct error *err)
{
        if (!document_member(parent, key, ret)) {
                *ret = (struct json_value){0}; /* it may be null */
                return 0;
        }
        if (!json_is_array(ret->node))
                return document_not_a(*ret, key, "a list", err);
        if (json_array_size(ret->node) > max)
                return document_refuse(*ret, CODE_IMAGE_INVALID, err, "%s has more than %u items",
                        key, (unsigned)max);
        return 0;
}

/* Zeros for what will be read of each item of the list, also where there is none. */
void *document_make_room(struct json_value list, size_t item_size, struct error *err)
{
        void *room = calloc((list.node ? json_array_size(list.node) : 0) + 1, item_size);

        if (!room)
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return room;
}

bool document_next(struct json_walk *w, struct json_value *ret)
{
        return w->parent.node && json_next(w, ret);
}

int document_get_texts(struct json_value parent, const char *key, uint32_t max, size_t max_each,
        document_check *check, struct document_texts *ret, struct error *err)
{
        struct json_value list, item;

        if (document_get_list(parent, key, max, &list, err) < 0)
                return -1;
        ret->list = document_make_room(list, sizeof *ret->list, err);
        if (!ret->list)
                return -1;
        for (struct json_walk w = json_walk(list); document_next(&w, &item);) {
                const char **text = &ret->list[ret->count++];

                if (document_take_text(item, key, max_each, text, err) < 0 ||
                        (check && check(item, key, *text, err) < 0))
                        return -1;
        }
        return 0;
}

void document_texts_free(struct document_texts *t)
{
        free(t->list);
        *t = (struct document_texts){0};
}
