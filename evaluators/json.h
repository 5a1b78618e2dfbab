/* The one reader of JSON, for all files of outsiders: strict (UTF-8, no duplicate key, NaN or
 * trailing data), bounded, with the place and the digits of every value. Pure.
 *
 *      _cleanup_json_ struct json doc = JSON_INIT;
 *      if (json_read(&doc, bytes, len, &fault) == 0)
 *              … json_root(&doc) … */
#ifndef ASSAY_EVALUATORS_JSON_H
#define ASSAY_EVALUATORS_JSON_H

#include "json_scan.h"

#include <jansson.h>
#include <stdbool.h>

/* A document. The bytes it was read from are borrowed and must stay as long as it does. */
struct json {
        const unsigned char *text; /* behind the byte order mark, if there was one */
        size_t len;
        struct json_marks marks;
        json_t *root;
};
#define JSON_INIT                                                                                  \
        {                                                                                          \
                0                                                                                  \
        }

/* Where and why a document was refused. Lines and columns count from 1, columns in characters. */
struct json_fault {
        unsigned line, column;
        const char *text;
};

int json_read(struct json *ret, const void *bytes, size_t len, struct json_fault *ret_fault);
void json_free(struct json *doc);
#define _cleanup_json_ __attribute__((cleanup(json_free)))

/* One value: its node in jansson's tree and its mark. */
struct json_value {
        json_t *node;
        const struct json *doc;
        uint32_t mark;
};

/* What nobody outside knows, for hash tables: it is there since the program's start, no call is
 * needed for it. Never 0. */
uint64_t json_random(void);
/* jansson would open a file for the seed of its hash tables; a confined program gives it one from
 * the kernel's own, before it reads anything. */
void json_seed(void);

struct json_value json_root(const struct json *doc);

/* Step through the members of an object or the items of an array (anything else has none):
 *
 *      for (struct json_walk w = json_walk(parent); json_next(&w, &child);)
 *              … w.key (NULL in an array), w.index, child … */
struct json_walk {
        struct json_value parent;
        uint32_t mark;
        void *member;
        const char *key;
        size_t index; /* of the child just given */
        bool begun;
};
struct json_walk json_walk(struct json_value parent);
bool json_next(struct json_walk *w, struct json_value *ret_child);

/* The value at a dotted path ("scoring.rubric[1].weight"), or the innermost one on the way;
 * `ret_found` (which may be NULL) tells which. */
struct json_value json_locate(const struct json *doc, const char *path, bool *ret_found);

/* Offset of the value's key, or of the value where there is none. */
size_t json_offset(struct json_value v);
void json_place(const struct json *doc, size_t offset, unsigned *ret_line, unsigned *ret_column);

/* The value as it was written, in the document. */
const char *json_raw(struct json_value v, size_t *ret_len);
/* The digits of a number as they were written; `size` at least NUMBER_TEXT_SIZE. */
void json_number_text(struct json_value v, char *out, size_t size);
/* What it is, for a message: `the text "abc"`, `12`, `an array`. */
void json_describe(struct json_value v, char *out, size_t size);

#endif
