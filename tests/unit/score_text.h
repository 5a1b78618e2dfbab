/* Answers of assay-score as text, a line a frame, so that tests can say what they expect:
 *
 *      SCORING 0 2 60 40 0 '70' 0
 *      PROBLEM 3 5 'scoring.mode' 'must be …' */
#ifndef ASSAY_TESTS_SCORE_TEXT_H
#define ASSAY_TESTS_SCORE_TEXT_H

#include "buffer.h"
#include "error.h"

typedef int score_answer(const struct buffer *in, struct buffer *out, struct error *err);

/* Run `answer` on a text and return its frames as text, then "error CODE: sentence" when it
 * failed. The caller frees. */
char *score_text(score_answer *answer, const char *input);
char *score_text_of(score_answer *answer, const struct buffer *input);

/* The same of a result request (messages.h): a format, "KEY MIN MAX" (fewer, or NULL), the exit
 * status, and its files, which may be NULL. */
char *score_result_text(const char *format, const char *options, unsigned status, const char *file,
        const char *text);

#endif
