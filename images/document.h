/* Members, texts and lists of the documents of an image, with the line and column of what is wrong:
 * each function that can fail returns -1 then, with image.invalid. Pure. */
#ifndef ASSAY_IMAGES_DOCUMENT_H
#define ASSAY_IMAGES_DOCUMENT_H

#include "error.h"
#include "evaluators/json.h"

/* Say that something is wrong at the value, or that the value of `key` is not what is wanted. */
int document_refuse(struct json_value v, enum code code, struct error *err, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
int document_not_a(struct json_value v, const char *key, const char *wanted, struct error *err);

/* From bytes, which it borrows, to a tree; the second takes nothing but an object. */
int document_read(struct json *doc, const void *bytes, size_t len, struct error *err);
int document_read_object(struct json *doc, const void *bytes, size_t len, struct error *err);

/* A member that is not null, which Go writes for an empty list. */
bool document_member(struct json_value parent, const char *key, struct json_value *ret);
/* The same of one that must be there. */
int document_need(
        struct json_value parent, const char *key, struct json_value *ret, struct error *err);

/* Texts belong to the tree. The value `v` of `key` as a text, or one printable line: */
int document_take_text(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err);
int document_take_line(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err);
/* The member `key`, or "" where there is none. */
int document_get_text(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err);
int document_get_line(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err);

/* The list `key`; without node where it is missing, which says the same as an empty one. */
int document_get_list(struct json_value parent, const char *key, uint32_t max,
        struct json_value *ret, struct error *err);
/* Zeros for what will be read of each item of the list, also where there is none; the caller's. */
void *document_make_room(struct json_value list, size_t item_size, struct error *err);
/* json_next(), also where there is no list. */
bool document_next(struct json_walk *w, struct json_value *ret);

/* What a text must be besides; NULL: anything. */
typedef int document_check(
        struct json_value v, const char *key, const char *text, struct error *err);
document_check document_check_line; /* one line, printable: it will stand in messages and tables */

struct document_texts {
        const char **list; /* owned, but not the texts */
        uint32_t count;
};
/* The list of texts `key`; to be freed in any case. */
int document_get_texts(struct json_value parent, const char *key, uint32_t max, size_t max_each,
        document_check *check, struct document_texts *ret, struct error *err);
void document_texts_free(struct document_texts *t);

#endif
