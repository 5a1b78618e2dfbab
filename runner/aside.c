/* Evaluations in processes of their own; see aside.h. What they say are frames, checked like those
 * of any other program. */
#include "aside.h"

#include "clock.h"
#include "fd.h"
#include "interrupt.h"
#include "report/report.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum aside_message {
        ASIDE_TEST = 1, /* text name, u8 passed; many */
        ASIDE_DONE,     /* u8 enum status, u8 exit, u16 enum code, text reason, text outcome, text
                           score, text exact, text test_score, text llm_score, text sha256, u64 us */
        ASIDE_FAILED,   /* error */
};

enum { MOST_FRAME = 1 << 20 };

/* --- in the other process ------------------------------------------------------------------- */

static void put_maybe(struct buffer *b, const char *text)
{
        put_text(b, text ? text : "");
}

static int tell(int fd, const struct evaluation *e, uint64_t us, struct error *err)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        for (unsigned i = 0; i < e->suite.test_count; i++) {
                put_text(&b, e->suite.tests[i].name);
                put_u8(&b, e->suite.tests[i].passed);
                if (frame_send(fd, ASIDE_TEST, &b, NULL, 0, err) < 0)
                        return -1;
                buffer_clear(&b);
        }
        put_u8(&b, (uint8_t)evaluation_status(e));
        put_u8(&b, (uint8_t)evaluation_exit(e));
        put_u16(&b, (uint16_t)why->code);
        put_text(&b, why->code == CODE_NONE ? "" : why->text);
        put_text(&b, report_outcome(e));
        put_maybe(&b, e->blend.score);
        put_maybe(&b, e->blend.exact);
        put_maybe(&b, e->blend.test_score);
        put_maybe(&b, e->blend.llm_score);
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
        return fd_write_all(output, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the result");
}

static int evaluate(const char *task, const char *submission,
        const struct evaluation_options *options, int socket, int output, struct error *err)
{
        struct evaluation *e = calloc(1, sizeof *e);
        const uint64_t at = clock_us();
        int r;

        if (!e)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = evaluation_open(e, task, submission, options, err);
        if (r == 0)
                r = evaluation_run(e, err);
        if (r == 0)
                r = write_result(e, output, err);
        if (r == 0)
                r = tell(socket, e, clock_us() - at, err);
        evaluation_close(e);
        free(e);
        return r;
}

_Noreturn static void child(const char *task, const char *submission,
        const struct evaluation_options *options, int socket, int output, pid_t parent)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct error err = {0};

        /* A parent that dies ends it in good order. */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
                _exit(1);
        if (evaluate(task, submission, options, socket, output, &err) < 0) {
                put_error(&payload, &err);
                frame_send(socket, ASIDE_FAILED, &payload, NULL, 0, NULL);
        }
        _exit(0);
}

/* --- here ----------------------------------------------------------------------------------- */

int aside_begin(struct aside *a, const char *task, const char *submission,
        const struct evaluation_options *options, int output, struct error *err)
{
        const pid_t self = getpid();
        int pair[2];

        *a = (struct aside){.socket = -EBADF, .said = BUFFER_INIT};
        if (fd_socketpair(pair, err) < 0)
                return -1;
        a->pid = fork();
        if (a->pid == 0) {
                fd_close(pair[0]);
                child(task, submission, options, pair[1], output, self);
        }
        fd_close(pair[1]);
        a->socket = pair[0];
        if (a->pid > 0)
                return 0;
        a->socket = fd_close(a->socket);
        return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start an evaluation");
}

static void take_test(struct aside_result *r, struct reader *payload)
{
        struct test_result *more = realloc(r->tests, (r->test_count + 1) * sizeof *more);
        struct test_result test = {.name = scorer_text(payload, SCORE_MAX_TEXT)};

        test.passed = get_u8(payload);
        if (more)
                r->tests = more;
        if (more && !payload->bad && r->test_count < SCORE_MAX_MANY)
                more[r->test_count++] = test;
        else {
                payload->bad = true;
                free(test.name);
        }
}

static void take_end(struct aside_result *r, struct reader *payload)
{
        char **const texts[] = {&r->reason, &r->outcome, &r->score, &r->exact, &r->test_score,
                &r->llm_score, &r->sha256};

        r->status = get_u8(payload);
        r->exit = get_u8(payload);
        r->code = get_u16(payload);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                *texts[i] = scorer_text(payload, SCORE_MAX_TEXT);
        r->us = get_u64(payload);
        payload->bad |= r->status > STATUS_ERROR || r->code >= CODE_COUNT;
}

static bool has_ended(const struct aside_result *r)
{
        return r->failed.code != CODE_NONE || r->sha256;
}

static bool take_frame(struct aside_result *r, uint16_t type, struct reader *payload)
{
        if (has_ended(r))
                return false;
        switch (type) {
        case ASIDE_TEST:
                take_test(r, payload);
                break;
        case ASIDE_DONE:
                take_end(r, payload);
                break;
        case ASIDE_FAILED:
                get_error(payload, &r->failed);
                break;
        default:
                return false;
        }
        return reader_done(payload);
}

static void finish(struct aside *a)
{
        a->socket = fd_close(a->socket);
        if (a->pid > 0)
                while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
                        continue;
        a->pid = 0;
        a->ended = true;
        if (!has_ended(&a->result))
                error_set(&a->result.failed, CODE_INTERNAL_HELPER,
                        "an evaluation ended without saying how");
}

void aside_take(struct aside *a)
{
        unsigned char *room = buffer_reserve(&a->said, 64 << 10);
        ssize_t n = room ? recv(a->socket, room, 64 << 10, MSG_DONTWAIT) : 0;
        struct reader payload;
        uint16_t type;
        int whole;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                finish(a);
                return;
        }
        buffer_advance(&a->said, (size_t)n);
        while ((whole = frame_peek(&a->said, MOST_FRAME, &type, &payload)) > 0) {
                const size_t used = (size_t)(payload.at + payload.left - a->said.data);
                const bool good = take_frame(&a->result, type, &payload);

                memmove(a->said.data, a->said.data + used, a->said.len - used + 1);
                a->said.len -= used;
                if (!good) {
                        whole = -1;
                        break;
                }
        }
        if (whole < 0) {
                kill(a->pid, SIGTERM);
                finish(a);
        }
}

int aside_wait(struct aside *const *all, unsigned count, struct error *err)
{
        struct pollfd fds[ASIDE_MAX];
        int r;

        if (count > ASIDE_MAX)
                return error_set(err, CODE_INTERNAL_BUG, "too many evaluations at once");

        for (unsigned i = 0; i < count; i++)
                fds[i] = (struct pollfd){.fd = all[i]->socket, .events = POLLIN};
        r = interrupt_poll(fds, count, -1);
        for (unsigned i = 0; r > 0 && i < count; i++)
                if (fds[i].revents)
                        aside_take(all[i]);
        if (!interrupt_came())
                return 0;
        for (unsigned i = 0; i < count; i++)
                if (all[i]->pid > 0)
                        kill(all[i]->pid, SIGTERM);
        for (unsigned i = 0; i < count; i++)
                finish(all[i]);
        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
}

void aside_free(struct aside *a)
{
        struct aside_result *r = &a->result;
        char *const texts[] = {
                r->reason, r->outcome, r->score, r->exact, r->test_score, r->llm_score, r->sha256};

        if (a->pid > 0) {
                kill(a->pid, SIGTERM);
                finish(a);
        }
        fd_close(a->socket);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        for (unsigned i = 0; i < r->test_count; i++)
                free(r->tests[i].name);
        free(r->tests);
        buffer_free(&a->said);
}
