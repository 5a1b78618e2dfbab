/* Requests to compare outputs; see compare.h and messages.h. */
#include "compare.h"

#include "answer.h"

static void (*const comparisons[COMPARISON_COUNT])(struct compared *c, struct buffer *reason) = {
        [COMPARE_EXACT] = compare_exact,
        [COMPARE_TOKENS] = compare_tokens,
        [COMPARE_NUMERIC] = compare_numeric,
        [COMPARE_CONTAINS] = compare_contains,
};

static int malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "a request to compare is not as agreed");
}

static void add_bytes(struct buffer *to, struct reader *r)
{
        size_t len;
        const unsigned char *bytes = get_bytes(r, SCORE_MAX_PIECE, &len);

        buffer_add(to, bytes, len);
}

static bool has_pattern(const struct compared *c)
{
        return c->how == COMPARE_REGEX || c->how == COMPARE_CONTAINS;
}

static int begin(struct compared *c, struct reader *r, struct error *err)
{
        char abs[NUMBER_TEXT_SIZE], rel[NUMBER_TEXT_SIZE];

        buffer_clear(&c->expected);
        buffer_clear(&c->actual);
        buffer_clear(&c->wanted);
        c->how = get_u8(r);
        get_text(r, abs, sizeof abs);
        get_text(r, rel, sizeof rel);
        add_bytes(&c->wanted, r);
        if (!reader_done(r) || c->how >= COMPARISON_COUNT ||
                (!has_pattern(c) && c->wanted.len > 0) ||
                (c->how != COMPARE_NUMERIC && (*abs || *rel)) ||
                tolerance_set(&c->tolerance, abs, rel) < 0)
                return malformed(err);
        return 0;
}

static int add_piece(struct compared *c, struct buffer *to, struct reader *r, struct error *err)
{
        add_bytes(to, r);
        if (!reader_done(r) || (has_pattern(c) && c->expected.len > 0))
                return malformed(err);
        return 0;
}

static int finish(struct compared *c, struct buffer *out, struct error *err)
{
        _cleanup_buffer_ struct buffer reason = BUFFER_INIT;
        size_t at;

        if (!buffer_ok(&c->expected) || !buffer_ok(&c->actual) || !buffer_ok(&c->wanted))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (c->how != COMPARE_REGEX)
                comparisons[c->how](c, &reason);
        else if (compare_regex(c, &reason, err) < 0)
                return -1;
        /* A reason that was lost would be a match. */
        if (!buffer_ok(&reason))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        at = answer_begin(out, COMPARE_RESULT);
        put_u8(out, reason.len == 0);
        put_text(out, buffer_text(&reason));
        answer_end(out, at);
        return 0;
}

static int answer(
        struct compared *c, struct reader *r, size_t *count, struct buffer *out, struct error *err)
{
        struct reader payload;
        uint16_t type;
        int done = 0;

        while (done == 0 && answer_next(r, &type, &payload)) {
                bool ends = type == COMPARE_CASE || type == SCORE_END;

                if (type == SCORE_END && (payload.left > 0 || !reader_done(r)))
                        return malformed(err);
                if (ends && *count > 0 && finish(c, out, err) < 0)
                        return -1;
                if (type == SCORE_END)
                        return 0;
                *count += ends;
                if (ends)
                        done = begin(c, &payload, err);
                else if (*count > 0 && type == COMPARE_EXPECTED)
                        done = add_piece(c, &c->expected, &payload, err);
                else if (*count > 0 && type == COMPARE_ACTUAL)
                        done = add_piece(c, &c->actual, &payload, err);
                else
                        return malformed(err);
        }
        return done < 0 ? -1 : malformed(err);
}

int compare_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        struct reader r = reader_of(in->data, in->len);
        struct compared c;
        size_t count = 0;
        int result;

        c.expected = c.actual = c.wanted = (struct buffer)BUFFER_INIT;
        tolerance_init(&c.tolerance);
        result = answer(&c, &r, &count, out, err);
        if (result < 0 && count > 0)
                error_add(err, "case %zu", count);
        tolerance_free(&c.tolerance);
        buffer_free(&c.expected);
        buffer_free(&c.actual);
        buffer_free(&c.wanted);
        return result;
}
