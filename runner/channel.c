/* The runner's side of the supervisor; see channel.h and sandbox/messages.h. */
#include "channel.h"

#include "fd.h"
#include "spawn.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_MS = 10000 };

const char *enforcer_name(enum enforcer e)
{
        static const char *const names[ENFORCER_COUNT] = {
                [ENFORCED_CGROUP_V2] = "cgroup v2",
                [ENFORCED_CGROUP_V1] = "cgroup v1",
                [ENFORCED_RLIMIT] = "rlimit",
                [ENFORCED_TMPFS] = "tmpfs",
                [ENFORCED_CLOCK] = "clock",
                [ENFORCED_POLLING] = "polling",
                [ENFORCED_RUNNER] = "runner",
                [ENFORCED_SUPERVISOR] = "supervisor",
                [ENFORCED_NOTHING] = "nothing",
        };

        return (unsigned)e < ENFORCER_COUNT ? names[e] : "nothing";
}

int channel_start_supervisor(const char *mode, int *ret_socket, int *ret_pidfd, struct error *err)
{
        const char *const argv[] = {"assay-cell", mode, NULL};
        _cleanup_fd_ int program = spawn_find("assay-cell", err);
        _cleanup_fd_ int ours = -EBADF, theirs = -EBADF;
        struct spawn spawn = SPAWN_INIT;
        int pair[2];

        if (program < 0 || fd_socketpair(pair, err) < 0)
                return -1;
        ours = pair[0];
        theirs = pair[1];
        spawn.program = program;
        spawn.argv = argv;
        spawn.fd_count = 4;
        spawn.fds[0] = spawn.fds[1] = -EBADF;
        spawn.fds[2] = STDERR_FILENO;
        spawn.fds[SUPERVISOR_SOCKET] = theirs;
        if (spawn_process(&spawn, ret_pidfd, err) < 0)
                return -1;
        *ret_socket = take_fd(&ours);
        return 0;
}

int channel_open(struct channel *c, struct error *err)
{
        return channel_start_supervisor("serve", &c->socket, &c->pidfd, err);
}

void channel_adopt(struct channel *c, int socket)
{
        c->socket = socket;
}

/* A supervisor that is kept closes its end when nothing is left of what we had. */
static void wait_until_closed(int socket)
{
        char rest[4096];
        ssize_t n;

        shutdown(socket, SHUT_WR);
        do {
                n = read(socket, rest, sizeof rest);
        } while (n > 0 || (n < 0 && errno == EINTR));
}

/* Its socket at an end, the supervisor kills every cell and leaves. We wait for it, so that
 * nothing of an evaluation is left when we say that it is over. */
void channel_close(struct channel *c)
{
        if (c->socket >= 0 && c->pidfd < 0)
                wait_until_closed(c->socket);
        c->socket = fd_close(c->socket);
        if (c->pidfd >= 0)
                spawn_wait(c->pidfd, NULL);
        c->pidfd = fd_close(c->pidfd);
        while (c->early_count > 0) {
                cell_outcome_free(&c->early[--c->early_count].outcome);
                fd_close(c->early[c->early_count].socket);
        }
        free(c->early);
        c->early = NULL;
}

static int lost(struct error *err)
{
        return error_set(
                err, CODE_INFRA_SUPERVISOR, "the supervisor of the cells ended unexpectedly");
}

static int malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "the supervisor sent a malformed answer");
}

/* What a frame that could not be sent to it means. */
static int unsent(struct error *err)
{
        return errno == EPIPE || errno == ECONNRESET ? lost(err) : -1;
}

static int send_request(struct channel *c, enum cell_message type, const struct buffer *payload,
        const int *fds, unsigned count, struct error *err)
{
        return frame_send(c->socket, (uint16_t)type, payload, fds, count, err) == 0 ? 0
                                                                                    : unsent(err);
}

/* The next frame; an end of the stream means that it died. */
static int receive(struct channel *c, struct frame *f, struct error *err)
{
        int r = frame_receive(c->socket, f, CELL_MAX_REQUEST, CELL_MAX_RESULTS + 1, err);

        if (r < 0 && errno == ECONNRESET)
                r = 0;
        return r == 0 ? lost(err) : r;
}

