/* An answer that ends a match; see matching.h. */
#include "matching.h"

#include "fd.h"
#include "grade_rows.h"
#include "input.h"

#include <unistd.h>

static bool are_digits(const char *text)
{
        return strlen(text) == DIGEST_SIZE - 1 &&
               strspn(text, "0123456789abcdef") == DIGEST_SIZE - 1;
}

int matching_read_digits(const char *option, const char *given, bool inline_too,
        char ret[DIGEST_SIZE], struct error *err)
{
        const bool here = inline_too && are_digits(given);
        _cleanup_fd_ int fd = here ? -EBADF : input_open_file(given);
        char text[DIGEST_SIZE + 2] = "";
        const ssize_t n = here ? 0 : fd < 0 ? -1 : read(fd, text, sizeof text - 1);

        if (n < 0)
                return error_errno(err, CODE_USAGE, errno, "%s %s", option, given);
        if (n == DIGEST_SIZE && text[n - 1] == '\n')
                text[n - 1] = '\0';
        if (!are_digits(here ? given : text))
                return error_set(err, CODE_USAGE,
                        "%s %s: must have 64 digits of 0-9a-f on one line", option, given);
        memcpy(ret, here ? given : text, DIGEST_SIZE);
        return 0;
}

/* All of it, so that the store, which has the keys, sees who signed it. */
static int send_trajectory(struct evaluation *e, struct error *err)
{
        unsigned char chunk[64 << 10];
        uint64_t bytes;
        ssize_t n;

        if (e->trajectory < 0)
                return 0;
        if (input_settle(&e->trajectory, SCORE_MAX_RESULT, &bytes, err) < 0)
                return error_add(err, "the trajectory");
        if (bytes > SCORE_MAX_RESULT)
                return error_set(err, CODE_SCORE_ANSWER, "the trajectory has more than %d bytes",
                        SCORE_MAX_RESULT);
        for (off_t at = 0; (n = pread(e->trajectory, chunk, sizeof chunk, at)) != 0; at += n) {
                _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

                if (n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "the trajectory");
                put_bytes(&payload, chunk, (size_t)n);
                if (store_channel_ask(&e->store, MATCH_TRAJECTORY, &payload, err) < 0)
                        return -1;
        }
        if (bytes == 0) {
                _cleanup_buffer_ struct buffer nothing = BUFFER_INIT;

                put_bytes(&nothing, "", 0);
                return store_channel_ask(&e->store, MATCH_TRAJECTORY, &nothing, err);
        }
        return 0;
}

static int take_times(struct evaluation *e, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        struct match_clock *m = &e->match;

        get_text(&r, m->started, sizeof m->started);
        get_text(&r, m->submitted, sizeof m->submitted);
        get_text(&r, m->used, sizeof m->used);
        m->signature = get_u8(&r);
        m->entered = f->type == MATCH_ENTERED && reader_done(&r) && scorer_is_decimal(m->started) &&
                     scorer_is_decimal(m->submitted) && scorer_is_decimal(m->used) &&
                     *m->used != '-' && m->signature < SIGNATURE_COUNT;
        return m->entered ? 0 : store_channel_malformed(err);
}

/* What somebody else than its harness signed is no trajectory. */
static void drop_trajectory(struct evaluation *e)
{
        static const char why[] = "it is not signed by the harness";
        struct trajectory_verdict *t = &e->dimensions.trajectory;

        e->trajectory = fd_close(e->trajectory);
        *t = (struct trajectory_verdict){.given = true, .why = strdup(why)};
        grade_note(e, "trajectory", why);
}

/* A directory may change until it was copied. */
int matching_arrive(struct evaluation *e, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return e->options->match && !e->submission.is_directory
                       ? store_channel_ask(&e->store, MATCH_ARRIVED, &nothing, err)
                       : 0;
}

int matching_enter(struct evaluation *e, struct error *err)
{
        const struct match_order *m = e->options->match;
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (!m)
                return 0;
        if (send_trajectory(e, err) < 0)
                return -1;
        put_text(&payload, e->task.name);
        put_text(&payload, m->task_sha256);
        put_text(&payload, e->submission.sha256);
        put_text(&payload, m->signature);
        if (store_channel_ask(&e->store, MATCH_ENTER, &payload, err) < 0 ||
                store_channel_wait(&e->store, err) < 0 ||
                store_channel_next(&e->store, &f, err) < 0 || take_times(e, &f, err) < 0)
                return -1;
        if (e->match.signature == SIGNATURE_BAD)
                drop_trajectory(e);
        return 0;
}

int matching_say_valid(struct evaluation *e, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        if (!e->options->match)
                return 0;
        put_u8(&payload, e->dimensions.trajectory.valid);
        return store_channel_ask(&e->store, MATCH_VALID, &payload, err);
}

int matching_ask(struct evaluation *e, struct store_values *ret, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return store_channel_ask(&e->store, MATCH_SHOW, &nothing, err) < 0
                       ? -1
                       : store_values_only(&e->store, PLAYED_COLUMNS, ret, err);
}
