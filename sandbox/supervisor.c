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
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIGNALS, RUNNER, KEEPER, OTHERS };
/* With a frame: a runner that stops in the middle of one, or sends it byte by byte, must not keep
 * cells beyond their limits, nor the supervisor from the next runner. */
enum { PATIENCE_S = 5 };
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

/* When the runner is gone, or does not listen, there is nothing left to supervise: what it would
 * say next is its end. */
static void answer(uint16_t type, const struct buffer *payload, const int *fds, unsigned count)
{
        if (frame_send(SUPERVISOR_SOCKET, type, payload, fds, count, NULL) < 0)
                shutdown(SUPERVISOR_SOCKET, SHUT_RDWR);
}

static void send_failed(uint32_t id, const struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, id);
        put_error(&payload, err);
        answer(CELL_FAILED, &payload, NULL, 0);
}

static void send_ready(const struct machine *m)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, m->root);
        put_u8(&payload, (uint8_t)m->ids);
        put_u8(&payload, (uint8_t)m->groups.version);
        put_u8(&payload, m->landlock);
        put_u64(&payload, m->weak);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u8(&payload, m->enforcers[i]);
        answer(SUPERVISOR_READY, &payload, NULL, 0);
}

/* The result files that are there; and the tree, if it was to be kept. Returns how many descriptors
 * there are now. */
static unsigned put_results(const struct cell *c, struct buffer *payload, int *fds)
{
        unsigned count = 0;

        put_u32(payload, c->request.result_count);
        for (unsigned i = 0; i < c->request.result_count; i++) {
                uint64_t size;
                enum result_state state = cell_result(c, i, &fds[count], &size);

                put_u8(payload, (uint8_t)state);
                put_u64(payload, size);
                count += state == RESULT_FILE;
        }
        put_u8(payload, c->mounts.kept >= 0);
        return count;
}

static void send_done(const struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int fds[CELL_MAX_RESULTS + 1];
        unsigned results;

        if (c->failed.code != CODE_NONE) {
                send_failed(c->request.id, &c->failed);
                return;
        }
        put_u32(&payload, c->request.id);
        put_u8(&payload, (uint8_t)c->end);
        put_u32(&payload, c->status);
        put_u16(&payload, (uint16_t)c->stopped);
        put_u64(&payload, c->usage.cpu_us);
        put_u64(&payload, c->usage.wall_us);
        put_u64(&payload, c->usage.memory_peak);
        put_u64(&payload, c->usage.pids_peak);
        put_u64(&payload, c->usage.oom_kills);
        for (unsigned i = 0; i < SETUP_COUNT; i++) {
                uint64_t done = c->setup.done_at[i], from = c->setup.requested_at;

                put_u32(&payload, done > from ? (uint32_t)(done - from) : 0);
        }
        results = put_results(c, &payload, fds);
        fds[results] = c->mounts.kept;
        answer(CELL_DONE, &payload, fds, results + (c->mounts.kept >= 0));
        while (results > 0)
                fd_close(fds[--results]);
}

static void send_socket(struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, c->request.id);
        answer(CELL_SOCKET, &payload, &c->calls, 1);
        c->calls = fd_close(c->calls);
}

static void send_paused(struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        c->tell_pause = false;
        put_u32(&payload, c->request.id);
        put_u8(&payload, (uint8_t)c->end);
        put_u32(&payload, c->status);
        put_u64(&payload, c->usage.cpu_us - c->cpu_before);
        put_u64(&payload, c->usage.wall_us);
        put_u64(&payload, c->usage.memory_peak);
        answer(CELL_PAUSED, &payload, NULL, 0);
}

/* One that was made before, if it still lives, else a new one. */
static struct cell *take_prepared(struct supervisor *s, struct error *err)
{
        while (s->now.prepared_count > 0) {
                struct cell *c = s->now.prepared[--s->now.prepared_count];

                if (cell_waits(c))
                        return c;
                cell_free(c);
        }
        return cell_prepare(&s->machine, err);
}

