/* Whether programs printed what was expected of them: many cases in one request (messages.h). What
 * the five comparisons mean is in docs/scoring.md. Pure.
 *
 *   compare.c          the request, and its answer
 *   compare_text.c     bytes, tokens and parts of a text, and where they differ
 *   compare_number.c   numbers that differ a little
 *   pattern.c, pattern_match.c   regular expressions */
#ifndef ASSAY_EVALUATORS_COMPARE_H
#define ASSAY_EVALUATORS_COMPARE_H

#include "compare_number.h"
#include "messages.h"
#include "pattern.h"

#include "buffer.h"
#include "error.h"

struct compared {
        unsigned how; /* enum comparison */
        struct buffer expected, actual;
        struct buffer wanted; /* the regular expression, or the part */
        struct tolerance tolerance;
        struct pattern pattern;
};

int compare_answer(const struct buffer *in, struct buffer *out, struct error *err);

/* Each puts into `reason` what differs first, or nothing when the output matches. */
void compare_exact(struct compared *c, struct buffer *reason);
void compare_tokens(struct compared *c, struct buffer *reason);
void compare_numeric(struct compared *c, struct buffer *reason);
void compare_contains(struct compared *c, struct buffer *reason);
/* This one fails when the task's expression is none. */
int compare_regex(struct compared *c, struct buffer *reason, struct error *err);

#endif
