/* metadata.yaml of a Codabench scoring program: `key: value` on a line each, and no more of YAML
 * than that. */
#ifndef ASSAY_EVALUATORS_METADATA_H
#define ASSAY_EVALUATORS_METADATA_H

#include "buffer.h"
#include "error.h"

enum { SCORE_MAX_METADATA = 64 << 10 };

/* The words of its `command`, with the platform's variables ($input…) replaced, as METADATA_WORD.
 */
int metadata_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
