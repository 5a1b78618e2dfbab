/* The broker; see broker.h, and sandbox/exec/messages.h for what is said. One connection is one
 * call:
 *
 *      suite's cell                runner                          supervisor
 *      assay-exec ── CALL_START ─► pipes ── their inner ends ────► a cell of the submission
 *                 ◄─ CALL_STARTED, their outer ends
 *                 ◄─ CALL_DONE ─────────────◄──────────────────── its end
 *
 * Its connection gone, a call is killed. */
#include "broker.h"

#include "call.h"
#include "fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A cell that several calls of one name share, one after the other. */
struct session {
        struct session *next;
        struct broker *broker;
        char name[CALL_MAX_SESSION + 1];
        struct running cell;
        struct limits limits; /* as its first call asked for */
        struct call *current; /* whose command runs; NULL: none does */
        struct error dead;    /* why there is no cell any more; code NONE: there is one */
};

struct call {
        struct call *next; /* the one that came before */
        struct broker *broker;
        struct watch peer;
        struct buffer said; /* until it is a whole request */
        struct call_request request;
        struct session *session; /* NULL: a fresh cell of its own */
        struct running cell;
        bool taken, begun; /* its request is there; its command runs */
};

static void forget(struct call *call)
{
        struct broker *b = call->broker;

        for (struct call **at = &b->first; *at; at = &(*at)->next)
                if (*at == call) {
                        *at = call->next;
                        break;
                }
        if (call->session && call->session->current == call)
                call->session->current = NULL;
        b->count--;
        b->listener.events = b->closing ? 0 : POLLIN;
        loop_remove(&b->cells->loop, &call->peer);
        fd_close(call->peer.fd);
        buffer_free(&call->said);
        call_request_free(&call->request);
        free(call);
}

/* Whether it arrives is the peer's concern. */
static void tell(struct call *call, enum call_message type, const struct buffer *payload,
        const int *fds, unsigned count)
{
        if (call->peer.fd >= 0)
                frame_send(call->peer.fd, (uint16_t)type, payload, fds, count, NULL);
}

static void refuse(struct call *call, const struct error *why)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_error(&payload, why);
        tell(call, CALL_FAILED, &payload, NULL, 0);
}

/* What was asked for was right, but there was no cell for it. */
static void fail(struct call *call, const struct error *why)
{
        const enum error_class class = code_info(why->code)->class;
        struct broker *b = call->broker;

        if ((class == CLASS_INFRA || class == CLASS_INTERNAL) && b->broken.code == CODE_NONE &&
                !b->closing)
                b->broken = *why;
        refuse(call, why);
}

/* --- a call --------------------------------------------------------------------------------- */

/* The end of its command; `alive`: its cell goes on, and what holds the pipes may too. */
static void done(struct call *call, const struct cell_outcome *o, bool alive)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        cell_usage_add(&call->broker->usage, o);
        put_u8(&payload, (uint8_t)o->end);
        put_u32(&payload, o->status);
        put_u16(&payload, (uint16_t)o->stopped);
        put_u64(&payload, o->cpu_us);
        put_u64(&payload, o->wall_us);
        put_u64(&payload, o->memory_peak);
        put_u8(&payload, alive);
        tell(call, CALL_DONE, &payload, NULL, 0);
        /* The next call will come: its cell is begun while the suite looks at what it got. */
        if (!alive && !call->broker->closing)
                channel_prepare_cell(call->broker->cells->channel, NULL);
        forget(call);
}

static void on_end(void *to, struct running *r)
{
        struct call *call = to;

        if (r->outcome.failed.code == CODE_NONE) {
                done(call, &r->outcome, false);
                return;
        }
        fail(call, &r->outcome.failed);
        forget(call);
}

/* The cell's ends in `order`, the peer's in `theirs`. */
static int make_pipes(struct cell_order *order, int theirs[CELL_STDIO], struct error *err)
{
        for (int i = 0; i < CELL_STDIO; i++) {
                const int inner = i == 0 ? 0 : 1;
                int ends[2];

                if (fd_pipe(ends, err) < 0)
                        return -1;
                order->stdio[i] = ends[inner];
                theirs[i] = ends[!inner];
        }
        return 0;
}

static int run_command(struct call *call, struct cell_order *order, struct error *err)
{
        struct session *s = call->session;

        if (!s) {
                call->cell = (struct running){.on_end = on_end, .to = call};
                return cells_start(call->broker->cells, &call->cell, order, NULL, err);
        }
        s->current = call;
        if (s->cell.id != 0)
                return channel_command(call->broker->cells->channel, s->cell.id,
                        &call->request.limits, order->argv, order->stdio, err);
        order->session = true;
        return cells_start(call->broker->cells, &s->cell, order, NULL, err);
}

