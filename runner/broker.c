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

#include "fd.h"
#include "sandbox/exec/messages.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALL_LIMITS = 4 };

static const enum limit call_limits[CALL_LIMITS] = {
        LIMIT_WALL, LIMIT_CPU, LIMIT_MEMORY, LIMIT_OUTPUT};

struct call {
        struct call *next;
        struct broker *broker;
        struct watch peer;
        struct buffer said; /* until it is a whole request */
        struct running cell;
        bool begun, too_much;
};

static void forget(struct call *call)
{
        struct broker *b = call->broker;

        for (struct call **at = &b->first; *at; at = &(*at)->next)
                if (*at == call) {
                        *at = call->next;
                        break;
                }
        b->count--;
        b->listener.events = b->closing ? 0 : POLLIN;
        loop_remove(&b->cells->loop, &call->peer);
        fd_close(call->peer.fd);
        buffer_free(&call->said);
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

/* --- a call --------------------------------------------------------------------------------- */

struct call_request {
        struct limits limits;
        char session[CALL_MAX_SESSION + 1];
        char **command; /* NULL at the end */
};

static void request_free(struct call_request *q)
{
        for (char **word = q->command; word && *word; word++)
                free(*word);
        free(q->command);
}

static int take_limits(
        const struct broker *b, struct reader *r, struct call_request *q, struct error *err)
{
        int result = 0;

        q->limits = b->submission->limits;
        for (unsigned i = 0; i < CALL_LIMITS; i++) {
                const struct limit_info *info = limit_info(call_limits[i]);
                uint64_t value = get_u64(r), most = b->most.value[call_limits[i]];
                char text[32];

                if (value == 0 || result < 0)
                        continue;
                limit_format(call_limits[i], most, text, sizeof text);
                if (value < info->least || value > most)
                        result = error_set(err, CODE_USAGE,
                                "%s: more than the suite itself has (%s), or too little to run",
                                info->name, text);
                q->limits.value[call_limits[i]] = value;
        }
        return result;
}

static int decode(
        const struct broker *b, struct reader *r, struct call_request *ret, struct error *err)
{
        uint32_t count;
        int result = take_limits(b, r, ret, err);

        get_text(r, ret->session, sizeof ret->session);
        count = get_u32(r);
        r->bad |= count < 1 || count > CELL_MAX_ARGUMENTS;
        if (!r->bad)
                ret->command = calloc(count + 1, sizeof *ret->command);
        for (uint32_t i = 0; ret->command && i < count && !r->bad; i++)
                ret->command[i] = get_new_text(r, CELL_MAX_ARGUMENT);
        if (!ret->command || !reader_done(r))
                return error_set(err, CODE_INTERNAL_FRAME, "a call is malformed");
        return result;
}

static void on_end(void *to, struct running *r)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        const struct cell_outcome *o = &r->outcome; /* which holds no descriptor */
        struct call *call = to;

        if (o->failed.code != CODE_NONE) {
                refuse(call, &o->failed);
                forget(call);
                return;
        }
        cell_usage_add(&call->broker->usage, o);
        put_u8(&payload, (uint8_t)o->end);
        put_u32(&payload, o->status);
        put_u16(&payload, (uint16_t)o->stopped);
        put_u64(&payload, o->cpu_us);
        put_u64(&payload, o->wall_us);
        put_u64(&payload, o->memory_peak);
        tell(call, CALL_DONE, &payload, NULL, 0);
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

static int start(struct call *call, const struct call_request *q, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int theirs[CELL_STDIO] = {-EBADF, -EBADF, -EBADF};
        struct broker *b = call->broker;
        struct cell_order order;
        int r;

        submission_cell_order(b->submission, &order);
        order.limits = q->limits;
        order.argv = (const char *const *)q->command;
        for (int i = 0; i < CELL_STDIO; i++)
                order.stdio[i] = -EBADF;
        call->cell = (struct running){.on_end = on_end, .to = call};
        r = make_pipes(&order, theirs, err);
        if (r == 0)
                r = cells_start(b->cells, &call->cell, &order, NULL, err);
        if (r == 0) {
                put_u64(&payload, q->limits.value[LIMIT_OUTPUT]);
                tell(call, CALL_STARTED, &payload, theirs, CELL_STDIO);
                call->begun = true;
                /* The next one will come. */
                r = channel_prepare_cell(b->cells->channel, err);
        }
        for (int i = 0; i < CELL_STDIO; i++) {
                fd_close(order.stdio[i]);
                fd_close(theirs[i]);
        }
        return r;
}

static int begin(struct call *call, struct reader *r, struct error *err)
{
        struct call_request q = {.command = NULL};
        struct error why = {0};
        int result = 0;

        if (decode(call->broker, r, &q, &why) < 0 || start(call, &q, &why) < 0) {
                /* Without the supervisor nothing goes on. */
                if (why.code == CODE_INFRA_SUPERVISOR || call->begun) {
                        *err = why;
                        result = -1;
                } else {
                        refuse(call, &why);
                        forget(call);
                }
        }
        request_free(&q);
        return result;
}

/* --- what its peer says --------------------------------------------------------------------- */

/* The peer is gone, or talks nonsense: so is its command. */
static int hang_up(struct call *call, struct error *err)
{
        if (!call->begun) {
                forget(call);
                return 0;
        }
        loop_remove(&call->broker->cells->loop, &call->peer);
        call->peer.fd = fd_close(call->peer.fd);
        return cells_stop(&call->cell, CODE_INTERRUPTED, err);
}

static int take_frame(struct call *call, uint16_t type, struct reader *payload, struct error *err)
{
        if (type == CALL_START && !call->begun)
                return begin(call, payload, err);
        if (type == CALL_STOP && call->begun && reader_done(payload))
                return cells_stop(&call->cell, CODE_LIMIT_OUTPUT, err);
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
        while (b->first)
                if (cells_turn(b->cells, err) < 0)
                        return -1;
        return 0;
}
