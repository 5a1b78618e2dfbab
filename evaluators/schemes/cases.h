/* The score of cases: what each earned, put together by groups. Exact. Pure. */
#ifndef ASSAY_EVALUATORS_CASES_H
#define ASSAY_EVALUATORS_CASES_H

#include "buffer.h"
#include "error.h"

/* A request of groups and cases to a RESULT_SCORE and a RESULT_BREAKDOWN for each group with a
 * name; both are frames. */
int cases_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
