/* The build: a command of the task in a cell of the submission. The cell's copy of the tree
 * outlives it; the unpacker judges it by the rules of archives while it takes it over, and from
 * then on it is the submission. */
#include "evaluation.h"

#include "fd.h"
#include "helper.h"
#include "images/messages.h"

#include <signal.h>

static int run(struct evaluation *e, struct running *r, const char *const *command,
        const struct limits *limits, bool keep_tree, struct error *err)
{
        const uint64_t keep = limits->value[LIMIT_OUTPUT];
        struct build_result *b = &e->build;
        const struct running_pipes pipes = {
                .logs = {&b->output[0], &b->output[1]},
                .most = keep * LOG_ENDLESS,
        };
        struct cell_order order;

        if (log_init(&b->output[0], keep / 4, keep / 4, err) < 0 ||
                log_init(&b->output[1], keep / 4, keep / 4, err) < 0)
                return -1;
        submission_cell_order(&e->cell, &order);
        order.argv = command;
        order.limits = *limits;
        order.mounts[0].kind = PLACE_COPY; /* what the image has there is not the submission's */
        order.keep = keep_tree;
        return cells_start(&e->cells, r, &order, &pipes, err) < 0 ||
                               cells_wait(&e->cells, r, err) < 0
                       ? -1
                       : 0;
}

static int take_done(void *to, unsigned type, struct reader *r, struct error *err)
{
        (void)to;
        if (type != UNPACK_DONE && type != UNPACK_WARNING)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        *r = reader_of(NULL, 0); /* how much it was does not matter */
        return type == UNPACK_DONE;
}

/* By the archive's rules; the names of what a build makes are many, though. */
static int take_over(struct evaluation *e, int kept, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        const struct helper_question q = {
                .which = HELPER_UNPACK,
                .mode = HELPER_BUILT,
                .input = kept,
                .tree = e->build.tree,
                .request = UNPACK_BUILT,
                .payload = &payload,
                .error_type = UNPACK_ERROR,
                .blamed = 1U << CLASS_SUBMISSION,
                .too_slow = CODE_BUILD_OUTPUT,
                .take = take_done,
        };

        put_u64(&payload, e->task.max_entries + e->task.limits[CELL_SUITE].value[LIMIT_INODES]);
        put_u64(&payload, e->task.max_unpacked + e->task.limits[CELL_SUITE].value[LIMIT_DISK]);
        put_u8(&payload, 0);
        put_u8(&payload, 0);
        put_u32(&payload, 0);
        put_u32(&payload, 0);
        return helper_ask(&e->channel, &q, err);
}

static int judge(const struct cell_outcome *o, struct error *err)
{
        if (o->stopped == CODE_INTERRUPTED)
                return error_set(err, CODE_INTERRUPTED, "the build was interrupted");
        if (o->stopped != CODE_NONE ||
                (o->oom_kills > 0 && (o->end != CELL_EXITED || o->status != 0)))
                return error_set(err, CODE_BUILD_FAILED, "the build was stopped by its limit (%s)",
                        code_info(o->stopped != CODE_NONE ? o->stopped : CODE_LIMIT_MEMORY)->name);
        if (o->end == CELL_EXEC_FAILED)
                return error_errno(err, CODE_BUILD_FAILED, (int)o->status,
                        "the build's command cannot be executed");
        if (o->end == CELL_SIGNALED)
                return error_set(err, CODE_BUILD_FAILED, "the build died from signal %u (%s)",
                        (unsigned)o->status, strsignal((int)o->status));
        return o->status == 0 ? 0
                              : error_set(err, CODE_BUILD_FAILED, "the build exited with status %u",
                                        (unsigned)o->status);
}

int build_execute(struct evaluation *e, const char *const *command, const struct limits *limits,
        bool keep, struct error *err)
{
        struct build_result *b = &e->build;
        struct running running = {.on_end = NULL};

        if (run(e, &running, command, limits, keep, err) < 0)
                return -1;
        b->outcome = running.outcome;
        if (b->outcome.failed.code != CODE_NONE) {
                *err = b->outcome.failed;
                return -1;
        }
        b->ran = true;
        return 0;
}

int build_run(struct evaluation *e, struct error *err)
{
        struct build_result *b = &e->build;

        b->detected = "declared by the task";
        b->command = (const char *const *)e->task.build_command;
        /* A compiler needs more than what it makes: the limits are the suite's. */
        if (build_execute(e, b->command, &e->task.limits[CELL_SUITE], true, err) < 0 ||
                judge(&b->outcome, err) < 0)
                return -1;
        if (b->outcome.kept < 0)
                return error_set(err, CODE_INTERNAL_FRAME, "the tree that was built is missing");
        if (take_over(e, b->outcome.kept, err) < 0)
                return error_add(err, "what the build left");
        b->good = true;
        e->cell.tree = b->tree;
        return 0;
}

void build_free(struct build_result *b)
{
        cell_outcome_free(&b->outcome);
        log_free(&b->output[0]);
        log_free(&b->output[1]);
        fd_close(b->tree);
}
