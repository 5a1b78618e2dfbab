/* Frames in a buffer; see answer.h. */
#include "answer.h"

#include "number.h"

#include "text.h"

enum { HEADER_SIZE = 8 };

size_t answer_begin(struct buffer *out, enum score_message type)
{
        size_t at = out->len;

        put_u32(out, 0);
        put_u16(out, (uint16_t)type);
        put_u16(out, 0);
        return at;
}

void answer_end(struct buffer *out, size_t at)
{
        size_t len = out->len - at - HEADER_SIZE;

        if (!buffer_ok(out))
                return;
        if (len > FRAME_MAX_PAYLOAD) {
                out->failed = true;
                return;
        }
        for (unsigned i = 0; i < 4; i++)
                out->data[at + i] = (unsigned char)(len >> (8 * i));
}

void answer_empty(struct buffer *out, enum score_message type)
{
        answer_end(out, answer_begin(out, type));
}

void answer_error(struct buffer *out, const struct error *err)
{
        answer_error_as(out, SCORE_ERROR, err);
}

void answer_error_as(struct buffer *out, enum score_message type, const struct error *err)
{
        size_t at = answer_begin(out, type);

        put_error(out, err);
        answer_end(out, at);
}

void answer_problem(
        struct buffer *out, unsigned line, unsigned column, const char *key, const char *text)
{
        size_t at = answer_begin(out, TASK_PROBLEM);

        put_u32(out, line);
        put_u32(out, column);
        put_text(out, key);
        put_text(out, text);
        answer_end(out, at);
}

void put_number(struct buffer *out, const char *text)
{
        char plain[NUMBER_PLAIN_SIZE] = "";

        if (*text != '\0')
                number_plain(text, plain, sizeof plain);
        put_text(out, plain);
}

void put_cut(struct buffer *out, const char *text, size_t most)
{
        put_bytes(out, text, text_cut(text, strlen(text), most));
}

void put_exact(struct buffer *out, const mpq_t x)
{
        char *text = mpq_get_str(NULL, 10, x);

        put_text(out, text);
        free(text);
}

void put_rounded(struct buffer *out, const mpq_t x, unsigned places)
{
        char text[SCORE_MAX_NAME];
        mpq_t shown;

        mpq_init(shown);
        mpq_set(shown, x);
        number_round(shown, places);
        number_format(shown, places, text, sizeof text);
        put_text(out, text);
        mpq_clear(shown);
}

void answer_warning(struct buffer *out, const char *field, const char *text)
{
        size_t at = answer_begin(out, RESULT_WARNING);

        put_text(out, field);
        put_text(out, text);
        answer_end(out, at);
}

bool answer_next(struct reader *r, uint16_t *ret_type, struct reader *ret_payload)
{
        size_t len;

        if (r->left == 0 && !r->bad)
                return false;
        len = get_u32(r);
        *ret_type = get_u16(r);
        if (get_u16(r) != 0 || len > FRAME_MAX_PAYLOAD || len > r->left)
                r->bad = true;
        if (r->bad)
                return false;
        *ret_payload = reader_of(r->at, len);
        r->at += len;
        r->left -= len;
        return true;
}