static int start(struct call *call, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int theirs[CELL_STDIO] = {-EBADF, -EBADF, -EBADF};
        struct broker *b = call->broker;
        struct cell_order order;
        int r;

        submission_cell_order(b->submission, &order);
        order.limits = call->request.limits;
        order.argv = (const char *const *)call->request.command;
        for (int i = 0; i < CELL_STDIO; i++)
                order.stdio[i] = -EBADF;
        r = make_pipes(&order, theirs, err);
        if (r == 0)
                r = run_command(call, &order, err);
        if (r == 0) {
                call->begun = true;
                put_u64(&payload, call->request.limits.value[LIMIT_OUTPUT]);
                tell(call, CALL_STARTED, &payload, theirs, CELL_STDIO);
        }
        for (int i = 0; i < CELL_STDIO; i++) {
                fd_close(order.stdio[i]);
                fd_close(theirs[i]);
        }
        return r;
}

/* Without the supervisor nothing goes on; anything else is this call's alone. */
static int start_or_refuse(struct call *call, struct error *err)
{
        struct error why = {0};

        if (start(call, &why) == 0)
                return 0;
        if (why.code == CODE_INFRA_SUPERVISOR || call->begun) {
                *err = why;
                return -1;
        }
        fail(call, &why);
        forget(call);
        return 0;
}

/* --- sessions ------------------------------------------------------------------------------- */

/* The one that has waited longest for this session. */
static struct call *next_waiting(const struct broker *b, const struct session *s)
{
        struct call *oldest = NULL;

        for (struct call *call = b->first; call; call = call->next)
                if (call->session == s && !call->begun)
                        oldest = call;
        return oldest;
}

static void refuse_waiting(struct session *s)
{
        struct call *call;

        while ((call = next_waiting(s->broker, s))) {
                refuse(call, &s->dead);
                forget(call);
        }
}

static void session_paused(void *to, const struct cell_outcome *o)
{
        struct session *s = to;
        struct error why = {0};
        struct call *next;

        if (s->current)
                done(s->current, o, true);
        next = next_waiting(s->broker, s);
        if (next && start_or_refuse(next, &why) < 0) {
                s->dead = why;
                refuse_waiting(s);
        }
}

static void session_ended(void *to, struct running *r)
{
        const struct cell_outcome *o = &r->outcome;
        struct session *s = to;

        error_set(&s->dead, CODE_USAGE,
                "session %s was ended (%s): its files and processes are gone", s->name,
                o->failed.code != CODE_NONE ? o->failed.text
                : o->stopped != CODE_NONE   ? code_info(o->stopped)->name
                                            : "by itself");
        if (s->current && o->failed.code != CODE_NONE) {
                fail(s->current, &o->failed);
                forget(s->current);
        } else if (s->current)
                done(s->current, o, false);
        refuse_waiting(s);
}

static struct session *find_session(struct broker *b, const char *name, struct error *err)
{
        struct session *s = b->sessions;
        unsigned count = 0;

        for (; s && strcmp(s->name, name) != 0; s = s->next)
                count++;
        if (s)
                return s;
        if (count < BROKER_MAX_SESSIONS)
                s = calloc(1, sizeof *s);
        if (!s) {
                error_set(err, count < BROKER_MAX_SESSIONS ? CODE_INFRA_MEMORY : CODE_USAGE,
                        "more than %d sessions", BROKER_MAX_SESSIONS);
                return NULL;
        }
        s->broker = b;
        snprintf(s->name, sizeof s->name, "%s", name);
        s->cell = (struct running){.on_pause = session_paused, .on_end = session_ended, .to = s};
        s->next = b->sessions;
        b->sessions = s;
        return s;
}

/* Its turn may come later. What its cell has, its first call has said. */
static int join_session(struct call *call, struct error *why)
{
        const struct limits *asked = &call->request.limits;
        struct session *s = find_session(call->broker, call->request.session, why);

        if (!s)
                return -1;
        if (s->dead.code != CODE_NONE) {
                *why = s->dead;
                return -1;
        }
        if (s->cell.id == 0 && !s->current)
                s->limits = *asked;
        if (asked->value[LIMIT_MEMORY] != s->limits.value[LIMIT_MEMORY])
                return error_set(why, CODE_USAGE,
                        "memory: of session %s, which its first call has said", s->name);
        call->session = s;
        return 0;
}

/* Sessions give nothing back before the suite ends: what they leave too little of would be waited
 * for in vain. */
static int check_memory(const struct call *call, struct error *why)
{
        const struct broker *b = call->broker;
        uint64_t held = b->most.value[LIMIT_MEMORY];
        unsigned count = 0;

        if (call->session && call->session->cell.id != 0)
                return 0;
        for (const struct session *s = b->sessions; s; s = s->next)
                if (s->cell.id != 0 && !s->cell.ended) {
                        held += s->limits.value[LIMIT_MEMORY];
                        count++;
                }
        return held + call->request.limits.value[LIMIT_MEMORY] <= b->total_memory
                       ? 0
                       : error_set(why, CODE_USAGE,
                                 "memory: the suite and %u sessions leave too little of "
                                 "limits.total_memory",
                                 count);
}

