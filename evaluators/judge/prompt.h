/* What the model is told: the rules, then the task and, fenced, the submission. Pure.
 *
 * What an untrusted author wrote stands between two lines of ours, and each of its parts begins
 * with one. Our lines begin with a word that nobody could know when the submission was written,
 * and that occurs nowhere else: so no text can close the fence, or pass for another file. */
#ifndef ASSAY_JUDGE_PROMPT_H
#define ASSAY_JUDGE_PROMPT_H

#include "evaluators/judge/request.h"

struct prompt {
        struct buffer rules, question;
        uint64_t shown, cut; /* bytes of the submission that are in it, and that had no room */
};
#define PROMPT_INIT                                                                                \
        {                                                                                          \
                .rules = BUFFER_INIT, .question = BUFFER_INIT                                      \
        }

/* Fill `ret` (what it held is dropped) with at most `most` bytes of the submission: SUBMISSION.md
 * first, then the build check, the tests, the files. False: `word` occurs in what is quoted; take
 * another. */
bool prompt_make(struct prompt *ret, const struct judge_request *q, const char *word, size_t most);
/* The same with a word of 32 random hexadecimal digits. */
int prompt_draw(struct prompt *ret, const struct judge_request *q, size_t most, struct error *err);
void prompt_free(struct prompt *p);
#define _cleanup_prompt_ __attribute__((cleanup(prompt_free)))

#endif
