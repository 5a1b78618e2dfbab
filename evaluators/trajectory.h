/* Trajectories: what an agent did, a JSON object a line. Pure. */
#ifndef ASSAY_EVALUATORS_TRAJECTORY_H
#define ASSAY_EVALUATORS_TRAJECTORY_H

#include "number.h"

#include "buffer.h"
#include "error.h"

struct trajectory {
        bool given, valid;
        char why[256]; /* it is not valid */
        mpz_t tokens;  /* of all calls of models, in and out */
        uint64_t llm_calls, tool_calls;
};

void trajectory_init(struct trajectory *t);
void trajectory_free(struct trajectory *t);
/* Read it. Each line has its time within `slack` of the two moments, in seconds since 1970, which
 * are decimals, or "" where they are not known. */
void trajectory_read(struct trajectory *t, const struct buffer *lines, const char *started,
        const char *submitted);

#endif
