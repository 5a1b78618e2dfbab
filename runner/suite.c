/* The suite's cell: what it is given, what it prints, how it ended. The contract decides where
 * things are; "straw" is the one of this version. */
#include "evaluation.h"

#include "contract.h"
#include "environment.h"
#include "fd.h"
#include "interrupt.h"
#include "sandbox/messages.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void add_mount(struct cell_order *order, int tree, enum place_kind kind, const char *place)
{
        order->mounts[order->mount_count].tree = tree;
        order->mounts[order->mount_count].kind = kind;
        order->mounts[order->mount_count++].place = place;
}

static void fill_order(const struct evaluation *e, struct cell_order *order)
{
        const struct task *t = &e->task;

        order->profile = PROFILE_SUITE;
        order->allow_weak = e->options->allow_weak;
        order->network = t->network;
        order->limits = t->limits[CELL_SUITE];
        order->workdir = e->image.workdir ? e->image.workdir : contracts[t->contract].workdir;
        order->uid = e->image.uid;
        order->gid = e->image.gid;
        order->layers = e->image.layers;
        order->layer_count = e->image.layer_count;
        order->argv = e->suite_command;
        order->envp = e->suite_env;
        for (unsigned i = 0; t->sees_submission && i < 2; i++)
                add_mount(order, e->submission.root, PLACE_VIEW,
                        contracts[t->contract].submission[i]);
        if (t->tests >= 0)
                add_mount(order, t->tests, PLACE_OWNED, contracts[t->contract].tests);
        order->result_dir = contracts[t->contract].results;
        order->result_file = t->result_path + strlen(order->result_dir) + 1;
}

/* The task's command, or what the image runs. */
static int choose_command(struct evaluation *e, struct error *err)
{
        char *const *parts[] = {e->image.image.entrypoint, e->image.image.cmd};
        unsigned count = 0;

        if (e->task.command[0])
                parts[0] = e->task.command, parts[1] = NULL;
        e->suite_command = calloc(1, sizeof *e->suite_command);
        for (unsigned i = 0; i < 2 && e->suite_command; i++)
                for (char *const *text = parts[i]; text && *text; text++) {
                        const char **more = realloc(e->suite_command, (count + 2) * sizeof *more);

                        if (!more)
                                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                        e->suite_command = more;
                        more[count++] = *text;
                        more[count] = NULL;
                }
        if (!e->suite_command)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return count > 0 ? 0
                         : error_set(err, CODE_IMAGE_UNSUPPORTED,
                                   "image %.200s has neither ENTRYPOINT nor CMD, and the task no "
                                   "suite.command",
                                   e->task.image);
}

/* The result must lie beneath the directory that the supervisor reads it from. */
static int check_result_path(const struct task *t, struct error *err)
{
        const char *results = contracts[t->contract].results;
        size_t len = strlen(results);

        if (strncmp(t->result_path, results, len) != 0 || t->result_path[len] != '/' ||
                t->result_path[len + 1] == '\0')
                return error_set(
                        err, CODE_INTERNAL_FRAME, "the result lies outside of %s", results);
        return 0;
}

/* Standard input that is at its end. Not /dev/null: two cells could talk through its locks. */
static int empty_pipe(struct error *err)
{
        int ends[2];

        if (fd_pipe(ends, err) < 0)
                return -1;
        fd_close(ends[1]);
        return ends[0];
}

int suite_start(struct evaluation *e, struct error *err)
{
        struct cell_order order = {0};
        _cleanup_fd_ int nothing = -EBADF;
        uint64_t keep = e->task.limits[CELL_SUITE].value[LIMIT_OUTPUT];
        int out[2], errors[2];

        e->integrity = e->task.sees_submission ? INTEGRITY_SHARED : INTEGRITY_ISOLATED;
        if (check_result_path(&e->task, err) < 0 || log_init(&e->output[0], keep / 2, err) < 0 ||
                log_init(&e->output[1], keep / 2, err) < 0)
                return -1;
        if (choose_command(e, err) < 0)
                return -1;
        e->suite_env = environment_make(
                e->image.env, (const char *const *)e->task.env, e->task.env_count, err);
        if (!e->suite_env)
                return -1;
        fill_order(e, &order);
        nothing = empty_pipe(err);
        if (nothing < 0 || fd_pipe(out, err) < 0)
                return -1;
        e->suite_output[0] = out[0];
        if (fd_pipe(errors, err) < 0) {
                fd_close(out[1]);
                return -1;
        }
        e->suite_output[1] = errors[0];
        order.stdio[0] = nothing;
        order.stdio[1] = out[1];
        order.stdio[2] = errors[1];
        e->suite_cell = channel_start_cell(&e->channel, &order, err);
        fd_close(out[1]);
        fd_close(errors[1]);
        return e->suite_cell == 0 ? -1 : 0;
}

/* --- running -------------------------------------------------------------------------------- */