/* That it cannot be made now will show when it is asked for. */
static void prepare_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct error unused;
        struct cell *c;

        if (f->payload.len > 0 || f->fd_count > 0) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to prepare is malformed");
                return;
        }
        if (s->now.prepared_count == SUPERVISOR_MAX_PREPARED)
                return;
        c = cell_prepare(&s->machine, &unused);
        if (c)
                s->now.prepared[s->now.prepared_count++] = c;
}

static struct cell *make_cell(struct supervisor *s, struct cell_request *request,
        const struct buffer *payload, struct error *err)
{
        uint64_t requested_at = clock_us();
        struct cell *c = take_prepared(s, err);

        if (!c) {
                request_free(request);
                return NULL;
        }
        c->setup.requested_at = requested_at;
        return cell_start(c, request, payload, err);
}

static void trust_tree(struct supervisor *s, struct frame *f, struct error *err)
{
        if (s->now.sealed || f->payload.len > 0 || f->fd_count != 1 ||
                s->now.tree_count == SUPERVISOR_MAX_TREES) {
                error_set(err, CODE_INTERNAL_FRAME, "a tree comes too late or is malformed");
                return;
        }
        s->now.trees[s->now.tree_count++] = take_fd(&f->fds[0]);
}

static void allow_flags(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint8_t flags = get_u8(&r);

        if (s->now.sealed || !reader_done(&r) || flags & ~CELL_NETWORK || f->fd_count > 0) {
                error_set(
                        err, CODE_INTERNAL_FRAME, "what cells may comes too late or is malformed");
                return;
        }
        s->now.allowed = flags;
}

static void name_owner(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t owner = get_u32(&r);

        if (!reader_done(&r) || f->fd_count > 0 || s->now.sealed) {
                error_set(err, CODE_INTERNAL_FRAME, "an owner comes too late or is malformed");
                return;
        }
        s->now.owner = owner;
}

bool supervisor_trusts(const struct supervisor *s, int tree)
{
        struct stat asked, named;

        for (unsigned i = 0; fstat(tree, &asked) == 0 && i < s->now.tree_count; i++)
                if (fstat(s->now.trees[i], &named) == 0 && named.st_dev == asked.st_dev &&
                        named.st_ino == asked.st_ino)
                        return true;
        return false;
}

/* A task may be readable for root alone: what the runner compares or copies of it, it reads so. */
static void show_tree(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t id = get_u32(&r);
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_fd_ int shown = -EBADF;
        struct error cannot;

        if (!reader_done(&r) || f->fd_count != 1 || s->now.owner == 0 ||
                !supervisor_trusts(s, f->fds[0])) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to show a tree is malformed");
                return;
        }
        shown = mounts_give(f->fds[0], s->now.owner);
        put_u32(&payload, id);
        if (shown >= 0)
                answer(CELL_SHOWN, &payload, &shown, 1);
        else {
                error_errno(&cannot, CODE_INFRA_CELL, errno, "cannot show a directory");
                send_failed(id, &cannot);
        }
}

/* A runner may have been taken over by what it reads: it must not get more through cells than it
 * had before, nor what only people who debug may have. */
static bool may_ask(const struct supervisor *s, const struct cell_request *q)
{
        if (q->flags & CELL_TRACE_DENIED || q->profile == PROFILE_DEBUG ||
                q->flags & CELL_NETWORK & ~s->now.allowed)
                return false;
        for (unsigned i = 0; i < q->mount_count; i++) {
                const struct request_mount *m = &q->mounts[i];
                struct stat st;

                /* A single file cannot have an overlay: it would be the host's own. */
                if (m->kind == PLACE_BIND || fstat(m->tree, &st) < 0 || !S_ISDIR(st.st_mode) ||
                        (m->kind == PLACE_OWNED && !supervisor_trusts(s, m->tree)) ||
                        ((m->kind == PLACE_COPY || m->kind == PLACE_OVER) && s->machine.root &&
                                st.st_uid != IDS_UNPACK && !supervisor_trusts(s, m->tree)))
                        return false;
        }
        for (unsigned i = 0; i < q->layer_count; i++) {
                struct stat st;

                if (fstat(q->layers[i], &st) < 0 || !S_ISDIR(st.st_mode) ||
                        (s->machine.root && st.st_uid - IDS_IMAGES >= IDS_BLOCK_SIZE))
                        return false;
        }
        return true;
}

