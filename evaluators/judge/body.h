/* The body of a request to a chat API. Pure. */
#ifndef ASSAY_JUDGE_BODY_H
#define ASSAY_JUDGE_BODY_H

#include "evaluators/judge/prompt.h"

struct body {
        const char *model;
        const char *temperature; /* a number; NULL: the server's choice */
        bool seeded;
        uint64_t seed;
        bool schema; /* bind the answer to a schema of the rubric */
};

void body_write(struct buffer *out, const struct body *b, const struct prompt *p,
        const struct judge_request *q);

#endif
