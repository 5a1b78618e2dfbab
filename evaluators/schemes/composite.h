/* The scheme "composite": success, cost, latency and reliability of a workflow, from 0 to 1; and
 * what comes of many: means over a window, and capped weights. Exact. Pure. */
#ifndef ASSAY_EVALUATORS_COMPOSITE_H
#define ASSAY_EVALUATORS_COMPOSITE_H

#include "evaluators/fields.h"

#include <gmp.h>

/* What was measured. All values were checked when they were put here. */
struct execution {
        mpq_t quality, completion;  /* 0 to 1 */
        mpq_t cost, max_budget;     /* of one currency */
        mpq_t seconds, max_latency; /* */
        mpz_t unplanned, timeouts, hard;
        bool budget_aborted;
};
void execution_init(struct execution *e);
void execution_free(struct execution *e);

struct composite {
        mpq_t success, cost, latency, reliability, score;
        bool gate; /* success is above 0.7: cost and latency count */
};
void composite_init(struct composite *c);
void composite_free(struct composite *c);
void composite_score(const struct execution *e, struct composite *ret);

/* What the spec, or the `scoring` of a task, says of it. */
struct composite_spec {
        unsigned scheme; /* checked only */
        char max_budget[NUMBER_TEXT_SIZE];
        struct duration max_latency;
        uint64_t min_steps, max_attempts; /* 0: not given */
        char pass[NUMBER_TEXT_SIZE];
};
/* Of the value at `s`; its `quality` is left to who runs workflows. */
extern const struct fields composite_spec_fields;
void composite_spec_read(struct reading *r, const struct spot *s, struct composite_spec *ret);
/* Its seconds. */
void composite_max_latency(const struct composite_spec *spec, mpq_t ret);

/* A request to its answer; both are frames. */
int composite_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
