/* What the scorer said once, kept and taken again: runner/scorer. */
#include "scorer.h"

#include <criterion/criterion.h>
#include <string.h>

struct heard {
        unsigned types[4];
        char texts[4][16];
        unsigned count;
        bool leaves; /* a part of each frame */
};

static int hear(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct heard *h = to;

        if (h->count == 4)
                return error_set(err, CODE_INTERNAL_FRAME, "one too many");
        h->types[h->count] = type;
        if (!h->leaves)
                get_text(r, h->texts[h->count], sizeof h->texts[h->count]);
        h->count++;
        return 0;
}

static void say(struct buffer *answer, unsigned type, const char *text)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct error err = {0};
        struct reader r;

        put_text(&payload, text);
        r = reader_of(payload.data, payload.len);
        cr_assert_eq(scorer_record(answer, type, &r, &err), 0);
        cr_assert(reader_done(&r), "all of a frame is kept");
}

Test(scorer, an_answer_that_was_kept_is_taken_as_it_came)
{
        _cleanup_buffer_ struct buffer answer = BUFFER_INIT;
        struct heard h = {.count = 0};
        struct error err = {0};

        say(&answer, 7, "one");
        say(&answer, 513, "");
        say(&answer, 7, "three");
        cr_assert_eq(scorer_replay(&answer, hear, &h, &err), 0);
        cr_expect_eq(h.count, 3);
        cr_expect_eq(h.types[1], 513);
        cr_expect_str_eq(h.texts[0], "one");
        cr_expect_str_eq(h.texts[1], "");
        cr_expect_str_eq(h.texts[2], "three");
}

Test(scorer, a_part_of_one_is_refused_wherever_it_ends)
{
        _cleanup_buffer_ struct buffer answer = BUFFER_INIT;
        const size_t first = 2 + 4 + 4 + 3; /* type, length, and a text */

        say(&answer, 7, "one");
        say(&answer, 8, "two");
        for (size_t len = 0; len < answer.len; len++) {
                const struct buffer part = {.data = answer.data, .len = len};
                struct heard h = {.count = 0};
                struct error err = {0};
                const bool whole = len == 0 || len == first;

                cr_expect_eq(
                        scorer_replay(&part, hear, &h, &err), whole ? 0 : -1, "%zu bytes", len);
                cr_expect_eq(err.code, whole ? CODE_NONE : CODE_INTERNAL_FRAME, "%zu bytes", len);
        }
}

Test(scorer, what_is_not_taken_of_a_frame_is_refused)
{
        _cleanup_buffer_ struct buffer answer = BUFFER_INIT;
        struct heard h = {.leaves = true};
        struct error err = {0};

        say(&answer, 7, "one");
        cr_expect_eq(scorer_replay(&answer, hear, &h, &err), -1);
        cr_expect_eq(err.code, CODE_INTERNAL_FRAME);
}
