/* Questions to helper programs; see helper.h. */
#include "helper.h"

#include "clock.h"
#include "fd.h"
#include "images/messages.h"
#include "interrupt.h"

#include <sys/socket.h>
#include <sys/time.h>

enum {
        MAX_FRAMES = 300000,
        MAX_FRAME = UNPACK_MAX_ANSWER,
        MAX_BYTES = 64 << 20,
        PATIENCE = 120, /* seconds */
        MID_FRAME_SECONDS = 5,
};

static const char *const names[HELPER_COUNT] = {
        [HELPER_UNPACK] = "the unpacker",
        [HELPER_SCORE] = "the scorer",
};

static int malformed(const struct helper_question *q, struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "%s sent a malformed answer", names[q->which]);
}

static int take_error(const struct helper_question *q, struct reader *r, struct error *err)
{
        enum error_class class;

        get_error(r, err);
        if (!reader_done(r))
                return malformed(q, err);
        class = code_info(err->code)->class;
        if (!(q->blamed & 1U << class) && class != CLASS_INFRA && class != CLASS_INTERNAL)
                return error_set(
                        err, CODE_INTERNAL_FRAME, "%s blamed the wrong party", names[q->which]);
        return -1;
}

static unsigned patience(const struct helper_question *q)
{
        return q->patience > 0 ? q->patience : PATIENCE;
}

/* Until there is something to read: 0, or -1 after a signal or when the time is up. */
static int wait_for_answer(
        const struct helper_question *q, int socket, uint64_t deadline, struct error *err)
{
        for (;;) {
                struct pollfd fd = {.fd = socket, .events = POLLIN};
                uint64_t now = clock_us();
                int r = now < deadline ? interrupt_poll(&fd, 1, (int)((deadline - now) / 1000) + 1)
                                       : 0;

                if (interrupt_came() && !q->must_finish)
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (r == 0)
                        return error_set(err, CODE_INFRA_IO, "%s did not answer within %d s",
                                names[q->which], (int)patience(q));
                if (r > 0)
                        return 0;
        }
}

static int take_answer(const struct helper_question *q, int socket, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        uint64_t deadline = clock_us() + patience(q) * 1000000ULL;
        uint64_t most = q->most > 0 ? q->most : MAX_BYTES, bytes = 0;

        for (unsigned count = 0; count < MAX_FRAMES && bytes < most; count++) {
                struct reader r;
                int got;

                if (wait_for_answer(q, socket, deadline, err) < 0)
                        return -1;
                f.patience_us = MID_FRAME_SECONDS * 1000000ULL;
                got = frame_receive(socket, &f, MAX_FRAME, 0, err);
                if (got < 0)
                        return -1;
                if (got == 0)
                        return error_set(err, CODE_INTERNAL_HELPER, "%s ended without an answer",
                                names[q->which]);
                bytes += f.payload.len;
                r = reader_of(f.payload.data, f.payload.len);
                if (f.type == q->error_type)
                        return take_error(q, &r, err);
                got = q->take(q->to, f.type, &r, err);
                if (got < 0)
                        return -1;
                if (!reader_done(&r))
                        return malformed(q, err);
                if (got > 0)
                        return 0;
        }
        return malformed(q, err);
}

int helper_begin(struct channel *c, const struct helper_question *q, struct helper_asked *ret,
        struct error *err)
{
        const struct timeval mid_frame = {.tv_sec = MID_FRAME_SECONDS};
        int pair[2], fds[3];

        *ret = (struct helper_asked){.question = *q, .socket = -EBADF};
        if (fd_socketpair(pair, err) < 0)
                return -1;
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &mid_frame, sizeof mid_frame);
        fds[0] = q->input;
        fds[1] = pair[1];
        fds[2] = q->tree;
        ret->id = channel_start_helper(c, q->which, q->mode, fds, q->tree >= 0 ? 3 : 2, err);
        fd_close(pair[1]);
        if (ret->id == 0) {
                fd_close(pair[0]);
                return -1;
        }
        ret->socket = pair[0];
        /* One that could not even lock itself in says why and hears nothing: listen all the same.
         */
        if (q->request &&
                frame_send(ret->socket, (uint16_t)q->request, q->payload, NULL, 0, NULL) < 0)
                shutdown(ret->socket, SHUT_WR);
        return 0;
}

/* Its answer was `r` and `err`; how it ended may say more. */
static int end(struct channel *c, struct helper_asked *a, int r, struct error *err)
{
        const struct helper_question *q = &a->question;
        struct error ended = {0};

        a->socket = fd_close(a->socket);
        if (r < 0 && (err->code == CODE_INTERRUPTED || err->code == CODE_INFRA_IO))
                channel_kill(c, a->id, err->code, NULL);
        if (channel_helper_done(c, a->id, q->too_slow, &ended) == 0)
                return r;
        /* How it ended says more than that its answer stopped short. */
        if (r == 0 || err->code == CODE_INTERNAL_HELPER || err->code == CODE_INTERNAL_FRAME) {
                *err = ended;
                return error_add(err, "%s", names[q->which]);
        }
        return -1;
}

int helper_finish(struct channel *c, struct helper_asked *a, struct error *err)
{
        return end(c, a, take_answer(&a->question, a->socket, err), err);
}

void helper_give_up(struct channel *c, struct helper_asked *a)
{
        struct error why = {.code = CODE_INTERRUPTED};

        end(c, a, -1, &why);
}

int helper_ask(struct channel *c, const struct helper_question *q, struct error *err)
{
        struct helper_asked asked;
        struct error own = {0};
        int r;

        if (!err)
                err = &own;
        if (helper_begin(c, q, &asked, err) < 0)
                return -1;
        r = q->meanwhile ? q->meanwhile(q->to, err) : 0;
        return r == 0 ? helper_finish(c, &asked, err) : end(c, &asked, r, err);
}
