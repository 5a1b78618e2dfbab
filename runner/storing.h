/* The rows of an evaluation in a store of results (docs/store.md). */
#ifndef ASSAY_STORING_H
#define ASSAY_STORING_H

#include "evaluation.h"

/* Are --store and --agent what they may be? -1: usage. */
int storing_check(const struct evaluation_options *o, struct error *err);
/* Can that store be opened? Else no evaluation would be stored there. Needs the caller's rights. */
int storing_try(const struct evaluation_options *o, struct error *err);
/* Start the store that the options ask for, if they do. Needs the caller's rights. */
int storing_open(struct evaluation *e, struct error *err);
/* Once the evaluation is over: all of its rows in one transaction; `e->attempt` is what the store
 * says. What was interrupted is not stored. */
int storing_append(struct evaluation *e, struct error *err);

#endif
