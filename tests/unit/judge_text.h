/* What the tests of assay-judge share. */
#ifndef ASSAY_TESTS_JUDGE_TEXT_H
#define ASSAY_TESTS_JUDGE_TEXT_H

#include "evaluators/judge/request.h"

/* A request whose rubric has A (weight 3) and "B c" (weight 1), with `more` behind it: members that
 * begin with a comma, or "". */
void judge_text_request(struct judge_request *ret, struct buffer *ret_bytes, const char *more);

#endif
