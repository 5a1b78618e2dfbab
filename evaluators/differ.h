/* What differs between two results of one submission: of all that should be the same whenever and
 * wherever it is graded. Pure. */
#ifndef ASSAY_EVALUATORS_DIFFER_H
#define ASSAY_EVALUATORS_DIFFER_H

#include "buffer.h"
#include "error.h"

int differ_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