int channel_ready(struct channel *c, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct machine_facts *m = &c->facts;
        struct reader r;

        if (c->ready)
                return 0;
        if (receive(c, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        m->root = get_u8(&r);
        m->ids = get_u8(&r);
        m->cgroup_version = get_u8(&r);
        m->landlock = get_u8(&r);
        m->weak = get_u64(&r);
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                m->enforcers[i] = get_u8(&r);
                r.bad |= m->enforcers[i] >= ENFORCER_COUNT;
        }
        if (f.type != SUPERVISOR_READY || !reader_done(&r) || m->ids >= IDS_COUNT)
                return malformed(err);
        c->ready = true;
        return 0;
}

static uint32_t count_list(const char *const *list)
{
        uint32_t count = 0;

        while (list[count])
                count++;
        return count;
}

static void put_list(struct buffer *b, const char *const *list)
{
        uint32_t count = count_list(list);

        put_u32(b, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(b, list[i]);
}

int channel_send_order(int socket, uint32_t id, const struct cell_order *order, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int fds[FRAME_MAX_FDS];
        unsigned count = 0;

        if (count_list(order->argv) > CELL_MAX_ARGUMENTS)
                return error_set(err, CODE_USAGE, "a command with more than %d arguments",
                        CELL_MAX_ARGUMENTS);
        put_u32(&payload, id);
        put_u8(&payload, (uint8_t)order->profile);
        put_u8(&payload,
                (uint8_t)((order->allow_weak ? CELL_ALLOW_WEAK : 0) |
                          (order->trace_denied ? CELL_TRACE_DENIED : 0) |
                          (order->network ? CELL_NETWORK : 0) | (order->calls ? CELL_CALLS : 0) |
                          (order->keep ? CELL_KEEP : 0) | (order->session ? CELL_SESSION : 0)));
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u64(&payload, order->limits.value[i]);
        put_u32(&payload, order->uid);
        put_u32(&payload, order->gid);
        put_text(&payload, order->workdir);
        put_list(&payload, order->argv);
        put_list(&payload, order->envp);
        for (int i = 0; i < CELL_STDIO; i++)
                fds[count++] = order->stdio[i];
        put_u32(&payload, order->mount_count);
        for (unsigned i = 0; i < order->mount_count; i++) {
                put_u8(&payload, (uint8_t)order->mounts[i].kind);
                put_text(&payload, order->mounts[i].place);
                fds[count++] = order->mounts[i].tree;
        }
        put_u32(&payload, order->layer_count);
        for (unsigned i = 0; i < order->layer_count; i++)
                fds[count++] = order->layers[i];
        put_u32(&payload, order->file_count);
        for (unsigned i = 0; i < order->file_count; i++) {
                put_text(&payload, order->files[i].place);
                put_u8(&payload, order->files[i].executable);
                put_bytes(&payload, order->files[i].bytes, order->files[i].size);
        }
        put_text(&payload, order->result_dir ? order->result_dir : "");
        put_u32(&payload, order->result_count);
        for (unsigned i = 0; i < order->result_count; i++)
                put_text(&payload, order->results[i]);
        return frame_send(socket, CELL_START, &payload, fds, count, err);
}

int channel_trust_tree(struct channel *c, int tree, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return send_request(c, CELL_TREE, &nothing, &tree, 1, err);
}

int channel_limit_total(struct channel *c, uint64_t memory, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u64(&payload, memory);
        return send_request(c, CELL_TOTAL, &payload, NULL, 0, err);
}

int channel_allow_network(struct channel *c, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, CELL_NETWORK);
        return send_request(c, CELL_ALLOW, &payload, NULL, 0, err);
}

int channel_name_owner(struct channel *c, uid_t owner, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, (uint32_t)owner);
        return send_request(c, CELL_OWNER, &payload, NULL, 0, err);
}

int channel_prepare_cell(struct channel *c, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return send_request(c, CELL_PREPARE, &nothing, NULL, 0, err);
}

uint32_t channel_start_cell(struct channel *c, const struct cell_order *order, struct error *err)
{
        if (channel_ready(c, err) < 0)
                return 0;
        if (channel_send_order(c->socket, ++c->last_id, order, err) < 0) {
                unsent(err);
                return 0;
        }
        return c->last_id;
}

