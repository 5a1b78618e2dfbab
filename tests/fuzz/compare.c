/* Fuzzing comparisons: texts with a NUL between them are one case after the other, each its options
 * (a letter for the comparison; of numbers "abs rel", else the pattern), what is expected and what
 * is there. What comes out must be a reason for each that does not match, or an error that blames
 * the task's expression; what must hold of each comparison is asked in another way here. */
#include "evaluators/answer.h"
#include "evaluators/compare.h"
#include "tests/fuzz/shared.h"
#include "text.h"

#include <regex.h>

enum { MOST_TEXT = 4096, MOST_CASES = 50 };

struct fuzz_case {
        unsigned how;
        char options[200], expected[MOST_TEXT], actual[MOST_TEXT];
        size_t expected_len, actual_len;
};

static bool has_pattern(const struct fuzz_case *c)
{
        return c->how == COMPARE_REGEX || c->how == COMPARE_CONTAINS;
}

static void put_piece(struct buffer *in, enum score_message type, const char *bytes, size_t len)
{
        size_t at = answer_begin(in, type);

        put_bytes(in, bytes, len);
        answer_end(in, at);
}

static void put_case(struct buffer *in, const struct fuzz_case *c)
{
        const size_t abs = c->how == COMPARE_NUMERIC ? strcspn(c->options, " ") : 0;
        size_t at = answer_begin(in, COMPARE_CASE);

        put_u8(in, (uint8_t)c->how);
        put_bytes(in, c->options, abs);
        put_text(in, c->options[abs] == ' ' && abs > 0 ? c->options + abs + 1 : "");
        put_text(in, has_pattern(c) ? c->options : "");
        answer_end(in, at);
        if (!has_pattern(c))
                put_piece(in, COMPARE_EXPECTED, c->expected, c->expected_len);
        /* In two pieces. */
        put_piece(in, COMPARE_ACTUAL, c->actual, c->actual_len / 2);
        put_piece(in, COMPARE_ACTUAL, c->actual + c->actual_len / 2,
                c->actual_len - c->actual_len / 2);
}

/* Repetitions of repetitions cost the C library's compiler twice as much each, or as often as they
 * count: some seconds for ((a+)?{0,62}){3,}. */
static bool is_small(const char *pattern)
{
        size_t repetitions = 0;

        for (; *pattern; pattern++) {
                repetitions += strchr("*+?", *pattern) ? 1 : *pattern == '{' ? 3 : 0;
                if (*pattern >= '0' && *pattern <= '9' && pattern[1] >= '0' && pattern[1] <= '9')
                        return false;
        }
        return repetitions < 6;
}

/* The same by the C library, except where it thinks otherwise than we do: of newlines and anchors.
 */
static bool matches_somewhere(const struct fuzz_case *c, bool otherwise)
{
        regex_t regex;
        bool matches;

        if (memchr(c->actual, '\n', c->actual_len) || c->actual_len > 500 ||
                !is_small(c->options) || regcomp(&regex, c->options, REG_EXTENDED | REG_NOSUB) != 0)
                return otherwise;
        matches = regexec(&regex, c->actual, 0, NULL, 0) == 0;
        regfree(&regex);
        return matches;
}

static void check_result(const struct fuzz_case *c, bool matches)
{
        const bool same = c->expected_len == c->actual_len &&
                          memcmp(c->expected, c->actual, c->actual_len) == 0;

        if (c->how == COMPARE_EXACT)
                must(matches == same);
        if (c->how == COMPARE_TOKENS || c->how == COMPARE_NUMERIC)
                must(matches || !same);
        if (c->how == COMPARE_CONTAINS)
                must(matches == (strstr(c->actual, c->options) != NULL));
        if (c->how == COMPARE_REGEX)
                must(matches == matches_somewhere(c, matches));
}

static void check_answer(const struct buffer *out, const struct fuzz_case *cases, size_t count)
{
        struct reader r = reader_of(out->data, out->len), payload;
        uint16_t type = 0;
        size_t seen = 0;

        for (; answer_next(&r, &type, &payload); seen++) {
                char reason[SCORE_MAX_TEXT];
                unsigned matches = get_u8(&payload);

                get_text(&payload, reason, sizeof reason);
                must(type == COMPARE_RESULT && seen < count && reader_done(&payload));
                must(matches == !*reason && text_utf8_valid(reason, strlen(reason)));
                check_result(&cases[seen], matches);
        }
        must(!r.bad && seen == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        static struct fuzz_case cases[MOST_CASES];
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        struct error err = {0};
        size_t count = 0;

        for (; len > 0 && count < MOST_CASES; count++) {
                struct fuzz_case *c = &cases[count];

                c->how = *data++ % COMPARISON_COUNT;
                len--;
                fuzz_text(&data, &len, c->options, sizeof c->options);
                c->expected_len = fuzz_text(&data, &len, c->expected, sizeof c->expected);
                c->actual_len = fuzz_text(&data, &len, c->actual, sizeof c->actual);
                put_case(&in, c);
        }
        answer_empty(&in, SCORE_END);
        if (compare_answer(&in, &out, &err) == 0)
                check_answer(&out, cases, count);
        else
                must(*err.text &&
                        (err.code == CODE_TASK_INVALID || err.code == CODE_INTERNAL_FRAME));
        /* Frames that nobody put together well. */
        if (in.len > 9) {
                in.data[in.len % 9]++;
                (void)compare_answer(&in, &out, &err);
        }
        return 0;
}
