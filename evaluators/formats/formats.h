/* Formats of result files, one file each. A format turns the bytes that a suite left into result
 * frames. Pure; what it cannot accept is suite.result_invalid, never a guess. */
#ifndef ASSAY_EVALUATORS_FORMATS_H
#define ASSAY_EVALUATORS_FORMATS_H

#include "buffer.h"
#include "error.h"

int score_json_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
