/* What every format of result files becomes: the same inner form, written as result frames. */
#ifndef ASSAY_EVALUATORS_OUTCOME_H
#define ASSAY_EVALUATORS_OUTCOME_H

#include "evaluators/messages.h"
#include "evaluators/number.h"

#include "buffer.h"
#include "error.h"

struct outcome {
        mpq_t score;     /* 0 to 100 */
        bool scored;     /* there is one; not in stdout-json, nor when it is not gradable */
        bool ungradable; /* the suite says that this submission cannot be graded */
        unsigned pass;   /* enum suite_pass; SUITE_DID_NOT_SAY at first */
        char raw[SCORE_MAX_NAME]; /* the score as it was before it was clamped, or "" */
        /* Frames that come behind the score, in the order of messages.h. */
        struct buffer breakdown, notes, tests, warnings;
        uint64_t test_count;
};

void outcome_init(struct outcome *o);
void outcome_free(struct outcome *o);

/* What is longer than a frame takes is cut at a character. */
void outcome_breakdown(struct outcome *o, const char *name, const char *score);
/* A dimension of stdout-json, 0 to 1000. */
void outcome_dimension(struct outcome *o, const char *name, const char *score);
void outcome_notes(struct outcome *o, const char *text);
/* -1: there are too many. `duration_ms` is a decimal, or "". */
int outcome_test(struct outcome *o, const char *name, bool passed, const char *duration_ms,
        const char *error, struct error *err);
void outcome_warn(struct outcome *o, const char *field, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* The score is 100 × part / whole; what is beyond 0 to 100 is clamped, with a warning. */
void outcome_score(struct outcome *o, const mpq_t part, const mpq_t whole);
/* The same of counted tests; none is an error. */
int outcome_count(struct outcome *o, uint64_t passed, uint64_t counted, struct error *err);

void outcome_put(const struct outcome *o, struct buffer *out);

#endif
