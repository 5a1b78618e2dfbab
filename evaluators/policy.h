/* operator.json: what an operator lets tasks do on a machine (docs/policy.md). */
#ifndef ASSAY_EVALUATORS_POLICY_H
#define ASSAY_EVALUATORS_POLICY_H

#include "fields.h"

#include "buffer.h"
#include "error.h"

/* Read it, and answer as messages.h has it. */
int policy_answer(const struct buffer *in, struct buffer *out, struct error *err);

/* The document, with the tables of its keys. */
extern const struct field policy_document;

#endif
