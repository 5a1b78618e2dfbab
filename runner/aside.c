/* Evaluations in processes of their own; see aside.h. What they say are frames, checked like those
 * of any other program. */
#include "aside.h"

#include "aside_child.h"
#include "fd.h"
#include "interrupt.h"
#include "quantity.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FRAME = 1 << 20, MOST_DIFFERENCES = 32, PATIENCE_MS = 60000 };

/* --- what they say -------------------------------------------------------------------------- */

static void take_test(struct aside_result *r, struct reader *payload)
{
        struct test_result test = {.name = scorer_text(payload, SCORE_MAX_TEXT)}, *more = NULL;

        test.passed = get_u8(payload);
        if (!payload->bad && r->test_count < SCORE_MAX_MANY)
                more = realloc(r->tests, (r->test_count + 1) * sizeof *more);
        if (!more) {
                payload->bad = true;
                free(test.name);
                return;
        }
        r->tests = more;
        more[r->test_count++] = test;
}

static void take_warning(struct aside_result *r, struct reader *payload)
{
        struct warning w = {
                scorer_text(payload, UNPACK_MAX_PATH), scorer_text(payload, SCORE_MAX_TEXT)};
        struct warning *more = NULL;

        if (!payload->bad && r->warning_count < SUBMISSION_MAX_WARNINGS)
                more = realloc(r->warnings, (r->warning_count + 1) * sizeof *more);
        if (!more) {
                payload->bad = true;
                free(w.field);
                free(w.message);
                return;
        }
        r->warnings = more;
        more[r->warning_count++] = w;
}

static void take_difference(struct aside_result *r, struct reader *payload)
{
        char **more = r->differ_count < MOST_DIFFERENCES
                              ? realloc(r->differs, (r->differ_count + 2) * sizeof *more)
                              : NULL;

        if (!more) {
                payload->bad = true;
                return;
        }
        r->differs = more;
        more[r->differ_count] = scorer_text(payload, SCORE_MAX_TEXT);
        r->differ_count += more[r->differ_count] != NULL;
        more[r->differ_count] = NULL;
}

static void take_end(struct aside_result *r, struct reader *payload)
{
        char **const texts[] = {&r->reason, &r->outcome, &r->score, &r->exact, &r->test_score,
                &r->llm_score, &r->task, &r->sha256};

        r->status = get_u8(payload);
        r->exit = get_u8(payload);
        r->code = get_u16(payload);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                *texts[i] = scorer_text(payload, SCORE_MAX_EXACT);
        r->us = get_u64(payload);
        payload->bad |= r->status > STATUS_ERROR || r->code >= CODE_COUNT;
}

static bool has_ended(const struct aside_result *r)
{
        return r->failed.code != CODE_NONE || r->sha256;
}

