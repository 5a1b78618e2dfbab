/* What comes of many composite scores: means over the last hundred, and capped weights. Exact.
 * Pure. */
#ifndef ASSAY_EVALUATORS_WINDOW_H
#define ASSAY_EVALUATORS_WINDOW_H

#include "buffer.h"
#include "error.h"

#include <gmp.h>

/* Weights in proportion to means that are not negative, none above 3/20; what is cut off goes to
 * the others. `ret_unassigned`: what nobody could take. */
/* -1: no memory. */
int window_weights(const mpq_t *means, size_t count, mpq_t *ret_weights, mpq_t ret_unassigned);

/* A request to its answer; both are frames. */
int window_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
