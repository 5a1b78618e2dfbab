/* JSON values of others; see value.h. */
#include "value.h"

#include "scorer.h"

#include <stdlib.h>

struct value_reader {
        struct json_writer *w;
        struct reader r;
        bool object[SCORE_MAX_DEPTH + 2]; /* what is open, from 1 */
        unsigned depth;
        char *key; /* of the value that comes; owned below the outermost */
};

/* As JSON has it: what may come behind the point is bounded, so what follows it must be an
 * exponent. */
static bool is_number(const char *text)
{
        char mantissa[SCORE_MAX_PLAIN + 1];
        const size_t len = strcspn(text, "eE");
        const char *exponent = text + len;

        if (len >= sizeof mantissa)
                return false;
        memcpy(mantissa, text, len);
        mantissa[len] = '\0';
        if (!scorer_is_decimal(mantissa))
                return false;
        if (!*exponent)
                return true;
        exponent += 1 + (exponent[1] == '+' || exponent[1] == '-');
        return *exponent && exponent[strspn(exponent, "0123456789")] == '\0';
}

static void write_scalar(struct value_reader *v, const char *key, unsigned token)
{
        if (token == VALUE_TEXT) {
                size_t len;
                const unsigned char *bytes = get_bytes(&v->r, SCORE_MAX_RESULT, &len);

                if (!v->r.bad)
                        json_bytes(v->w, key, bytes, len);
        } else if (token == VALUE_NUMBER) {
                char text[SCORE_MAX_NAME];

                get_text(&v->r, text, sizeof text);
                if (v->r.bad || !is_number(text))
                        v->r.bad = true;
                else
                        json_decimal(v->w, key, text);
        } else if (token == VALUE_NULL)
                json_add_null(v->w, key);
        else if (token == VALUE_TRUE || token == VALUE_FALSE)
                json_bool(v->w, key, token == VALUE_TRUE);
        else
                v->r.bad = true;
}

static void open_level(struct value_reader *v, const char *key, bool object)
{
        if (v->depth == SCORE_MAX_DEPTH) {
                v->r.bad = true;
                return;
        }
        if (object)
                json_open_object(v->w, key);
        else
                json_open_array(v->w, key);
        v->object[++v->depth] = object;
}

/* The next token; `outer` is the key of the whole. */
static void step(struct value_reader *v, const char *outer)
{
        const bool in_object = v->depth > 0 && v->object[v->depth];
        const unsigned token = get_u8(&v->r);
        char *key = v->key;

        if (token == VALUE_END && v->depth > 0 && !key) {
                json_close(v->w);
                v->depth--;
                return;
        }
        if (token == VALUE_KEY && in_object && !key) {
                v->key = get_new_text(&v->r, SCORE_MAX_RESULT);
                return;
        }
        v->r.bad |= in_object != (key != NULL);
        if (!v->r.bad && (token == VALUE_OBJECT || token == VALUE_ARRAY))
                open_level(v, v->depth == 0 ? outer : key, token == VALUE_OBJECT);
        else if (!v->r.bad)
                write_scalar(v, v->depth == 0 ? outer : key, token);
        free(key);
        v->key = NULL;
}

bool value_write(struct json_writer *w, const char *key, const struct buffer *tokens)
{
        struct value_reader v = {.w = w, .r = reader_of(tokens->data, tokens->len)};

        do
                step(&v, key);
        while (!v.r.bad && (v.depth > 0 || v.key));
        free(v.key);
        return reader_done(&v.r) && buffer_ok(w->out);
}

bool value_text(const struct buffer *tokens, struct buffer *out)
{
        struct json_writer w = {.out = out, .compact = true};

        return value_write(&w, NULL, tokens);
}
