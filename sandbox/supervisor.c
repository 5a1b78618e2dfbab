/* The supervisor's loop: one thread, one poll(). It stands still while it makes the mounts of a
 * cell and hands them over (milliseconds, as long as the file systems below answer), for a cell
 * that is dead but not yet empty (seconds at most), and for half a frame (five). See main.c for the
 * picture of processes and messages.h for what is asked and answered. */
#include "supervisor.h"

#include "clock.h"
#include "fd.h"
#include "undertaker.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIGNALS, RUNNER, KEEPER, OTHERS };
enum { POLL_MAX = OTHERS + SUPERVISOR_MAX_HELPERS + SUPERVISOR_MAX_CELLS * CELL_POLL_FDS };

static int milliseconds_until(uint64_t when)
{
        uint64_t now = clock_us();

        if (when == UINT64_MAX)
                return -1;
        if (when <= now)
                return 0;
        return (when - now) / 1000 >= INT_MAX ? INT_MAX : (int)((when - now + 999) / 1000);
}

static bool was_interrupted(const struct supervisor *s)
{
        struct signalfd_siginfo info;

        return read(s->signals, &info, sizeof info) > 0;
}
/* Afterwards nothing is left of the session, not even what its cells had in memory. */
static void end_session(struct supervisor *s)
{
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0)
                        kill(s->now.helpers[i].pid, SIGKILL);
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++)
                s->now.cells[i] = cell_free(s->now.cells[i]);
        while (s->now.prepared_count > 0)
                cell_free(s->now.prepared[--s->now.prepared_count]);
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0)
                        helper_end(&s->now.helpers[i]);
        for (unsigned i = 0; i < s->now.tree_count; i++)
                fd_close(s->now.trees[i]);
        judge_forget(s);
        admission_reset(&s->admission);
        undertaker_finish();
        s->now = (struct session){.judge_key = -EBADF};
}

/* Without poll() nothing can be watched, and no limit held. */
static void __attribute__((noreturn)) give_up(struct supervisor *s)
{
        struct error err;

        error_errno(&err, CODE_INFRA_SUPERVISOR, errno, "cannot wait for cells");
        error_print(&err);
        end_session(s);
        exit(125);
}

/* A runner's socket may be in other hands, too, when it was taken over. But the next one comes only
 * when its process has ended. The end of the keeper is another matter: a runner that is at work
 * still has to clear up. */
static void see_keeper(struct supervisor *s)
{
        char byte;
        const ssize_t n = recv(s->keeper, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

        s->now.over = n > 0;
        if (n == 0)
                s->keeper = fd_close(s->keeper);
}

/* Wait for the next event; step every cell. Returns false when a signal came. */
static bool turn(struct supervisor *s, bool serving, bool *ret_request)
{
        static struct pollfd fds[POLL_MAX]; /* large, and mostly not used */
        uint64_t wake_at = UINT64_MAX;
        unsigned count = OTHERS, at = OTHERS;

        *ret_request = false;
        supervisor_begin_waiting(s); /* what ended may have made room */
        fds[SIGNALS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
        fds[RUNNER] = (struct pollfd){.fd = serving ? SUPERVISOR_SOCKET : -1, .events = POLLIN};
        fds[KEEPER] = (struct pollfd){.fd = s->keeper, .events = POLLIN};
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++)
                if (s->now.cells[i]) {
                        cell_watch(s->now.cells[i], &fds[count], &wake_at);
                        count += CELL_POLL_FDS;
                }
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0)
                        fds[count++] =
                                (struct pollfd){.fd = s->now.helpers[i].pidfd, .events = POLLIN};
        if (poll(fds, count, milliseconds_until(wake_at)) < 0) {
                if (errno != EINTR)
                        give_up(s);
                return true;
        }
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++)
                if (s->now.cells[i]) {
                        bool done = cell_step(s->now.cells[i], &fds[at]);

                        at += CELL_POLL_FDS;
                        if (s->now.cells[i]->calls >= 0 && serving)
                                answer_socket(s->now.cells[i]);
                        if (!done && s->now.cells[i]->tell_pause && serving)
                                answer_paused(s->now.cells[i]);
                        if (done && serving)
                                supervisor_end_cell(s, &s->now.cells[i]);
                }
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0 && fds[at++].revents)
                        answer_helper_end(&s->now.helpers[i]);
        if (fds[KEEPER].revents)
                see_keeper(s);
        *ret_request = fds[RUNNER].revents != 0;
        return !(fds[SIGNALS].revents && was_interrupted(s));
}

