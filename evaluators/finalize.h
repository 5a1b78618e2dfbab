/* The final result of one that waited for its judge. Pure. */
#ifndef ASSAY_EVALUATORS_FINALIZE_H
#define ASSAY_EVALUATORS_FINALIZE_H

#include "buffer.h"
#include "error.h"

int finalize_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
