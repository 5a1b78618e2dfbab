/* A result that was written by `assay run` (assay.result/1), read again: as much of it as the final
 * score, or a replay, is made from. */
#ifndef ASSAY_EVALUATORS_STORED_H
#define ASSAY_EVALUATORS_STORED_H

#include "fields.h"
#include "schemes/blend.h"

struct stored_criterion {
        const char *name, *reasoning;
        uint64_t weight;
        unsigned source;              /* enum criterion_source */
        char score[NUMBER_TEXT_SIZE]; /* or "" */
};

struct stored_dimension {
        const char *name;
        const char *criterion; /* of the judge; or "" */
        const char *exact;     /* its score as a fraction; "": it waits for the judge */
        char weight[NUMBER_TEXT_SIZE];
};

enum { STORED_MOST_DIMENSIONS = 16 };

struct stored_dimensions {
        struct stored_dimension rows[STORED_MOST_DIMENSIONS];
        size_t count;
};

struct stored {
        const char *id;
        uint64_t revision;
        unsigned rules;         /* checked only: the version that it was scored by */
        unsigned schema;        /* the same */
        unsigned status, class; /* enum stored_status; enum error_class, CLASS_NONE */
        unsigned scheme, mode;  /* enum task_scheme, enum task_mode */
        unsigned suite_pass;    /* enum suite_pass */
        bool pass_given;
        char pass[NUMBER_TEXT_SIZE]; /* "": the suite says it */
        uint64_t test_weight, llm_weight;
        struct list criteria;                        /* of struct stored_criterion */
        const char *exact_test;                      /* a fraction, or "" */
        struct stored_dimensions dimensions, exacts; /* the second: only names and scores */
        const char *seed, *summary;                  /* or "" */
        char time_used[NUMBER_TEXT_SIZE], llm_score[NUMBER_TEXT_SIZE]; /* or "" */
};

enum stored_status {
        STORED_GRADED,
        STORED_PENDING,
        STORED_REJECTED,
        STORED_UNGRADABLE,
        STORED_ERROR,
};

/* Texts point into the document. -1: result.invalid. To be freed in any case. */
int stored_read(const struct json *doc, struct stored *ret, struct error *err);
void stored_free(struct stored *s);

/* What a replay needs of one, as frames. */
int stored_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