static void limit_total(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint64_t total = get_u64(&r);

        if (!reader_done(&r) || f->fd_count > 0 || total == 0 || s->admission.total > 0 ||
                s->admission.running > 0) {
                error_set(err, CODE_INTERNAL_FRAME, "a total comes too late or is malformed");
                return;
        }
        s->admission.total = total;
}

/* It was admitted already. A failure is the request's, not ours. */
static void begin_cell(
        struct supervisor *s, struct cell_request *request, const struct buffer *payload)
{
        const struct limits limits = request->limits;
        const uint32_t id = request->id;
        struct cell **place = s->now.cells;
        struct error err;

        if (++s->made == 2 && s->undertaker) /* for one it is not worth a process */
                undertaker_start();
        while (*place) /* there is one: it was admitted */
                place++;
        *place = make_cell(s, request, payload, &err);
        if (*place)
                return;
        admission_give_back(&s->admission, &limits);
        send_failed(id, &err);
}

static void start_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct cell_request request;
        struct error cannot;

        if (request_decode(f, &request, err) < 0)
                return;
        if (!may_ask(s, &request)) {
                request_free(&request);
                error_set(
                        err, CODE_INTERNAL_FRAME, "a request asks for more than a graded cell has");
                return;
        }
        if (admission_take(&s->admission, &request)) {
                begin_cell(s, &request, &f->payload);
        } else if (admission_wait(&s->admission, &request, &f->payload, &cannot) < 0) {
                send_failed(request.id, &cannot);
                request_free(&request);
        }
}

static void end_cell(struct supervisor *s, struct cell **place)
{
        const struct limits limits = (*place)->request.limits;

        send_done(*place);
        *place = cell_free(*place);
        admission_give_back(&s->admission, &limits);
}

static void begin_waiting(struct supervisor *s)
{
        struct waiting *next;

        while ((next = admission_next(&s->admission))) {
                begin_cell(s, &next->request, &next->payload);
                request_forget(&next->request); /* it is the cell's */
                waiting_free(next);
        }
}

/* One that died meanwhile says so by itself. */
static void command_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t id = get_u32(&r);
        const uint64_t wall = get_u64(&r), cpu = get_u64(&r);
        _cleanup_buffer_ struct buffer command = BUFFER_INIT;

        if (r.bad || f->fd_count != CELL_STDIO || wall == 0 ||
                wall > limit_info(LIMIT_WALL)->most || cpu == 0 ||
                cpu > limit_info(LIMIT_CPU)->most) {
                error_set(err, CODE_INTERNAL_FRAME, "a request for a command is malformed");
                return;
        }
        buffer_add(&command, r.at, r.left);
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++) {
                struct cell *c = s->now.cells[i];
                struct error broken;

                if (c && c->request.id == id && c->paused && buffer_ok(&command) &&
                        cell_command(c, wall, cpu, &command, f->fds, &broken) < 0)
                        cell_stop(c, CODE_INFRA_CELL);
        }
}

static void start_program(struct supervisor *s, struct frame *f,
        int (*start)(struct supervisor *, struct frame *, struct error *), struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t id = get_u32(&r);

        if (start(s, f, err) == 0 || err->code == CODE_INTERNAL_FRAME)
                return;
        send_failed(id, err);
        err->code = CODE_NONE;
}

