/* The scheme "dimensions": each 0 to 1000, weighted, summed up, and a win, a draw or a loss. Exact;
 * the total is floored once. Pure. */
#ifndef ASSAY_EVALUATORS_DIMENSIONS_H
#define ASSAY_EVALUATORS_DIMENSIONS_H

#include "evaluators/trajectory.h"

#include <gmp.h>

/* What is scored. */
struct dimensions_input {
        const struct buffer *spec, *answer, *truth; /* documents; the last may be NULL */
        const char *time_used;                      /* seconds, or "" */
        const struct trajectory *trajectory;
        const struct buffer *sources; /* of an evaluation: frames (GIVEN_…), or NULL */
        bool explain;
};

/* Answer frames. */
int dimensions_score(const struct dimensions_input *input, struct buffer *out, struct error *err);

/* What a sum is as a total: capped and floored; and in a match: 0 a win, 1 a draw, 2 a loss. */
unsigned long dimensions_total(const mpq_t sum, unsigned *ret_outcome);

/* A request of one spec, one answer and its truth, to its answer; both are frames. */
int dimensions_answer(const struct buffer *in, struct buffer *out, struct error *err);
/* The same of JSON lines: an answer for each line. */
int dimensions_batch_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