static bool take_frame(struct aside *a, uint16_t type, struct reader *payload)
{
        struct aside_result *r = &a->result;

        if (has_ended(r))
                return false;
        switch (type) {
        case WATCHER_ASK:
                payload->bad |= a->asks || a->answered;
                a->asks = true;
                break;
        case ASIDE_TEST:
                take_test(r, payload);
                break;
        case ASIDE_DIFFERS:
                take_difference(r, payload);
                break;
        case ASIDE_WARNING:
                take_warning(r, payload);
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

/* --- one of them ---------------------------------------------------------------------------- */

int aside_begin(struct aside *a, const struct aside_order *order, struct error *err)
{
        const pid_t self = getpid();
        int pair[2];

        *a = (struct aside){.socket = -EBADF, .said = BUFFER_INIT};
        if (fd_socketpair(pair, err) < 0)
                return -1;
        a->pid = fork();
        if (a->pid == 0) {
                fd_close(pair[0]);
                aside_child(order, pair[1], self);
        }
        fd_close(pair[1]);
        a->socket = pair[0];
        if (a->pid > 0)
                return 0;
        a->socket = fd_close(a->socket);
        return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start an evaluation");
}

/* One that was taken over may have closed its socket and stay, or not end when it is told to: it is
 * not waited for longer than that. */
static void finish(struct aside *a, int patience_ms)
{
        a->socket = fd_close(a->socket);
        if (a->pid > 0) {
                _cleanup_fd_ int process = (int)syscall(SYS_pidfd_open, a->pid, 0);
                struct pollfd over = {.fd = process, .events = POLLIN};

                if (process < 0 || poll(&over, 1, patience_ms) <= 0)
                        kill(a->pid, SIGKILL);
                while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
                        continue;
        }
        a->pid = 0;
        a->ended = true;
        if (!has_ended(&a->result))
                error_set(&a->result.failed, CODE_INTERNAL_HELPER,
                        "an evaluation ended without saying how");
}

void aside_kill(struct aside *a)
{
        if (a->pid > 0)
                kill(a->pid, SIGKILL);
        finish(a, 0);
}

static void refuse(struct aside *a)
{
        a->result.failed.code = CODE_NONE;
        error_set(&a->result.failed, CODE_INTERNAL_FRAME, "an evaluation sent a malformed answer");
        finish(a, 0);
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
                finish(a, 0);
                return;
        }
        buffer_advance(&a->said, (size_t)n);
        while ((whole = frame_peek(&a->said, MOST_FRAME, &type, &payload)) > 0) {
                const size_t used = (size_t)(payload.at + payload.left - a->said.data);

                if (!take_frame(a, type, &payload)) {
                        refuse(a);
                        return;
                }
                memmove(a->said.data, a->said.data + used, a->said.len - used + 1);
                a->said.len -= used;
        }
        if (whole < 0)
                refuse(a);
}

/* It asks once, so there is room for the answer. */
void aside_answer(struct aside *a, const struct watched *found)
{
        a->asks = false;
        a->answered = true;
        watcher_tell(a->socket, found, NULL);
}

void aside_result_free(struct aside_result *r)
{
        char *const texts[] = {r->reason, r->outcome, r->score, r->exact, r->test_score,
                r->llm_score, r->task, r->sha256};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        for (unsigned i = 0; i < r->test_count; i++)
                free(r->tests[i].name);
        free(r->tests);
        for (unsigned i = 0; i < r->warning_count; i++) {
                free(r->warnings[i].field);
                free(r->warnings[i].message);
        }
        free(r->warnings);
        texts_free(r->differs);
        *r = (struct aside_result){0};
}

void aside_free(struct aside *a)
{
        if (a->pid > 0) {
                kill(a->pid, SIGTERM);
                finish(a, PATIENCE_MS);
        }
        a->socket = fd_close(a->socket);
        aside_result_free(&a->result);
        buffer_free(&a->said);
}

/* --- many ----------------------------------------------------------------------------------- */

struct slot {
        struct aside aside; /* at work when it has a socket */
        unsigned number;
};

struct slots {
        struct slot *all;
        unsigned count, running;
};

static int start_more(
        const struct aside_many *m, struct slots *s, unsigned *next, struct error *err)
{
        for (unsigned i = 0; i < s->count && *next < m->count; i++) {
                struct slot *slot = &s->all[i];
                int r = 1;

                if (slot->aside.socket >= 0)
                        continue;
                while (r > 0 && *next < m->count) {
                        slot->number = *next;
                        r = m->begin(m->to, (*next)++, &slot->aside, err);
                }
                if (r < 0)
                        return -1;
                s->running += r == 0;
        }
        return 0;
}

static int take_ready(
        const struct aside_many *m, struct slots *s, const struct pollfd *fds, struct error *err)
{
        for (unsigned i = 0; i < s->count; i++) {
                struct aside *a = &s->all[i].aside;
                int r;

                if (a->socket < 0 || !fds[i].revents)
                        continue;
                aside_take(a);
                if (!a->ended)
                        continue;
                s->running--;
                r = m->ended(m->to, s->all[i].number, &a->result, err);
                aside_free(a);
                if (r < 0)
                        return -1;
        }
        return 0;
}

static int run(const struct aside_many *m, struct slots *s, struct error *err)
{
        struct pollfd fds[ASIDE_MAX];
        unsigned next = 0;

        do {
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (start_more(m, s, &next, err) < 0)
                        return -1;
                for (unsigned i = 0; i < s->count; i++)
                        fds[i] = (struct pollfd){.fd = s->all[i].aside.socket, .events = POLLIN};
                if (s->running > 0 && interrupt_poll(fds, s->count, -1) > 0 &&
                        take_ready(m, s, fds, err) < 0)
                        return -1;
        } while (s->running > 0 || next < m->count);
        return 0;
}

int aside_run(const struct aside_many *m, struct error *err)
{
        struct slots s = {.count = m->jobs < m->count ? m->jobs : m->count};
        int r;

        interrupt_hold();
        if (s.count > ASIDE_MAX)
                s.count = ASIDE_MAX;
        s.all = calloc(s.count + 1, sizeof *s.all);
        if (!s.all)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (unsigned i = 0; i < s.count; i++)
                s.all[i].aside = (struct aside){.socket = -EBADF, .said = BUFFER_INIT};
        r = run(m, &s, err);
        /* All are told before the first is waited for. */
        for (unsigned i = 0; i < s.count; i++)
                if (s.all[i].aside.pid > 0)
                        kill(s.all[i].aside.pid, SIGTERM);
        for (unsigned i = 0; i < s.count; i++)
                aside_free(&s.all[i].aside);
        free(s.all);
        return r;
}

unsigned aside_processors(void)
{
        cpu_set_t set;
        int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

        return count < 1 ? 1 : count > ASIDE_MAX ? ASIDE_MAX : (unsigned)count;
}

int aside_parse_jobs(const char *text, unsigned *ret, struct error *err)
{
        uint64_t jobs;

        *ret = aside_processors();
        if (!text)
                return 0;
        if (quantity_parse_count(text, &jobs) < 0 || jobs < 1 || jobs > ASIDE_MAX)
                return error_set(err, CODE_USAGE, "--jobs %s: must be a number from 1 to %d", text,
                        ASIDE_MAX);
        *ret = (unsigned)jobs;
        return 0;
}