static void start_helper(struct supervisor *s, struct frame *f, struct error *err)
{
        start_program(s, f, helper_start, err);
}

static void start_judge(struct supervisor *s, struct frame *f, struct error *err)
{
        start_program(s, f, judge_start, err);
}

/* Kill a cell or helper. One that ended meanwhile is no error: its end is on the way. */
static void stop_one(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t id = get_u32(&r);
        unsigned reason = get_u16(&r);
        struct error stopped;

        if (!reader_done(&r) || reason == CODE_NONE || reason >= CODE_COUNT) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to kill is malformed");
                return;
        }
        if (admission_withdraw(&s->admission, id)) {
                error_set(&stopped, (enum code)reason, "it had not started yet");
                send_failed(id, &stopped);
        }
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++)
                if (s->now.cells[i] && s->now.cells[i]->request.id == id)
                        cell_stop(s->now.cells[i], (enum code)reason);
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0 && s->now.helpers[i].id == id)
                        kill(s->now.helpers[i].pid, SIGKILL);
}

/* One request of the runner. False when it said something we do not know, or nothing any more. */
static bool serve_request(struct supervisor *s)
{
        static void (*const verbs[])(struct supervisor *, struct frame *, struct error *) = {
                [CELL_START] = start_cell,
                [CELL_TREE] = trust_tree,
                [CELL_TOTAL] = limit_total,
                [CELL_ALLOW] = allow_flags,
                [CELL_OWNER] = name_owner,
                [CELL_PREPARE] = prepare_cell,
                [CELL_COMMAND] = command_cell,
                [CELL_SHOW] = show_tree,
                [CELL_KILL] = stop_one,
                [JUDGE_OPERATOR] = judge_configure,
                [JUDGE_START] = start_judge,
                [HELPER_START] = start_helper,
        };
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};

        f.patience_us = PATIENCE_S * 1000000;
        if (frame_receive(SUPERVISOR_SOCKET, &f, CELL_MAX_REQUEST, FRAME_MAX_FDS, &err) <= 0)
                return false;
        if (f.type >= sizeof verbs / sizeof *verbs || !verbs[f.type])
                return false;
        s->now.sealed |= f.type != CELL_TREE && f.type != CELL_ALLOW && f.type != CELL_OWNER &&
                         f.type != JUDGE_OPERATOR;
        verbs[f.type](s, &f, &err);
        return err.code == CODE_NONE;
}

static void see_helper_end(struct helper_process *h)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        uint32_t id = h->id;

        put_u32(&payload, id);
        put_u32(&payload, helper_end(h));
        answer(HELPER_DONE, &payload, NULL, 0);
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
        begin_waiting(s); /* what ended may have made room */
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
                                send_socket(s->now.cells[i]);
                        if (!done && s->now.cells[i]->tell_pause && serving)
                                send_paused(s->now.cells[i]);
                        if (done && serving)
                                end_cell(s, &s->now.cells[i]);
                }
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0 && fds[at++].revents)
                        see_helper_end(&s->now.helpers[i]);
        if (fds[KEEPER].revents)
                see_keeper(s);
        *ret_request = fds[RUNNER].revents != 0;
        return !(fds[SIGNALS].revents && was_interrupted(s));
}

/* One runner, until its end. False when a signal came. */
static bool serve(struct supervisor *s)
{
        const struct timeval patience = {.tv_sec = PATIENCE_S};
        bool request, more;

        setsockopt(SUPERVISOR_SOCKET, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(SUPERVISOR_SOCKET, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);

        send_ready(&s->machine);
        if (!s->swept)
                cgroup_sweep(&s->machine.groups);
        s->swept = true;
        while ((more = turn(s, true, &request)) && !s->now.over)
                if (request && !serve_request(s))
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
        c = s->now.cells[0] = make_cell(s, &request, &f.payload, &err);
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
