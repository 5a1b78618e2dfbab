/* Evaluations beside this process, several at once: each in a process of its own, since each gives
 * up its rights for ever. For verbs that grade more than one submission: this process keeps the
 * caller's rights, and reads nothing but the frames of the others. */
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
        char *sha256;             /* of the submission, or "" */
        char *task;               /* its name */
        struct warning *warnings; /* of the intake, where no more than that was asked for */
        unsigned warning_count;
        struct test_result *tests; /* names and whether they passed */
        unsigned test_count;
        char **differs; /* from what was expected: sentences, NULL at the end, or NULL */
        unsigned differ_count;
        uint64_t us;
};

enum { ASIDE_MAX = 256 }; /* at once */

struct aside_order {
        const char *task, *submission;
        const struct evaluation_options *options;
        int output; /* borrowed: where the result as JSON goes; -EBADF: nowhere */
        int expect; /* borrowed: expect.json to compare with; -EBADF: nothing is expected */
        int store;  /* borrowed: where its result is appended, instead of a store that
                       the options name; -EBADF */
        const char *result_id; /* with that */
        int archive;           /* borrowed: the descriptor that `submission` names, of a process
                                  that has others which are nobody's business; -EBADF */
        const struct evaluation_kept *kept; /* by who began it, who also watches over the task:
                                               aside_answer(). NULL: nothing */
        bool pull;        /* fetch the task's images first, where this machine lacks them */
        bool keep_folder; /* the submission's root is its root: its only folder stays */
};

struct aside {
        pid_t pid;
        int socket; /* readable when there is something to take */
        struct buffer said;
        struct aside_result result;
        bool asks; /* whether the task is still what it was */
        bool answered;
        bool ended;
};

#define ASIDE_ORDER_INIT                                                                           \
        {                                                                                          \
                .output = -EBADF, .expect = -EBADF, .store = -EBADF, .archive = -EBADF             \
        }

/* Begin to evaluate. */
int aside_begin(struct aside *a, const struct aside_order *order, struct error *err);
/* Take what it says, once its socket is readable; at its end `ended` is set and the process is
 * gone. */
void aside_take(struct aside *a);
/* Once it asks; so it can do once. */
void aside_answer(struct aside *a, const struct watched *found);
/* End it now, whatever it does; it has ended, then. */
void aside_kill(struct aside *a);
void aside_free(struct aside *a);
void aside_result_free(struct aside_result *r);

/* Several, at most `jobs` at a time, in order. `begin` calls aside_begin() for number i and returns
 * what it does, or 1 to leave that one out; `ended` is told what came of it, and may take that
 * over, leaving zeros. -1 of either ends all that are at work, as signals do: -1, interrupted. */
struct aside_many {
        unsigned count, jobs;
        int (*begin)(void *to, unsigned i, struct aside *a, struct error *err);
        int (*ended)(void *to, unsigned i, struct aside_result *r, struct error *err);
        void *to;
};
int aside_run(const struct aside_many *m, struct error *err);

/* How many processors there are for us, at most ASIDE_MAX. */
unsigned aside_processors(void);
/* A text of --jobs; NULL: as many as there are processors. -1: usage. */
int aside_parse_jobs(const char *text, unsigned *ret, struct error *err);

#endif