int channel_command(struct channel *c, uint32_t id, const struct limits *limits,
        const char *const *argv, const int stdio[CELL_STDIO], struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, id);
        put_u64(&payload, limits->value[LIMIT_WALL]);
        put_u64(&payload, limits->value[LIMIT_CPU]);
        put_list(&payload, argv);
        return send_request(c, CELL_COMMAND, &payload, stdio, CELL_STDIO, err);
}

int channel_kill(struct channel *c, uint32_t id, enum code reason, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, id);
        put_u16(&payload, (uint16_t)reason);
        return send_request(c, CELL_KILL, &payload, NULL, 0, err);
}

void cell_outcome_free(struct cell_outcome *o)
{
        for (unsigned i = 0; i < CELL_MAX_RESULTS; i++)
                o->results[i].fd = fd_close(o->results[i].fd);
        o->kept = fd_close(o->kept);
}

static int decode_results(struct frame *f, struct reader *r, struct cell_outcome *ret)
{
        uint32_t count = get_u32(r);
        unsigned taken = 0;

        if (count > CELL_MAX_RESULTS)
                return -1;
        for (uint32_t i = 0; i < count; i++) {
                unsigned state = get_u8(r);

                ret->results[i].state = state;
                ret->results[i].size = get_u64(r);
                if (state >= RESULT_STATE_COUNT || (state == RESULT_FILE && taken == f->fd_count))
                        return -1;
                if (state == RESULT_FILE)
                        ret->results[i].fd = take_fd(&f->fds[taken++]);
        }
        if (get_u8(r) && taken < f->fd_count)
                ret->kept = take_fd(&f->fds[taken++]);
        return taken == f->fd_count ? 0 : -1;
}

static int decode_done(struct frame *f, struct reader *r, struct cell_outcome *ret)
{
        unsigned end = get_u8(r), stopped;

        ret->end = end;
        ret->status = get_u32(r);
        ret->stopped = stopped = get_u16(r);
        ret->cpu_us = get_u64(r);
        ret->wall_us = get_u64(r);
        ret->memory_peak = get_u64(r);
        ret->pids_peak = get_u64(r);
        ret->oom_kills = get_u64(r);
        for (unsigned i = 0; i < SETUP_COUNT; i++)
                ret->setup_us[i] = get_u32(r);
        return end < CELL_END_COUNT && stopped < CODE_COUNT ? decode_results(f, r, ret) : -1;
}

static int decode_event(struct frame *f, struct channel_event *ret)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        *ret = (struct channel_event){
                .type = f->type, .id = get_u32(&r), .outcome = CELL_OUTCOME_INIT, .socket = -EBADF};
        switch (f->type) {
        case CELL_DONE:
                if (decode_done(f, &r, &ret->outcome) < 0)
                        return -1;
                break;
        case CELL_PAUSED:
                ret->outcome.end = get_u8(&r);
                ret->outcome.status = get_u32(&r);
                ret->outcome.cpu_us = get_u64(&r);
                ret->outcome.wall_us = get_u64(&r);
                ret->outcome.memory_peak = get_u64(&r);
                r.bad |= ret->outcome.end >= CELL_END_COUNT;
                break;
        case CELL_FAILED:
                get_error(&r, &ret->outcome.failed);
                break;
        case CELL_SOCKET:
        case CELL_SHOWN:
                if (f->fd_count != 1)
                        return -1;
                ret->socket = take_fd(&f->fds[0]);
                break;
        case HELPER_DONE:
                ret->status = get_u32(&r);
                break;
        default:
                return -1;
        }
        return reader_done(&r) ? 0 : -1;
}

static int receive_event(struct channel *c, struct channel_event *ret, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (receive(c, &f, err) < 0)
                return -1;
        if (decode_event(&f, ret) == 0)
                return 0;
        cell_outcome_free(&ret->outcome);
        fd_close(ret->socket);
        return malformed(err);
}

bool channel_has_early(const struct channel *c)
{
        return c->early_count > 0;
}

static struct channel_event take_early(struct channel *c, unsigned at)
{
        struct channel_event event = c->early[at];

        memmove(c->early + at, c->early + at + 1, (--c->early_count - at) * sizeof event);
        return event;
}

int channel_next(struct channel *c, struct channel_event *ret, struct error *err)
{
        if (c->early_count == 0)
                return receive_event(c, ret, err);
        *ret = take_early(c, 0);
        return 0;
}

