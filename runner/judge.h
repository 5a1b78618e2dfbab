/* The judge: a command outside of any cell, one JSON request on its standard input, one verdict on
 * its standard output (docs/judge.md). */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "evaluation.h"

/* What of the caller's environment concerns judges, read before root is given up: it goes to the
 * supervisor, and nobody else keeps the key. */
int judge_open(struct channel *c, const struct policy *p, struct error *err);

/* Is there one to ask? */
bool judge_is_there(const struct evaluation *e);
/* Ask it, again after growing pauses when it fails or answers nonsense. `read` reads a verdict from
 * a file: 0, or -1 with judge.invalid_verdict when it is none. */
int judge_ask(struct evaluation *e,
        int (*read)(struct evaluation *e, int verdict, struct error *err), struct error *err);

/* judge_request.c: the request, assay.judge/1. */
int judge_request(const struct evaluation *e, struct buffer *out, struct error *err);

#endif
