/* expect.json of a solution: what grading it must give, compared with what it gave. Pure. */
#ifndef ASSAY_EVALUATORS_EXPECT_H
#define ASSAY_EVALUATORS_EXPECT_H

#include "fields.h"

#include "buffer.h"
#include "error.h"

/* A request REQUEST_EXPECT (messages.h). -1: expect.json is not valid; the first problem is the
 * error. */
int expect_answer(const struct buffer *in, struct buffer *out, struct error *err);

/* The document, with the tables of its keys. */
extern const struct field expect_document;

#endif
