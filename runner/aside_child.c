/* One evaluation in a process of its own, forked by aside_begin() with the caller's rights, which
 * evaluation_open() gives up. */
#include "aside_child.h"

#include "clock.h"
#include "expectation.h"
#include "fd.h"
#include "report/report.h"
#include "storing.h"
#include "task_facts.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int tell_tests(int fd, const struct evaluation *e, struct error *err)
{
        for (unsigned i = 0; i < e->suite.test_count; i++) {
                _cleanup_buffer_ struct buffer b = BUFFER_INIT;

                put_text(&b, e->suite.tests[i].name);
                put_u8(&b, e->suite.tests[i].passed);
                if (frame_send(fd, ASIDE_TEST, &b, NULL, 0, err) < 0)
                        return -1;
        }
        return 0;
}

static int tell_differences(int fd, const struct expectation *x, struct error *err)
{
        for (unsigned i = 0; i < x->differ_count; i++) {
                _cleanup_buffer_ struct buffer b = BUFFER_INIT;

                put_text(&b, x->differs[i]);
                if (frame_send(fd, ASIDE_DIFFERS, &b, NULL, 0, err) < 0)
                        return -1;
        }
        return 0;
}

struct telling {
        int fd, result;
};

static void tell_warning(void *to, const char *field, const char *message)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct telling *t = to;

        put_text(&b, field ? field : "");
        put_text(&b, message);
        if (t->result == 0)
                t->result = frame_send(t->fd, ASIDE_WARNING, &b, NULL, 0, NULL);
}

/* What the submitter is told before anything else happens. */
static int tell_warnings(int fd, const struct evaluation *e, struct error *err)
{
        struct telling t = {.fd = fd};

        if (e->options->depth == EVALUATE_INTAKE)
                report_submission_warnings(e, tell_warning, &t);
        return t.result < 0 ? error_errno(err, CODE_INTERNAL_HELPER, errno, "an intake") : 0;
}

static int tell_end(int fd, const struct evaluation *e, uint64_t us, struct error *err)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct report_scores scores;

        report_scores(e, &scores);
        put_u8(&b, (uint8_t)evaluation_status(e));
        put_u8(&b, (uint8_t)evaluation_exit(e));
        put_u16(&b, (uint16_t)why->code);
        put_text(&b, why->code == CODE_NONE ? "" : why->text);
        put_text(&b, report_outcome(e));
        put_text(&b, scores.score);
        put_text(&b, scores.exact);
        put_text(&b, scores.test_score);
        put_text(&b, scores.llm_score);
        put_text(&b, e->task.name);
        put_text(&b, e->submission.sha256);
        put_u64(&b, us);
        return frame_send(fd, ASIDE_DONE, &b, NULL, 0, err);
}

static int write_result(const struct evaluation *e, int output, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (output < 0)
                return 0;
        if (report_json(e, &out) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        return fd_write_all(output, out.data, out.len) == 0 && fsync(output) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the result");
}

static int evaluate(struct evaluation *e, const struct aside_order *order, int socket, pid_t parent,
        struct error *err)
{
        struct evaluation_options options = *order->options;
        struct expectation before = {0}, after = {0};
        struct evaluation_kept kept = {.watcher = socket};
        const bool expects = order->expect >= 0;
        const uint64_t at = clock_us();
        /* With the caller's rights, as `assay run --pull` does. */
        int r = order->pull && task_pull(order->task, options.policy, err) < 0 ? -1 : 0;

        if (order->kept) {
                kept = *order->kept;
                kept.watcher = socket;
                options.kept = &kept;
        }
        options.stored = (struct evaluation_stored){order->store, order->result_id};
        if (r == 0)
                r = evaluation_open(e, order->task, order->submission, &options, err);

        aside_die_with(parent);
        e->submission.keep_folder = order->keep_folder;
        if (r == 0 && expects)
                r = expectation_ask(&before, &e->channel, order->expect, NULL, err);
        if (r == 0 && expects && *before.llm_score)
                options.llm_score = before.llm_score;
        if (r == 0)
                r = evaluation_run(e, err);
        if (r == 0 && expects)
                r = expectation_ask(&after, &e->channel, order->expect, e, err);
        if (r == 0)
                r = storing_append(e, err);
        if (r == 0)
                r = write_result(e, order->output, err);
        if (r == 0 && (tell_tests(socket, e, err) < 0 || tell_warnings(socket, e, err) < 0 ||
                              tell_differences(socket, &after, err) < 0 ||
                              tell_end(socket, e, clock_us() - at, err) < 0))
                r = -1;
        evaluation_close(e);
        expectation_free(&before);
        expectation_free(&after);
        return r;
}

void aside_die_with(pid_t parent)
{
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
                raise(SIGTERM);
}

void aside_child(const struct aside_order *order, int socket, pid_t parent)
{
        struct evaluation *e = calloc(1, sizeof *e);
        struct error err = {0};
        int r;

        int open[] = {0, 1, 2, socket, order->output, order->expect, order->store, order->archive,
                order->kept ? order->kept->supervisor : -EBADF};

        if (order->archive >= 0)
                fd_keep_only(open, sizeof open / sizeof *open);
        aside_die_with(parent);
        r = e ? evaluate(e, order, socket, parent, &err)
              : error_set(&err, CODE_INFRA_MEMORY, "out of memory");
        if (r < 0) {
                _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

                put_error(&payload, &err);
                frame_send(socket, ASIDE_FAILED, &payload, NULL, 0, NULL);
        }
        free(e);
        _exit(0);
}