/* Take what is there; at the end of the pipe, forget it. */
static void pump(struct log *log, int *fd)
{
        char chunk[65536];
        ssize_t n = read(*fd, chunk, sizeof chunk);

        if (n > 0)
                log_add(log, chunk, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
                *fd = fd_close(*fd);
}

static int stop(struct evaluation *e, bool *stopped, enum code reason, struct error *err)
{
        if (*stopped)
                return 0;
        *stopped = true;
        return channel_kill(&e->channel, e->suite_cell, reason, err);
}

int suite_run(struct evaluation *e, struct error *err)
{
        const uint64_t endless = e->task.limits[CELL_SUITE].value[LIMIT_OUTPUT] * LOG_ENDLESS;
        bool stopped = false;

        for (;;) {
                struct pollfd fds[] = {
                        {.fd = e->suite_output[0], .events = POLLIN},
                        {.fd = e->suite_output[1], .events = POLLIN},
                        {.fd = e->channel.socket, .events = POLLIN},
                };

                if (interrupt_poll(fds, 3, -1) < 0 && errno != EINTR)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot wait for the suite");
                if (interrupt_came() && stop(e, &stopped, CODE_INTERRUPTED, err) < 0)
                        return -1;
                for (int i = 0; i < 2; i++)
                        if (fds[i].revents)
                                pump(&e->output[i], &e->suite_output[i]);
                if (e->output[0].total + e->output[1].total > endless &&
                        stop(e, &stopped, CODE_LIMIT_OUTPUT, err) < 0)
                        return -1;
                if (fds[2].revents && !fds[0].revents && !fds[1].revents)
                        break; /* and nothing is left in the pipes: every writer is gone */
        }
        if (channel_cell_done(&e->channel, e->suite_cell, &e->outcome, err) < 0)
                return -1;
        if (e->outcome.failed.code != CODE_NONE) {
                *err = e->outcome.failed;
                return -1;
        }
        e->suite_ran = true;
        return 0;
}

/* --- how it ended --------------------------------------------------------------------------- */

static int judge_limit(const struct evaluation *e, struct error *err)
{
        static const struct {
                enum code code;
                enum limit limit;
                const char *sentence;
        } rows[] = {
                {CODE_LIMIT_WALL, LIMIT_WALL, "the suite ran longer than its limit of"},
                {CODE_LIMIT_CPU, LIMIT_CPU, "the suite used more processor time than its limit of"},
                {CODE_LIMIT_MEMORY, LIMIT_MEMORY, "the suite needed more memory than its limit of"},
                {CODE_LIMIT_PIDS, LIMIT_PIDS,
                        "the suite wanted more processes and threads at once than its limit of"},
                {CODE_LIMIT_DISK, LIMIT_DISK,
                        "the suite failed with its file system full, the limit is"},
                {CODE_LIMIT_OUTPUT, LIMIT_OUTPUT,
                        "the suite printed without end, far beyond its limit of"},
        };
        char value[32];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].code == e->outcome.stopped) {
                        limit_format(rows[i].limit, e->task.limits[CELL_SUITE].value[rows[i].limit],
                                value, sizeof value);
                        return error_set(err, rows[i].code, "%s %s", rows[i].sentence, value);
                }
        return error_set(err, e->outcome.stopped, "the suite was stopped");
}

static int judge_exec(const struct evaluation *e, struct error *err)
{
        int reason = (int)e->outcome.status;
        bool missing = reason == ENOENT || reason == ENOTDIR;

        return error_errno(err, missing ? CODE_SUITE_NOT_FOUND : CODE_SUITE_NOT_EXECUTABLE, reason,
                "the suite's command %s cannot be executed", e->suite_command[0]);
}

int suite_judge(struct evaluation *e, struct error *err)
{
        const struct cell_outcome *o = &e->outcome;

        if (o->stopped != CODE_NONE)
                return judge_limit(e, err);
        if (o->end == CELL_EXEC_FAILED)
                return judge_exec(e, err);
        if (o->end == CELL_SIGNALED)
                return error_set(err, CODE_SUITE_SIGNAL, "the suite died from signal %u (%s)",
                        (unsigned)o->status, strsignal((int)o->status));
        if (o->status != 0)
                return error_set(err, CODE_SUITE_EXIT, "the suite exited with status %u",
                        (unsigned)o->status);
        switch (o->result) {
        case RESULT_FILE:
                return 0;
        case RESULT_NOT_FILE:
                return error_set(err, CODE_SUITE_RESULT_FILE, "%s is not a regular file of its own",
                        e->task.result_path);
        case RESULT_TOO_LARGE:
                return error_set(err, CODE_LIMIT_RESULT,
                        "%s has %llu bytes, more than its limit of %llu", e->task.result_path,
                        (unsigned long long)o->result_size,
                        (unsigned long long)e->task.limits[CELL_SUITE].value[LIMIT_RESULT]);
        case RESULT_UNREADABLE:
                return error_set(
                        err, CODE_SUITE_RESULT_FILE, "%s cannot be read", e->task.result_path);
        default:
                return error_set(err, CODE_SUITE_NO_RESULT, "the suite ended without writing %s",
                        e->task.result_path);
        }
}
