/* The suite's cell while it runs, and how it ended. */
#include "evaluation.h"

#include "evaluators/contract.h"
#include "fd.h"

#include <signal.h>

static enum integrity decide_integrity(const struct task *t)
{
        if (!t->sees_submission)
                return INTEGRITY_ISOLATED;
        return t->broker && t->submission_image.declared ? INTEGRITY_BROKERED : INTEGRITY_SHARED;
}

/* The broker is told once the socket is there. Without one the suite's calls fail, no more. */
static void take_socket(void *to, int socket)
{
        struct evaluation *e = to;
        struct error unused;

        if (e->broker.listener.fd >= 0)
                fd_close(socket);
        else
                broker_open(&e->broker, socket, &unused);
}

void suite_take_calls(struct evaluation *e, struct running *r)
{
        e->broker.cells = &e->cells;
        e->broker.submission = &e->cell;
        e->broker.most = e->task.limits[CELL_SUITE];
        policy_lower(&e->policy, CELL_SUBMISSION, &e->broker.most);
        e->broker.total_memory = e->task.total_memory;
        r->on_socket = take_socket;
        r->to = e;
}

int suite_start(struct evaluation *e, struct error *err)
{
        const uint64_t keep = e->task.limits[CELL_SUITE].value[LIMIT_OUTPUT];
        const struct running_pipes pipes = {
                .logs = {&e->output[0], &e->output[1]},
                .most = keep * LOG_ENDLESS,
        };
        struct cell_order order;

        e->integrity = decide_integrity(&e->task);
        if (log_init(&e->output[0], keep / 4, keep / 4, err) < 0 ||
                log_init(&e->output[1], keep / 4, keep / 4, err) < 0 ||
                suite_cell_prepare(e, &order, err) < 0)
                return -1;
        suite_take_calls(e, &e->suite_running);
        if (cells_start(&e->cells, &e->suite_running, &order, &pipes, err) < 0)
                return -1;
        return e->task.broker ? channel_prepare_cell(&e->channel, err) : 0;
}

int suite_run(struct evaluation *e, struct error *err)
{
        if (cells_wait(&e->cells, &e->suite_running, err) < 0 || broker_close(&e->broker, err) < 0)
                return -1;
        e->outcome = e->suite_running.outcome;
        if (e->outcome.failed.code != CODE_NONE) {
                *err = e->outcome.failed;
                return -1;
        }
        e->suite_ran = true;
        if (e->broker.broken.code == CODE_NONE)
                return 0;
        *err = e->broker.broken;
        return error_add(err, "a call of assay-exec");
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
                "the suite's command %s cannot be executed", e->suite_cell.command[0]);
}

enum { LAST_EXIT = 124 }; /* what is above is no status of a suite's own */

/* What a suite's exit means depends on the policy; one without a result has failed in any case. */
static int judge_exit(const struct evaluation *e, struct error *err)
{
        const struct cell_outcome *o = &e->outcome;
        const bool by_exit = !*e->task.result_path && e->task.exit_policy == EXIT_RESULT;

        if (o->end == CELL_SIGNALED)
                return error_set(err, CODE_SUITE_SIGNAL, "the suite died from signal %u (%s)",
                        (unsigned)o->status, strsignal((int)o->status));
        if (o->status == 0 || (by_exit && o->status <= LAST_EXIT))
                return 0;
        if (e->task.exit_policy == EXIT_STRICT || o->status > LAST_EXIT)
                return error_set(err, CODE_SUITE_EXIT, "the suite exited with status %u",
                        (unsigned)o->status);
        for (unsigned i = 0; i < e->suite_cell.partial; i++)
                if (o->results[i].state == RESULT_FILE)
                        return 0;
        return error_set(err, CODE_SUITE_EXIT,
                "the suite exited with status %u, without a result in %s", (unsigned)o->status,
                e->task.result_path);
}

static int judge_result(const struct evaluation *e, unsigned which, struct error *err)
{
        char path[CELL_MAX_PLACE];

        if (which == 0)
                snprintf(path, sizeof path, "%s", e->task.result_path);
        else
                snprintf(path, sizeof path, "%s/reward.txt", contracts[e->task.contract].results);
        switch (e->outcome.results[which].state) {
        case RESULT_FILE:
                return 0;
        case RESULT_NOT_FILE:
                return error_set(
                        err, CODE_SUITE_RESULT_FILE, "%s is not a regular file of its own", path);
        case RESULT_TOO_LARGE:
                return error_set(err, CODE_LIMIT_RESULT,
                        "%s has %llu bytes, more than its limit of %llu", path,
                        (unsigned long long)e->outcome.results[which].size,
                        (unsigned long long)e->task.limits[CELL_SUITE].value[LIMIT_RESULT]);
        case RESULT_UNREADABLE:
                return error_set(err, CODE_SUITE_RESULT_FILE, "%s cannot be read", path);
        default:
                return error_set(err, CODE_SUITE_NO_RESULT, "the suite ended without writing %s",
                        e->task.result_path);
        }
}

static int judge_results(const struct evaluation *e, struct error *err)
{
        const struct cell_outcome *o = &e->outcome;
        const bool harbor = strcmp(e->task.result_format, "harbor") == 0;

        if (!*e->task.result_path)
                return 0;
        /* Of its two files one may be missing. */
        if (harbor && o->results[0].state == RESULT_MISSING)
                return judge_result(e, 1, err);
        if (harbor && o->results[1].state != RESULT_MISSING && judge_result(e, 1, err) < 0)
                return -1;
        return judge_result(e, 0, err);
}

/* Where the kernel killed a process for its memory, the one that waited for it fails or writes
 * nothing for that reason: the limit ended the suite, though it ended by itself. */
static int blame_memory(struct evaluation *e, struct error *err)
{
        if (e->outcome.oom_kills == 0 ||
                (err->code != CODE_SUITE_EXIT && err->code != CODE_SUITE_SIGNAL &&
                        err->code != CODE_SUITE_NO_RESULT))
                return -1;
        e->outcome.stopped = CODE_LIMIT_MEMORY;
        return judge_limit(e, err);
}

int suite_judge(struct evaluation *e, struct error *err)
{
        if (e->outcome.stopped != CODE_NONE)
                return judge_limit(e, err);
        if (e->outcome.end == CELL_EXEC_FAILED)
                return judge_exec(e, err);
        return judge_exit(e, err) < 0 || judge_results(e, err) < 0 ? blame_memory(e, err) : 0;
}
