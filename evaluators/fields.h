/* Reading an object by a table, a row for each key that may be there:
 *
 *      static const struct field rows[] = {
 *              FIELD("name", field_text, REQUIRED, struct thing, name, .most = 100),
 *              FIELD("size", field_bytes, OPTIONAL, struct thing, size, .least = 1, .most = …),
 *      };
 *      static const struct fields thing_fields = FIELDS(rows, UNKNOWN_IS_PROBLEM);
 *
 * A value that is absent or wrong leaves the structure as it was, so defaults are set before. A
 * wrong one leaves a problem that says what is wanted; reading goes on, to find all of them. */
#ifndef ASSAY_EVALUATORS_FIELDS_H
#define ASSAY_EVALUATORS_FIELDS_H

#include "decimal.h"
#include "reading.h"

struct field;

/* Not given, or given wrongly: no check that follows may build on it. */
enum { NOT_GIVEN = 0xffff };

enum field_need { OPTIONAL, REQUIRED };

struct field_type {
        /* Put the value into `to`. False: it is not what want() says, and nothing was said yet. */
        bool (*read)(struct reading *r, const struct field *f, const struct spot *s, void *to);
        void (*want)(const struct field *f, char *out, size_t size);
};

/* A word with a meaning. The list ends with a row without name. */
struct choice {
        const char *name;
        unsigned value;
};

/* A row; see the types for what fills which member. */
struct field {
        const char *key;
        const struct field_type *type;
        enum field_need required;
        size_t offset; /* into the structure that is filled */
        uint64_t least, most;
        union {
                const char *(*check)(const char *text); /* texts, each: NULL, or "must …" */
                const struct choice *choices;
                const struct fields *fields; /* of an object, or of each object in a list */
                /* Of a type of its own whose values have several forms: a row for each, the last
                 * without type. One with the key "*" is each member of an object. */
                const struct field *forms;
        };
        size_t item_size; /* of a list's items */
        unsigned argument;
};

/* clang-format off */
/* A row that fills a member, and one that fills the whole structure (or nothing). */
#define FIELD(name, kind, need, structure, member, ...)                                            \
        {.key = name, .type = &kind, .required = need, .offset = offsetof(structure, member),      \
         __VA_ARGS__}
#define WHOLE_FIELD(name, kind, need, ...)                                                         \
        {.key = name, .type = &kind, .required = need, __VA_ARGS__}
/* clang-format on */

enum unknown_keys { UNKNOWN_IS_PROBLEM, UNKNOWN_WARNS, UNKNOWN_IGNORED };

struct fields {
        const struct field *rows;
        size_t count;
        enum unknown_keys unknown;
        const void *defaults; /* what a list's item is before it is read; NULL: zeros */
};
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
/* clang-format off */
#define FIELDS(rows, unknown) {rows, COUNT(rows), unknown, NULL}
/* clang-format on */

/* Types, with what they fill. Texts point into the document. */
extern const struct field_type field_text;        /* const char *; least … most bytes */
extern const struct field_type field_prose;       /* const char *; least … most characters */
extern const struct field_type field_choice;      /* unsigned, of .choices */
extern const struct field_type field_boolean;     /* bool */
extern const struct field_type field_whole;       /* uint64_t, least … most */
extern const struct field_type field_decimal;     /* char[NUMBER_TEXT_SIZE], least … most */
extern const struct field_type field_number;      /* the same, any number */
extern const struct field_type field_positive;    /* the same, not below 0 */
extern const struct field_type field_number_text; /* the same, perhaps written as a text */
extern const struct field_type field_duration;    /* struct duration */
extern const struct field_type field_anything;    /* nothing */
extern const struct field_type field_any_text;    /* const char *, of any length; null is "" */
extern const struct field_type field_bytes;       /* uint64_t: bytes, or "10MiB"; least … most */
extern const struct field_type field_object;      /* a structure, by .fields at its offset */
extern const struct field_type field_list;        /* struct list of structures, by .fields */
extern const struct field_type field_texts;       /* struct list of const char * */

/* "300s", or a number of seconds. */
struct duration {
        char amount[NUMBER_TEXT_SIZE]; /* a number, or "" */
        unsigned ms;                   /* what one of it is, in milliseconds */
};

/* Items of one size in one block. */
struct list {
        void *items;
        size_t count;
};
void list_free(struct list *l);
/* Make room for `count` items of `size` bytes, all zero. False: out of memory, said. */
bool list_make(struct list *l, size_t count, size_t size, struct reading *r, const struct spot *s);

/* Read the value at `s` as the row says, into `to` (its offset is not added). */
void field_read(struct reading *r, const struct field *f, const struct spot *s, void *to);
/* The row of a key, or NULL. */
const struct field *field_find(const struct fields *fields, const char *key);
/* The child of `s` that the walk is at. */
struct spot spot_below(const struct spot *s, const struct json_walk *w, struct json_value child);

/* The name nearest to `word` among `count` names that name_at() gives, or NULL when none is near
 * enough to be meant. */
const char *suggest(const char *word, const char *(*name_at)(const void *names, size_t i),
        const void *names, size_t count);

#endif
