/* The verdict, as evaluators/verdict.c takes it, with what became of the runs. Pure. */
#ifndef ASSAY_JUDGE_VERDICT_H
#define ASSAY_JUDGE_VERDICT_H

#include "evaluators/judge/chat.h"

void judge_verdict_write(
        struct buffer *out, const struct chat *c, const struct reply *runs, unsigned run_count);

#endif
