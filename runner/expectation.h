/* expect.json of a solution, through assay-score; see evaluators/expect.h. */
#ifndef ASSAY_EXPECTATION_H
#define ASSAY_EXPECTATION_H

#include "evaluation.h"

struct expectation {
        char *llm_score; /* what the judge is to say, or "" */
        char **differs;  /* sentences, NULL at the end; NULL: all is as expected */
        unsigned differ_count;
};

/* Ask what `file` expects: llm_score before the evaluation (`e` NULL), else also what is not as
 * expected in what came of `e`. -1 with task.expectation: the file is not valid. */
int expectation_ask(struct expectation *x, struct channel *c, int file, const struct evaluation *e,
        struct error *err);
void expectation_free(struct expectation *x);

#endif
