/* The verdict of a judge, as frames. Pure. */
#ifndef ASSAY_EVALUATORS_VERDICT_H
#define ASSAY_EVALUATORS_VERDICT_H

#include "buffer.h"
#include "error.h"

int verdict_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
