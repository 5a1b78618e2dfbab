/* The scheme "blend": the suite's score and the judge's, weighted. Exact, rounded once. Pure. */
#ifndef ASSAY_EVALUATORS_BLEND_H
#define ASSAY_EVALUATORS_BLEND_H

#include "evaluators/messages.h"

#include "buffer.h"
#include "error.h"

#include <gmp.h>
#include <stdbool.h>

enum suite_pass { SUITE_FAILED, SUITE_PASSED, SUITE_DID_NOT_SAY };

/* What is blended. All values were checked when they were put here. */
struct blend {
        unsigned mode; /* enum task_mode */
        unsigned test_weight, llm_weight;
        bool pass_from_suite;
        unsigned suite_pass;      /* enum suite_pass */
        mpq_t pass, test, llm;    /* llm: the number given, or the sum of weight × score … */
        unsigned criteria_weight; /* … over the criteria, with this sum of weights; 0: a number */
        bool test_given, llm_given;
        bool waits;         /* for a verdict: there is no score */
        struct buffer rows; /* BLEND_ROW */
};

void blend_init(struct blend *b);
void blend_free(struct blend *b);

/* The final score, exact; b->llm becomes the mean over the criteria. */
void blend_final(struct blend *b, mpq_t ret_final);
/* Does the final score pass, as it is shown: rounded to 2 decimals? */
bool blend_passes(const struct blend *b, const mpq_t final);

/* A blend request to its answer; both are frames. */
int blend_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
