/* JSON values of others: whatever the stream says, what is written of it is JSON, or refused. */
#include "evaluators/messages.h"
#include "frame.h"
#include "value.h"

#include <criterion/criterion.h>

/* "{", "[", "]" (an end), "k…,", "s…,", "n…,", "t", "f", "z"; anything else is a byte as it is. */
static void make(const char *text, struct buffer *ret)
{
        static const char letters[] = "{[]ksntfz";

        while (*text) {
                const char *letter = strchr(letters, *text++);
                const size_t len = strcspn(text, ",");

                if (!letter) {
                        put_u8(ret, 200);
                        continue;
                }
                put_u8(ret, (uint8_t)(letter - letters));
                if (!strchr("ksn", *letter))
                        continue;
                put_bytes(ret, text, len);
                text += len + (text[len] == ',');
        }
}

Test(runner_value, streams)
{
        static const struct {
                const char *stream, *want; /* NULL: it is refused */
        } rows[] = {
                {"t", "true"},
                {"n-1.5e+10,", "-1.5e+10"},
                {"sa\"\n\x1b,", "\"a\\\"\\n\\u001b\""},
                {"s\xff,", "\"\xef\xbf\xbd\""},
                {"{]", "{}"},
                {"{ka,[n1,z{]]kb\",f]", "{\"a\":[1,null,{}],\"b\\\"\":false}"},
                {"", NULL},
                {"]", NULL},
                {"{", NULL},
                {"{t]", NULL},
                {"{ka,]", NULL},
                {"{ka,kb,t]", NULL},
                {"ka,t", NULL},
                {"[ka,t]", NULL},
                {"tt", NULL},
                {"[t]]", NULL},
                {"x", NULL},
                {"n1}, ", NULL},
                {"n01,", NULL},
                {"n1e,", NULL},
                {"n,", NULL},
                {"nNaN,", NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_buffer_ struct buffer tokens = BUFFER_INIT, out = BUFFER_INIT;
                bool good;

                make(rows[i].stream, &tokens);
                good = value_text(&tokens, &out);
                cr_expect_eq(good, rows[i].want != NULL, "%s: %d, %s", rows[i].stream, good,
                        buffer_text(&out));
                cr_expect(!rows[i].want || strcmp(buffer_text(&out), rows[i].want) == 0,
                        "%s: got %s, want %s", rows[i].stream, buffer_text(&out), rows[i].want);
        }
}

Test(runner_value, depth_is_bounded)
{
        for (unsigned depth = SCORE_MAX_DEPTH; depth <= SCORE_MAX_DEPTH + 1; depth++) {
                _cleanup_buffer_ struct buffer tokens = BUFFER_INIT, out = BUFFER_INIT;

                for (unsigned i = 0; i < depth; i++)
                        put_u8(&tokens, VALUE_ARRAY);
                for (unsigned i = 0; i < depth; i++)
                        put_u8(&tokens, VALUE_END);
                cr_expect_eq(
                        value_text(&tokens, &out), depth <= SCORE_MAX_DEPTH, "depth %u", depth);
        }
}
