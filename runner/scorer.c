/* Asking assay-score; see scorer.h. It is not trusted: it reads what outsiders wrote, and may have
 * been taken over by it. All it can do is to give wrong numbers for its own input. */
#include "scorer.h"

#include "fd.h"
#include "text.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_FRAMES = 300000, MAX_BYTES = 64 << 20, WAIT_SECONDS = 60 };

/* Whose fault an answer may say that its input is. */
static const enum error_class blamed[HELPER_MODE_COUNT] = {
        [HELPER_TASK] = CLASS_USAGE,
        [HELPER_RESULT_SCORE_JSON] = CLASS_SUITE,
        [HELPER_VERDICT] = CLASS_JUDGE,
};

char *scorer_text(struct reader *r, size_t max)
{
        char *text = get_new_text(r, max);

        if (text && !text_utf8_valid(text, strlen(text)))
                r->bad = true;
        return text;
}

bool scorer_is_decimal(const char *text)
{
        size_t whole, fraction = 0;

        text += *text == '-';
        whole = strspn(text, "0123456789");
        if (whole > 1 && *text == '0')
                return false;
        text += whole;
        if (*text == '.') {
                fraction = strspn(text + 1, "0123456789");
                if (fraction == 0)
                        return false;
                text += 1 + fraction;
        }
        return whole > 0 && *text == '\0';
}

bool scorer_is_score(const char *text)
{
        size_t whole = strspn(text, "0123456789");

        if (!scorer_is_decimal(text) || *text == '-' || strlen(text) > SCORE_MAX_NAME / 2)
                return false;
        return whole < 3 || (strncmp(text, "100", whole) == 0 && whole == 3 &&
                                    strspn(text + whole, ".0") == strlen(text + whole));
}

static int malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent a malformed answer");
}

static int take_error(enum helper_mode mode, struct reader *r, struct error *err)
{
        enum error_class class;

        get_error(r, err);
        if (!reader_done(r))
                return malformed(err);
        class = code_info(err->code)->class;
        if (class != blamed[mode] && class != CLASS_INTERNAL && err->code != CODE_INFRA_MEMORY)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer blamed the wrong party");
        return -1;
}

/* Nothing may follow the end of an answer. */
static int take_end(int socket, struct reader *r, struct error *err)
{
        char byte;

        return reader_done(r) && read(socket, &byte, 1) == 0 ? 0 : malformed(err);
}

static int take_answer(
        int socket, enum helper_mode mode, scorer_take take, void *to, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        size_t bytes = 0;

        for (unsigned count = 0; count < MAX_FRAMES; count++) {
                struct reader r;
                int got = frame_receive(socket, &f, 64 << 10, 0, err);

                if (got < 0)
                        return -1;
                if (got == 0)
                        return error_set(
                                err, CODE_INTERNAL_HELPER, "the scorer ended without an answer");
                r = reader_of(f.payload.data, f.payload.len);
                bytes += f.payload.len;
                if (f.type == SCORE_END)
                        return take_end(socket, &r, err);
                if (f.type == SCORE_ERROR)
                        return take_error(mode, &r, err);
                if (bytes > MAX_BYTES)
                        break;
                if (take(to, f.type, &r, err) < 0)
                        return -1;
                if (!reader_done(&r))
                        return malformed(err);
        }
        return malformed(err);
}

int scorer_ask(struct channel *c, enum helper_mode mode, int input, scorer_take take, void *to,
        struct error *err)
{
        const struct timeval patience = {.tv_sec = WAIT_SECONDS};
        struct error helper_err = {0};
        int pair[2], fds[2], r;
        uint32_t id;

        if (fd_socketpair(pair, err) < 0)
                return -1;
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        fds[0] = input;
        fds[1] = pair[1];
        id = channel_start_helper(c, HELPER_SCORE, mode, fds, 2, err);
        fd_close(pair[1]);
        if (id == 0) {
                fd_close(pair[0]);
                return -1;
        }
        r = take_answer(pair[0], mode, take, to, err);
        fd_close(pair[0]);
        /* How it ended says more than that its answer stopped short. */
        if (channel_helper_done(c, id, CODE_INTERNAL_HELPER, &helper_err) < 0 &&
                (r == 0 || err->code == CODE_INTERNAL_HELPER)) {
                *err = helper_err;
                return -1;
        }
        return r;
}