static int keep_early(struct channel *c, const struct channel_event *event, struct error *err)
{
        struct channel_event *more = realloc(c->early, (c->early_count + 1) * sizeof *more);

        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        c->early = more;
        more[c->early_count++] = *event;
        return 0;
}

uint32_t channel_start_helper(struct channel *c, enum helper which, enum helper_mode mode,
        const int *fds, unsigned fd_count, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, ++c->last_id);
        put_u8(&payload, (uint8_t)which);
        put_u8(&payload, (uint8_t)mode);
        if (channel_ready(c, err) < 0 ||
                send_request(c, HELPER_START, &payload, fds, fd_count, err) < 0)
                return 0;
        return c->last_id;
}

static int judge_helper(uint32_t status, enum code code_if_slow, struct error *err)
{
        if (status == 0)
                return 0;
        if (status == 128 + SIGXCPU)
                return error_set(err, code_if_slow, "it took more time than it may");
        if (status > 128)
                return error_set(err, CODE_INTERNAL_HELPER,
                        "a helper program died from signal %u%s", (unsigned)status - 128,
                        status == 128 + SIGSYS ? ", for a system call it may not make" : "");
        return error_set(err, CODE_INTERNAL_HELPER, "a helper program ended with status %u",
                (unsigned)status);
}

/* What is said of others meanwhile is kept. */
static int wait_for(struct channel *c, uint32_t id, struct channel_event *ret, struct error *err)
{
        for (unsigned i = 0; i < c->early_count; i++)
                if (c->early[i].id == id) {
                        *ret = take_early(c, i);
                        return 0;
                }
        for (;;) {
                struct pollfd wait = {.fd = c->socket, .events = POLLIN};

                if (poll(&wait, 1, LINGER_MS) == 0 &&
                        channel_kill(c, id, CODE_INFRA_HELPER, err) < 0)
                        return -1;
                if (receive_event(c, ret, err) < 0)
                        return -1;
                if (ret->id == id)
                        return 0;
                if (keep_early(c, ret, err) < 0)
                        return -1;
        }
}

int channel_helper_done(struct channel *c, uint32_t id, enum code code_if_slow, struct error *err)
{
        struct channel_event end = {0};

        if (wait_for(c, id, &end, err) < 0)
                return -1;
        if (end.type == HELPER_DONE)
                return judge_helper(end.status, code_if_slow, err);
        if (end.type != CELL_FAILED)
                return malformed(err);
        *err = end.outcome.failed;
        return -1;
}

int channel_show_tree(struct channel *c, int tree, int *ret_shown, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct channel_event shown = {0};
        const uint32_t id = ++c->last_id;

        put_u32(&payload, id);
        if (channel_ready(c, err) < 0 || send_request(c, CELL_SHOW, &payload, &tree, 1, err) < 0 ||
                wait_for(c, id, &shown, err) < 0)
                return -1;
        if (shown.type == CELL_SHOWN) {
                *ret_shown = shown.socket;
                return 0;
        }
        if (shown.type != CELL_FAILED)
                return malformed(err);
        *err = shown.outcome.failed;
        return -1;
}

/* --- judges --------------------------------------------------------------------------------- */

int channel_name_judge(struct channel *c, const char *const *envp, int key, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_list(&payload, envp);
        return send_request(c, JUDGE_OPERATOR, &payload, &key, key >= 0, err);
}

uint32_t channel_start_judge(struct channel *c, const char *const *argv, const char *const *envp,
        const int stdio[CELL_STDIO], int program, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int fds[CELL_STDIO + 1];

        put_u32(&payload, ++c->last_id);
        put_u8(&payload, envp == NULL);
        put_list(&payload, argv);
        put_list(&payload, envp ? envp : (const char *const[]){NULL});
        memcpy(fds, stdio, CELL_STDIO * sizeof *fds);
        fds[CELL_STDIO] = program;
        if (channel_ready(c, err) < 0 ||
                send_request(c, JUDGE_START, &payload, fds, CELL_STDIO + (program >= 0), err) < 0)
                return 0;
        return c->last_id;
}

int channel_judge_done(struct channel *c, uint32_t id, struct error *err)
{
        struct channel_event end = {0};

        if (wait_for(c, id, &end, err) < 0)
                return -1;
        if (end.type == HELPER_DONE)
                return (int)end.status;
        if (end.type != CELL_FAILED)
                return malformed(err);
        *err = end.outcome.failed;
        return -1;
}