/* One runner, until its end. False when a signal came. */
static bool serve(struct supervisor *s)
{
        const struct timeval patience = {.tv_sec = SUPERVISOR_PATIENCE_S};
        bool request, more;

        setsockopt(SUPERVISOR_SOCKET, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(SUPERVISOR_SOCKET, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);

        answer_ready(&s->machine);
        if (!s->swept)
                cgroup_sweep(&s->machine.groups);
        s->swept = true;
        while ((more = turn(s, true, &request)) && !s->now.over)
                if (request && !supervisor_hear(s))
                        break;
        end_session(s);
        return more;
}

int supervisor_serve(struct supervisor *s)
{
        serve(s);
        return 0;
}

/* The next runner's socket takes the place that one always has. False: there is none any more. */
static bool next_runner(const struct supervisor *s)
{
        struct pollfd fds[] = {
                {.fd = s->signals, .events = POLLIN}, {.fd = s->keeper, .events = POLLIN}};
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (s->keeper < 0)
                return false;
        while (poll(fds, 2, -1) < 0)
                if (errno != EINTR)
                        return false;
        return !fds[0].revents && frame_receive(s->keeper, &f, 0, 1, NULL) > 0 &&
               f.type == SUPERVISOR_RUNNER && f.fd_count == 1 &&
               dup3(f.fds[0], SUPERVISOR_SOCKET, O_CLOEXEC) >= 0;
}

/* Its keeper may die before a runner does, which then still has to clear up: so it does not die
 * with that, but ends when there is nobody left. */
int supervisor_keep(struct supervisor *s)
{
        s->keeper = fcntl(SUPERVISOR_SOCKET, F_DUPFD_CLOEXEC, SUPERVISOR_SOCKET + 1);
        if (s->keeper < 0 || prctl(PR_SET_PDEATHSIG, 0) < 0)
                return 125;
        /* Its end tells a runner that nothing is left; the place stays taken. */
        while (next_runner(s) && serve(s))
                if (dup3(s->signals, SUPERVISOR_SOCKET, O_CLOEXEC) < 0)
                        return 125;
        return 0;
}

/* The request, and whether a report is wanted, were put into the socket before we started. */
static int take_exec_request(struct frame *f, int *ret_report, bool *ret_timing, struct error *err)
{
        int r = frame_receive(SUPERVISOR_SOCKET, f, CELL_MAX_REQUEST, FRAME_MAX_FDS, err);

        if (r > 0 && f->type == EXEC_REPORT && f->fd_count == 1 && f->payload.len == 1) {
                *ret_report = take_fd(&f->fds[0]);
                *ret_timing = f->payload.data[0] != 0;
                r = frame_receive(SUPERVISOR_SOCKET, f, CELL_MAX_REQUEST, FRAME_MAX_FDS, err);
        }
        if (r <= 0 || f->type != CELL_START)
                return error_set(err, CODE_INTERNAL_FRAME, "there is no request to execute");
        return 0;
}

/* Until we end. In `serve` the runner has them open; here nobody else keeps an image that a cell
 * uses from being removed. */
static void hold_layers(const struct cell_request *q)
{
        for (unsigned i = 0; i < q->layer_count; i++)
                (void)!fcntl(q->layers[i], F_DUPFD_CLOEXEC, CELL_STDIO);
}

int supervisor_exec(struct supervisor *s)
{
        _cleanup_fd_ int report = -EBADF;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct cell_request request;
        struct error err = {0};
        bool timing = false, unused;
        struct cell *c;
        int status;

        if (take_exec_request(&f, &report, &timing, &err) < 0 ||
                request_decode(&f, &request, &err) < 0) {
                error_print(&err);
                return 125;
        }
        hold_layers(&request);
        c = s->now.cells[0] = supervisor_make_cell(s, &request, &f.payload, &err);
        if (!c) {
                error_print(&err);
                return 125;
        }
        cgroup_sweep(&s->machine.groups); /* while the cell builds its view */
        while (c->pid > 0)
                if (!turn(s, false, &unused))
                        cell_stop(c, CODE_INTERRUPTED);
        status = report_exit_status(c);
        if (c->failed.code != CODE_NONE)
                error_print(&c->failed);
        else if (c->stopped != CODE_NONE && c->stopped != CODE_INTERRUPTED) {
                error_set(&err, c->stopped, "the command was ended by its limit");
                error_print(&err);
        } else if (c->end == CELL_EXEC_FAILED) {
                error_errno(&err, CODE_USAGE, (int)c->status, "%s: cannot be executed in the cell",
                        c->request.argv[0]);
                error_print(&err);
        }
        if (report >= 0 && report_write(c, timing, report, &err) < 0) {
                error_print(&err);
                status = 125;
        }
        end_session(s);
        return status;
}
