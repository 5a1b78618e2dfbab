/* One reading of a document: where we are in it, and what was found wrong. */
#ifndef ASSAY_EVALUATORS_READING_H
#define ASSAY_EVALUATORS_READING_H

#include "json.h"
#include "messages.h"

#include "buffer.h"
#include "error.h"

enum { FINDINGS_MAX = 100 }; /* more help nobody; one file must not make a million */

struct finding {
        size_t offset;
        char key[SCORE_MAX_NAME]; /* dotted path, escaped for terminals */
        char text[512];           /* a sentence, escaped too */
};

/* Sorted by offset; those above FINDINGS_MAX are counted only. */
struct findings {
        size_t count;
        struct finding list[FINDINGS_MAX];
};

struct reading {
        const struct json *doc;
        const char *prefix; /* of paths that are named below: "", or such as "scoring." */
        struct findings problems, warnings;
};

/* A value on its way down from the root, with the way. */
struct spot {
        const struct spot *up; /* NULL at the root */
        const char *key;       /* NULL in an array, and at the root */
        size_t index;
        struct json_value value;
};

/* Read the document; what is no JSON is an error with `code`. */
int reading_open(struct json *ret_doc, const struct buffer *in, enum code code, struct error *err);
/* Only the counts are set: the lists are large and filled in order. */
void reading_begin(struct reading *r, const struct json *doc);

void reading_problem(struct reading *r, const struct spot *s, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void reading_warning(struct reading *r, const struct spot *s, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* About a key that may be absent: the place is the innermost value on the way to it. */
void reading_problem_at(struct reading *r, const char *path, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void reading_warning_at(struct reading *r, const char *path, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Is there a value at that path? */
bool reading_has(const struct reading *r, const char *path);

/* Frames: TASK_PROBLEM for each problem, RESULT_WARNING for each warning. */
void reading_put_problems(const struct reading *r, struct buffer *out);
void reading_put_warnings(const struct reading *r, struct buffer *out);
/* The first problem as an error, if there is any; -1 then, else 0. */
int reading_error(const struct reading *r, enum code code, struct error *err);

#endif
