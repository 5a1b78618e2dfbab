/* Which of several runs to believe. Pure. */
#ifndef ASSAY_JUDGE_MEDIAN_H
#define ASSAY_JUDGE_MEDIAN_H

#include "evaluators/judge/reply.h"

enum { MEDIAN_MOST = 9 };

/* The run, of `n` (odd, at most MEDIAN_MOST), whose score of a criterion is the median; of equal
 * ones an earlier run. */
unsigned median_score(const struct reply *runs, unsigned n, size_t criterion);
/* The run whose weighted sum of scores is the median. */
unsigned median_total(const struct reply *runs, unsigned n, const struct list *rubric);

#endif
