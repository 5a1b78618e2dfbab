/* Evaluations beside this process, several at once: each in a process of its own, since each gives
 * up its rights for ever. For verbs that grade more than one submission. */
#ifndef ASSAY_ASIDE_H
#define ASSAY_ASIDE_H

#include "evaluation.h"

/* What came of one, in short; the whole result goes to a file. */
struct aside_result {
        struct error failed; /* it was not evaluated at all; code NONE: it was */
        enum status status;
        unsigned exit;
        enum code code; /* why it ended, or what shaped it; CODE_NONE */
        char *reason;
        char *outcome;       /* "pass", "fail", …, or "" */
        char *score, *exact; /* decimal, fraction; or "" */
        char *test_score, *llm_score;
        char *sha256;              /* of the submission, or "" */
        struct test_result *tests; /* names and whether they passed */
        unsigned test_count;
        uint64_t us;
};

enum { ASIDE_MAX = 256 }; /* at once */

struct aside {
        pid_t pid;
        int socket; /* readable when there is something to take */
        struct buffer said;
        struct aside_result result;
        bool ended;
};

/* Begin to evaluate. The result as JSON goes to `output` (borrowed; -EBADF: nowhere). */
int aside_begin(struct aside *a, const char *task, const char *submission,
        const struct evaluation_options *options, int output, struct error *err);
/* Take what it says; at its end `ended` is set and the process is gone. */
void aside_take(struct aside *a);
/* Wait for one of them, at most `count`; those that ended have it set. Signals end them all:
 * -1, interrupted. */
int aside_wait(struct aside *const *all, unsigned count, struct error *err);
void aside_free(struct aside *a);

#endif
