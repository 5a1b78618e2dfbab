/* What an evaluation leaves behind when its caller wants to look at it (`assay run --keep`). */
#ifndef ASSAY_KEEP_H
#define ASSAY_KEEP_H

#include "evaluation.h"

/* Where kept ones go; with the caller's rights, before root is given up. */
int keep_open(struct evaluation *e, struct error *err);
/* Put what the evaluation has into its directory, and that out of reach of those who tidy up:
 *
 *   STATE/kept/ID/submission/   as it was unpacked
 *   STATE/kept/ID/built/        what its build left, if there was one
 *   STATE/kept/ID/results/      the suite's files, as they are
 *   STATE/kept/ID/…             result.json, judge-request.json, suite.stdout, suite.stderr,
 *                               build.stdout, build.stderr: those there are
 *
 * Where that is goes to standard error. */
int keep_evaluation(struct evaluation *e, struct error *err);

#endif
