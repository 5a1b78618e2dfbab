/* The scoring primitives: each compares a part of an answer with a part of the truth, and gives 0
 * to 1000, exactly. Pure. */
#ifndef ASSAY_EVALUATORS_PRIMITIVES_H
#define ASSAY_EVALUATORS_PRIMITIVES_H

#include "number.h"
#include "value.h"

#include "buffer.h"
#include "error.h"

/* What primitives may need, as the spec says it. Texts point into its document. */
struct parameters {
        const char *field, *truth_field; /* NULL: not given */
        char tolerance[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], optimal[NUMBER_TEXT_SIZE],
                max[NUMBER_TEXT_SIZE]; /* numbers, or "" */
        unsigned limit_ms;             /* what one of `limit` is, in milliseconds */
        bool partial, intersection;
};

/* What is compared. */
struct primitive_case {
        const struct parameters *parameters;
        bool has_truth;
        struct json_value answer, truth; /* whole documents */
        const char *time_used;           /* seconds, or "" */
        mpq_t score;                     /* what comes out */
        char steps[256];                 /* how, for who wants to check it */
        char warning[256];               /* why it is 0, or "" */
};

enum {
        NEEDS_FIELD = 1,
        NEEDS_TRUTH = 2,
        TAKES_TOLERANCE = 4,
        TAKES_PARTIAL = 8,
        TAKES_METHOD = 16,
        NEEDS_LIMIT = 32,
        NEEDS_RANGE = 64, /* optimal and max */
};

struct primitive {
        const char *name;
        unsigned takes;
        /* -1: the spec or the truth is wrong; a wrong answer scores 0 with a warning. */
        int (*score)(struct primitive_case *c, struct error *err);
};

/* NULL: there is none of that name. */
const struct primitive *primitive_find(const char *name);
/* Their names, for messages: the i-th, or NULL. */
const char *primitive_name(size_t i);

/* 1000 × max(0, 1 − used/limit) */
void primitive_decay(mpq_t ret, const mpq_t used, const mpq_t limit);

#endif
