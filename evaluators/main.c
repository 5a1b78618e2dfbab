/* assay-score: what outsiders wrote as JSON, and all arithmetic on scores.
 *
 *      assay-score task | result | verdict | blend | compare | score | score-batch | composite |
 *                  window | rate | expect | policy | stored | finalize | differ | workflow
 *
 * One descriptor in (0), one out (1); no file system, no right of any kind. Started by the
 * runner, once for each document. What goes in and out is in messages.h. */
#include "answer.h"
#include "compare.h"
#include "differ.h"
#include "expect.h"
#include "finalize.h"
#include "metadata.h"
#include "policy.h"
#include "stored.h"
#include "task.h"
#include "verdict.h"
#include "workflow.h"

#include "formats/formats.h"
#include "rating.h"
#include "schemes/blend.h"
#include "schemes/cases.h"
#include "schemes/composite.h"
#include "schemes/dimensions.h"
#include "schemes/window.h"

#include "confine.h"
#include "fd.h"
#include "filter_evaluators.h"

#include <signal.h>
#include <unistd.h>

typedef int answer_function(const struct buffer *in, struct buffer *out, struct error *err);

struct mode {
        const char *name;
        size_t most; /* bytes of input; more is `too_large` */
        enum code too_large;
        answer_function *answer;
};

static const struct mode modes[] = {
        {"task", SCORE_MAX_TASK, CODE_TASK_INVALID, task_answer},
        {"result", SCORE_MAX_REQUEST, CODE_SUITE_RESULT_INVALID, result_answer},
        {"verdict", SCORE_MAX_VERDICT, CODE_JUDGE_INVALID, verdict_answer},
        {"metadata", SCORE_MAX_METADATA, CODE_TASK_INVALID, metadata_answer},
        {"blend", SCORE_MAX_VERDICT, CODE_INTERNAL_FRAME, blend_answer},
        {"cases", SCORE_MAX_REQUEST, CODE_INTERNAL_FRAME, cases_answer},
        {"compare", SCORE_MAX_REQUEST, CODE_INTERNAL_FRAME, compare_answer},
        {"score", SCORE_MAX_REQUEST, CODE_SCORE_ANSWER, dimensions_answer},
        {"score-batch", SCORE_MAX_REQUEST, CODE_SCORE_ANSWER, dimensions_batch_answer},
        {"composite", SCORE_MAX_REQUEST, CODE_SCORE_ANSWER, composite_answer},
        {"window", SCORE_MAX_REQUEST, CODE_SCORE_ANSWER, window_answer},
        {"rate", SCORE_MAX_REQUEST, CODE_SCORE_ANSWER, rating_answer},
        {"expect", SCORE_MAX_TASK, CODE_TASK_EXPECT, expect_answer},
        {"stored", SCORE_MAX_REQUEST, CODE_RESULT_INVALID, stored_answer},
        {"finalize", SCORE_MAX_REQUEST, CODE_RESULT_INVALID, finalize_answer},
        {"differ", SCORE_MAX_REQUEST, CODE_RESULT_INVALID, differ_answer},
        {"policy", SCORE_MAX_TASK, CODE_POLICY_INVALID, policy_answer},
        {"workflow", SCORE_MAX_REQUEST, CODE_WORKFLOW_INVALID, workflow_answer},
};

/* The memory holds the largest result file three times over, as it is read, as a tree and as
 * frames, with room for buffers that double. */
static const struct confinement confinement = {
        .name = "assay-score",
        .keep_fds = 2,
        .tree = -EBADF,
        .readable = -EBADF,
        .cpu_seconds = 10,
        .memory = 512 << 20,
        .file_size = 0, /* the answer goes to a pipe */
        .open_files = 2,
        .filter = filter_evaluators,
        .filter_length = sizeof filter_evaluators / sizeof *filter_evaluators,
};

static const struct mode *mode_find(int argc, char **argv)
{
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
                if (argc == 2 && strcmp(argv[1], modes[i].name) == 0)
                        return &modes[i];
        return NULL;
}

/* --- want of memory ------------------------------------------------------------------------- */

/* jansson 2.14 writes beyond a block when one could not grow, and GMP aborts: neither is ever told
 * that there is no memory. What wants so much is the input's fault. The answer is made before. */
static struct buffer too_much = BUFFER_INIT;

static _Noreturn void give_up(void)
{
        (void)!write(1, too_much.data, too_much.len);
        _exit(0);
}

static void *allocate(size_t size)
{
        void *p = malloc(size > 0 ? size : 1);

        if (!p)
                give_up();
        return p;
}

static void *reallocate(void *old, size_t unused, size_t size)
{
        void *p = realloc(old, size > 0 ? size : 1);

        (void)unused;
        if (!p)
                give_up();
        return p;
}

static void release(void *p, size_t unused)
{
        (void)unused;
        free(p);
}

static void prepare(const struct mode *mode)
{
        struct error err;

        error_set(&err, mode->too_large, "the %s document needs more memory than there is",
                mode->name);
        answer_error(&too_much, &err);
        json_set_alloc_funcs(allocate, free);
        mp_set_memory_functions(allocate, reallocate, release);
        json_seed();
}

static int answer(int argc, char **argv, struct buffer *out, struct error *err)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        const struct mode *mode = mode_find(argc, argv);

        if (confine_self(&confinement, err) < 0)
                return -1;
        if (takeover_hook)
                takeover_hook();
        if (!mode)
                return error_set(err, CODE_USAGE, "assay-score wants to be told what to do");
        prepare(mode);
        if (fd_read_all(0, &in, mode->most, mode->too_large, err) < 0)
                return error_add(err, "the %s document", mode->name);
        if (mode->answer(&in, out, err) < 0)
                return -1;
        if (!buffer_ok(out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct error err = {0};

        signal(SIGPIPE, SIG_IGN);
        if (answer(argc, argv, &out, &err) == 0)
                answer_empty(&out, SCORE_END);
        else {
                if (!buffer_ok(&out))
                        buffer_free(&out);
                answer_error(&out, &err);
        }
        return buffer_ok(&out) && fd_write_all(1, out.data, out.len) == 0 ? 0 : 1;
}