static int begin(struct call *call, struct reader *r, struct error *err)
{
        struct error why = {0};

        call->taken = true;
        if (call_decode(r, &call->broker->submission->limits, &call->broker->most, &call->request,
                    &why) < 0 ||
                (*call->request.session && join_session(call, &why) < 0) ||
                check_memory(call, &why) < 0) {
                refuse(call, &why);
                forget(call);
                return 0;
        }
        if (call->session && call->session->current)
                return 0;
        return start_or_refuse(call, err);
}

/* --- what its peer says --------------------------------------------------------------------- */

static struct running *cell_of(struct call *call)
{
        return call->session ? &call->session->cell : &call->cell;
}

/* The peer is gone, or talks nonsense: so is its command, and the session that it is in. */
static int hang_up(struct call *call, struct error *err)
{
        if (!call->begun) {
                forget(call);
                return 0;
        }
        loop_remove(&call->broker->cells->loop, &call->peer);
        call->peer.fd = fd_close(call->peer.fd);
        return cells_stop(cell_of(call), CODE_INTERRUPTED, err);
}

static int take_frame(struct call *call, uint16_t type, struct reader *payload, struct error *err)
{
        if (type == CALL_START && !call->taken)
                return begin(call, payload, err);
        if (type == CALL_STOP && call->begun && reader_done(payload))
                return cells_stop(cell_of(call), CODE_LIMIT_OUTPUT, err);
        return hang_up(call, err);
}

/* Descriptors that come along are closed by the kernel: nobody asks for them. */
static int hear(void *to, short seen, struct error *err)
{
        struct call *call = to;
        unsigned char *room = buffer_reserve(&call->said, 16 << 10);
        struct reader payload;
        uint16_t type = 0;
        ssize_t n;
        int whole;

        (void)seen;
        n = room ? recv(call->peer.fd, room, 16 << 10, MSG_DONTWAIT) : 0;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n <= 0)
                return hang_up(call, err);
        buffer_advance(&call->said, (size_t)n);
        whole = frame_peek(&call->said, CALL_MAX_REQUEST, &type, &payload);
        if (whole == 0)
                return 0;
        /* More than one frame at a time is nothing that assay-exec says. */
        if (whole < 0 || payload.at + payload.left != call->said.data + call->said.len)
                return hang_up(call, err);
        buffer_clear(&call->said);
        return take_frame(call, type, &payload, err);
}

static int add_call(struct broker *b, int peer, struct error *err)
{
        struct call *call = calloc(1, sizeof *call);

        if (!call)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        *call = (struct call){.broker = b, .said = BUFFER_INIT};
        call->peer = (struct watch){peer, POLLIN, hear, call};
        if (loop_add(&b->cells->loop, &call->peer, err) < 0) {
                free(call);
                return -1;
        }
        call->next = b->first;
        b->first = call;
        if (++b->count == BROKER_MAX_CALLS)
                b->listener.events = 0;
        return 0;
}

/* A peer that is gone again, or for which there is no descriptor now, is no reason to end. */
static int accept_call(void *to, short seen, struct error *err)
{
        struct broker *b = to;
        int peer = accept4(b->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        (void)seen;
        if (peer < 0)
                return 0;
        if (add_call(b, peer, err) == 0)
                return 0;
        fd_close(peer);
        return -1;
}

int broker_open(struct broker *b, int socket, struct error *err)
{
        b->listener = (struct watch){socket, POLLIN, accept_call, b};
        fcntl(socket, F_SETFL, O_NONBLOCK);
        if (loop_add(&b->cells->loop, &b->listener, err) == 0)
                return 0;
        b->listener.fd = fd_close(socket);
        return -1;
}

static bool has_cells(const struct broker *b)
{
        for (const struct session *s = b->sessions; s; s = s->next)
                if (s->cell.id != 0 && !s->cell.ended)
                        return true;
        return false;
}

int broker_close(struct broker *b, struct error *err)
{
        b->closing = true;
        loop_remove(&b->cells->loop, &b->listener);
        b->listener.fd = fd_close(b->listener.fd);
        for (struct call *call = b->first, *next; call; call = next) {
                next = call->next;
                if (hang_up(call, err) < 0)
                        return -1;
        }
        for (struct session *s = b->sessions; s; s = s->next)
                if (s->cell.id != 0 && cells_stop(&s->cell, CODE_INTERRUPTED, err) < 0)
                        return -1;
        while (b->first || has_cells(b))
                if (cells_turn(b->cells, err) < 0)
                        return -1;
        while (b->sessions) {
                struct session *s = b->sessions;

                b->sessions = s->next;
                free(s);
        }
        return 0;
}
