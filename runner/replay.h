/* Grading again what was graded before (`assay run --replay`): with what went in then, and without
 * asking a judge, whose words are part of that. What came out is compared. */
#ifndef ASSAY_REPLAY_H
#define ASSAY_REPLAY_H

#include "evaluation.h"

struct difference {
        char *path, *was, *is;
};

struct replay_differences {
        struct difference *list;
        unsigned listed, count; /* of them, and all */
};

/* Open the result that the options name. Needs the caller's rights. */
int replay_open(struct evaluation *e, struct error *err);
/* Take its inputs as options. */
int replay_read(struct evaluation *e, struct error *err);
/* The judge's words of then, if there were any, as the verdict of now. */
void replay_verdict(struct evaluation *e);
/* What differs now that the evaluation is over. To be freed in any case. */
int replay_compare(struct evaluation *e, struct replay_differences *ret, struct error *err);
void replay_differences_free(struct replay_differences *d);
/* On standard output: assay.replay/1, or a line for each. */
int replay_print(const struct evaluation *e, const struct replay_differences *d, bool json,
        struct error *err);
void replay_free(struct replay *r);

#endif
