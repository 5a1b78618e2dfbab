/* What matches what by each comparison, and what is said of what does not. */
#include "tests/unit/score_text.h"

#include "evaluators/answer.h"
#include "evaluators/compare.h"

#include <criterion/criterion.h>

/* Sixty of them, and ten. */
#define TEN   "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

#define SLIGHT(place, what) place ": differs only in " what "; `tokens` would not mind"
#define LACKS_NEWLINE       "the final newline, which the output lacks"
#define ONE_NEWLINE_MORE    "a newline more at the end of the output"
#define LINE_ENDS           "how lines end (CR LF or LF)"
#define BLANKS              "white space at the ends of lines or of the output"
#define APART(abs, rel)     ", which differ by more than abs " abs " and rel " rel

/* An empty reason: it matches. */
static const struct {
        const char *expected, *actual, *reason;
} exact[] = {
        {"", "", ""},
        {"42\n", "42\n", ""},
        {"a\r\n\tb \xff", "a\r\n\tb \xff", ""},
        {"42\n", "41\n", "line 1, column 2: expected \"42\", got \"41\""},
        {"1\n2\n42\n", "1\n2\n41\n", "line 3, column 2: expected \"42\", got \"41\""},
        {"1\n2\n", "1\n23\n", "line 2, column 2: expected \"2\", got \"23\""},
        {"1\n23\n", "1\n2", "line 2, column 2: expected \"23\", got \"2\""},
        {"a\n", "A\n", "line 1, column 1: expected \"a\", got \"A\""},
        {"a\nb\n", "\nb\n", "line 1, column 1: expected \"a\", got \"\""},
        {"\nb\n", "b\n", SLIGHT("line 1, column 1", "white space")},
        {"\nb\n", "c\n", "line 1, column 1: expected \"\", got \"c\""},
        /* Columns are characters. */
        {"\xc3\xa9\xc3\xa9\n", "\xc3\xa9\xc3\xa8\n",
                "line 1, column 2: expected \"\xc3\xa9\xc3\xa9\", got \"\xc3\xa9\xc3\xa8\""},
        {"x", "\xc3\xa9x", "line 1, column 1: expected \"x\", got \"\xc3\xa9x\""},
        /* One of them has no such line. */
        {"7\n", "", "there is no output; line 1 is expected to be \"7\""},
        {"1\n2\n7\n", "1\n2\n", "the output ends after line 2; line 3 is expected to be \"7\""},
        {"1\n2\n7\n", "1\n2", "the output ends after line 2; line 3 is expected to be \"7\""},
        {"1\n\n7\n", "1\n", "the output ends after line 1; line 2 is expected to be \"\""},
        {"", "x", "1 more line than expected, the first: \"x\""},
        {"1\n", "1\nx\ny\nz\n", "3 more lines than expected, the first: \"x\""},
        {"1", "1\nx\ny\nz", "3 more lines than expected, the first: \"x\""},
        /* What `tokens` would not mind, and says so. */
        {"42\n", "42", SLIGHT("line 1, column 3", LACKS_NEWLINE)},
        {"42", "42\n", SLIGHT("line 1, column 3", ONE_NEWLINE_MORE)},
        {"1\n42\n", "1\n42\n\n", SLIGHT("line 3, column 1", ONE_NEWLINE_MORE)},
        {"", "\n", SLIGHT("line 1, column 1", ONE_NEWLINE_MORE)},
        {"\n", "", SLIGHT("line 1, column 1", LACKS_NEWLINE)},
        {"1\n2\n", "1\r\n2\r\n", SLIGHT("line 1, column 2", LINE_ENDS)},
        {"1\r\n2\r\n", "1\n2\n", SLIGHT("line 1, column 2", LINE_ENDS)},
        {"1\n2\n", "1\n2 \n", SLIGHT("line 2, column 2", BLANKS)},
        {"1 \n2\n", "1\n2\n", SLIGHT("line 1, column 2", BLANKS)},
        {"1\n2\n", "1\n2\n\n\n", SLIGHT("line 3, column 1", BLANKS)},
        {"1\n2\n\n\n", "1\n2", SLIGHT("line 2, column 2", BLANKS)},
        {"1\n2\n", "1\t\r\n2", SLIGHT("line 1, column 2", BLANKS)},
        {"", " \n", SLIGHT("line 1, column 1", BLANKS)},
        {"1 2\n", "1  2\n", SLIGHT("line 1, column 3", "white space")},
        {"1 2\n", "1\n2\n", SLIGHT("line 1, column 2", "white space")},
        {"1\n2\n", " 1\n2\n", SLIGHT("line 1, column 1", "white space")},
        {"1 2\n", "12\n", "line 1, column 2: expected \"1 2\", got \"12\""},
        {"1\n2\n", "1 \n3\n", "line 1, column 2: expected \"1\", got \"1 \""},
        /* Bytes of outsiders. */
        {"a\n", "\x1b[31m\n", "line 1, column 1: expected \"a\", got \"\\x1b[31m\""},
        {"a\n", "\xff\xfe\n", "line 1, column 1: expected \"a\", got \"\\xff\\xfe\""},
        {"a\n", "b\r\n", "line 1, column 1: expected \"a\", got \"b\\x0d\""},
        {"a\n", "\xe2\x80\xae\n", "line 1, column 1: expected \"a\", got \"\\xe2\\x80\\xae\""},
        /* Long lines are shown around where they differ. */
        {SIXTY, "x" SIXTY,
                "line 1, column 1: expected \"" SIXTY "\", got \"x" TEN TEN TEN TEN TEN
                "012345678…\""},
        {SIXTY SIXTY "a" SIXTY, SIXTY SIXTY "b" SIXTY,
                "line 1, column 121: expected \"…" TEN TEN "a" TEN TEN TEN
                "012345678…\", got \"…" TEN TEN "b" TEN TEN TEN "012345678…\""},
        {SIXTY "a", SIXTY, "line 1, column 61: expected \"…" TEN TEN "a\", got \"" SIXTY "\""},
        {SIXTY TEN, SIXTY "\n1",
                "line 1, column 61: expected \"…" TEN TEN TEN "\", got \"" SIXTY "\""},
};

static const struct {
        const char *expected, *actual, *reason;
} tokens[] = {
        {"", "", ""},
        {"", " \t\n\r\v\f", ""},
        {"1 2 3\n", "1\n2\r\n\t3", ""},
        {"1\v2\f3", "  1 2 3  ", ""},
        {"\xc3\xa9 \xff", "\xc3\xa9\n\xff\n", ""},
        {"1 2 3\n", "1 2 4\n", "token 3 (line 1, column 5): expected \"3\", got \"4\""},
        {"1 2 3\n", "1\n2\n\n  4", "token 3 (line 4, column 3): expected \"3\", got \"4\""},
        {"1.0", "1", "token 1 (line 1, column 1): expected \"1.0\", got \"1\""},
        {"yes", "Yes", "token 1 (line 1, column 1): expected \"yes\", got \"Yes\""},
        {"1 2", "12", "token 1 (line 1, column 1): expected \"1\", got \"12\""},
        {"12", "1 2", "token 1 (line 1, column 1): expected \"12\", got \"1\""},
        {"a",
                "\xc2\xa0"
                "a",
                "token 1 (line 1, column 1): expected \"a\", got \"\xc2\xa0"
                "a\""},
        {"\xc3\xa9 a", "\xc3\xa9 b", "token 2 (line 1, column 3): expected \"a\", got \"b\""},
        {"7", "", "there is no output; token 1 is expected to be \"7\""},
        {"7", " \n ", "there is no output; token 1 is expected to be \"7\""},
        {"1 2 7", "1\n2\n", "the output ends after token 2; token 3 is expected to be \"7\""},
        {"", "x", "1 more token than expected, the first: \"x\""},
        {"1\n", "1 x y z\n", "3 more tokens than expected, the first: \"x\""},
        {"a", "\x1b]", "token 1 (line 1, column 1): expected \"a\", got \"\\x1b]\""},
        {SIXTY "a", SIXTY "b",
                "token 1 (line 1, column 1): expected \"…" TEN TEN "a\", got \"…" TEN TEN "b\""},
};

static const struct {
        const char *abs, *rel, *expected, *actual, *reason;
} numeric[] = {
        {"", "", "", "", ""},
        {"", "", "1 2", "1\n2\n", ""},
        {"", "", "1", "1.0", ""},
        {"", "", "1", "1e0", ""},
        {"", "", "100", "1e2", ""},
        {"", "", "100", "1E+2", ""},
        {"", "", "0.01", "1e-2", ""},
        {"", "", "1", "+1", ""},
        {"", "", "0.5", ".5", ""},
        {"", "", "-0.5", "-.5", ""},
        {"", "", "5", "5.", ""},
        {"", "", "5", "+5.e0", ""},
        {"", "", "5", "5.E0", ""},
        {"", "", "+5.", "5", ""},
        {"", "", "7", "007", ""},
        {"", "", "-7", "-007.0", ""},
        {"", "", "0", "-0", ""},
        {"", "", "0", "000", ""},
        {"", "", "0", "0e100", ""},
        {"0.1", "", "1.5", "1.6", ""},
        {"0.1", "", "1.5", "1.4", ""},
        {"1e-1", "0", "-1.5", "-1.6", ""},
        /* Floating point would have it otherwise: 0.3 − 0.1 − 0.2, 1.1 − 1.0. */
        {"0.2", "", "0.1", "0.3", ""},
        {"0.1", "", "1.0", "1.1", ""},
        {"", "", "0.1", "0.1000000000000000055",
                "token 1 (line 1, column 1): expected \"0.1\", got \"0.1000000000000000055\"" APART(
                        "0", "0")},
        {"0.1", "", "1.5", "1.60000000000000000001",
                "token 1 (line 1, column 1): expected \"1.5\", got "
                "\"1.60000000000000000001\"" APART("0.1", "0")},
        {"", "1e-6", "1000000", "1000001", ""},
        {"", "1e-6", "1000000", "999999", ""},
        {"", "1e-6", "1000000", "1000001.1",
                "token 1 (line 1, column 1): expected \"1000000\", got \"1000001.1\"" APART(
                        "0", "1e-6")},
        /* Of what is expected, whatever its sign. */
        {"", "0.1", "-10", "-11", ""},
        {"", "0.1", "-10", "-9", ""},
        {"", "0.1", "10", "11.1",
                "token 1 (line 1, column 1): expected \"10\", got \"11.1\"" APART("0", "0.1")},
        {"", "0.1", "11.1", "10", ""},
        {"", "1e100", "0", "1",
                "token 1 (line 1, column 1): expected \"0\", got \"1\"" APART("0", "1e100")},
        /* Either is enough. */
        {"1", "0.1", "100", "110", ""},
        {"20", "0.1", "100", "120", ""},
        {"1", "0.1", "100", "111",
                "token 1 (line 1, column 1): expected \"100\", got \"111\"" APART("1", "0.1")},
        {"1e100", "", "1e100", "-1e-100",
                "token 1 (line 1, column 1): expected \"1e100\", got \"-1e-100\"" APART(
                        "1e100", "0")},
        {"1e100", "", "1e100", "1e-100", ""},
        {"1e-100", "", "1e-100", "2e-100", ""},
        {"", "1", "123456789012345678901234567890", "0", ""},
        {"1", "", "123456789012345678901234567890", "123456789012345678901234567891", ""},
        /* What is too long, too large or no number at all is text. */
        {"1", "1", "1234567890123456789012345678901", "1234567890123456789012345678901", ""},
        {"1", "1", "1234567890123456789012345678901", "1234567890123456789012345678902",
                "token 1 (line 1, column 1): expected \"1234567890123456789012345678901\", got "
                "\"1234567890123456789012345678902\""},
        {"1", "", "1e101", "1e101", ""},
        {"1", "1", "1e101", "1e+101",
                "token 1 (line 1, column 1): expected \"1e101\", got \"1e+101\""},
        {"9", "9", "1", "0x1", "token 1 (line 1, column 1): expected \"1\", got \"0x1\""},
        {"9", "9", "1", "1,0", "token 1 (line 1, column 1): expected \"1\", got \"1,0\""},
        {"9", "9", "1", "1.0.", "token 1 (line 1, column 1): expected \"1\", got \"1.0.\""},
        {"9", "9", "1", "1.0.0", "token 1 (line 1, column 1): expected \"1\", got \"1.0.0\""},
        {"9", "9", "1", "1..0", "token 1 (line 1, column 1): expected \"1\", got \"1..0\""},
        {"9", "9", "1", "1..", "token 1 (line 1, column 1): expected \"1\", got \"1..\""},
        {"9", "9", "1", "1e", "token 1 (line 1, column 1): expected \"1\", got \"1e\""},
        {"9", "9", "1", "1e1.", "token 1 (line 1, column 1): expected \"1\", got \"1e1.\""},
        {"9", "9", "1", "+-1", "token 1 (line 1, column 1): expected \"1\", got \"+-1\""},
        {"9", "9", "1", "--1", "token 1 (line 1, column 1): expected \"1\", got \"--1\""},
        {"9", "9", "1", ".", "token 1 (line 1, column 1): expected \"1\", got \".\""},
        {"9", "9", "1", "-", "token 1 (line 1, column 1): expected \"1\", got \"-\""},
        {"9", "9", "1", ".e1", "token 1 (line 1, column 1): expected \"1\", got \".e1\""},
        {"9", "9", "1", "1f", "token 1 (line 1, column 1): expected \"1\", got \"1f\""},
        {"9", "9", "1", "5.x", "token 1 (line 1, column 1): expected \"1\", got \"5.x\""},
        {"9", "9", "nan", "nan", ""},
        {"9", "9", "nan", "NaN", "token 1 (line 1, column 1): expected \"nan\", got \"NaN\""},
        {"9", "9", "1", "nan", "token 1 (line 1, column 1): expected \"1\", got \"nan\""},
        {"9", "9", "inf", "inf", ""},
        {"9", "9", "inf", "-inf", "token 1 (line 1, column 1): expected \"inf\", got \"-inf\""},
        {"9", "9", "1e100", "inf", "token 1 (line 1, column 1): expected \"1e100\", got \"inf\""},
        /* Texts between the numbers. */
        {"0.01", "", "x = 1.50 m\n", "x = 1.505 m\n", ""},
        {"0.01", "", "x = 1.50 m\n", "y = 1.50 m\n",
                "token 1 (line 1, column 1): expected \"x\", got \"y\""},
        {"0.01", "", "1 2\n3.50\n", "1 2\n3.52\n",
                "token 3 (line 2, column 1): expected \"3.50\", got \"3.52\"" APART("0.01", "0")},
        {"9", "", "1 2", "1", "the output ends after token 1; token 2 is expected to be \"2\""},
        {"9", "", "1", "1 2", "1 more token than expected, the first: \"2\""},
};

#define NO_MATCH(pattern, output)                                                                  \
        "the regular expression \"" pattern "\" does not match the output \"" output "\""
static const struct {
        const char *pattern, *actual, *reason;
} regex[] = {
        {"", "", ""},
        {"", "x", ""},
        {"b+", "abbc", ""},
        {"^a", "abc", ""},
        {"c$", "abc", ""},
        {"^$", "", ""},
        {"^$", "\n", NO_MATCH("^$", "\\x0a") "; it would without the final newline"},
        {"^42$", "42\n", NO_MATCH("^42$", "42\\x0a") "; it would without the final newline"},
        {"^42\n$", "42\n", ""},
        {"^42\n?$", "42", ""},
        {"b", "", NO_MATCH("b", "")},
        {"^b", "a\nb\n", NO_MATCH("^b", "a\\x0ab\\x0a")},
        {"a$", "a\nb\n", NO_MATCH("a$", "a\\x0ab\\x0a")},
        {"(^|\n)b(\n|$)", "a\nb\n", ""},
        {"\n^b", "a\nb", NO_MATCH("\\x0a^b", "a\\x0ab")},
        {"a$\nb", "a\nb", NO_MATCH("a$\\x0ab", "a\\x0ab")},
        {".*^b", "a\nb\n", NO_MATCH(".*^b", "a\\x0ab\\x0a")},
        {"a.b", "a\nb", ""},
        {"a[^x]b", "a\nb", ""},
        {"^(cat|dog)$", "dog", ""},
        {"^(cat|dog)$", "cow", NO_MATCH("^(cat|dog)$", "cow")},
        {"cat|dog", "hotdog", ""},
        {"^cat|^dog", "hotdog", NO_MATCH("^cat|^dog", "hotdog")},
        {"x|^a|b$", "b", ""},
        {"^[[:digit:]]{3}-[0-9]{2,4}$", "123-4567", ""},
        {"^[[:digit:]]{3}-[0-9]{2,4}$", "123-45678",
                NO_MATCH("^[[:digit:]]{3}-[0-9]{2,4}$", "123-45678")},
        {"^([0-9]{1,3}\\.){3}[0-9]{1,3}$", "192.168.0.1", ""},
        {"^a{0,2}b{2,}$", "aabbbb", ""},
        {"^a{0,2}b{2,}$", "aab", NO_MATCH("^a{0,2}b{2,}$", "aab")},
        {"^a{0}b$", "b", ""},
        {"[]x]", "]", ""},
        {"[^]x]", "]x", NO_MATCH("[^]x]", "]x")},
        {"[)(]", "(", ""},
        {"[a\\]b", "\\b", ""},
        {"[[.-.]{]", "{", ""},
        {"\\(\\)\\{\\}\\[\\]\\$\\^", "(){}[]$^", ""},
        {"(())", "", ""},
        {"(a|)b", "b", ""},
        {"A", "a", NO_MATCH("A", "a")},
        /* A character is a byte, of whatever value. */
        {"^..$", "\xc3\xa9", ""},
        {"^.$", "\xff", ""},
        {"\xc3\xa9+", "caf\xc3\xa9", ""},
        /* What would take a matcher that tries again at each byte for hours. */
        {"(a*)*(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                NO_MATCH("(a*)*(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")},
        {"z", SIXTY SIXTY, NO_MATCH("z", SIXTY "…")},
};

static const struct {
        const char *wanted, *actual, *reason;
} contains[] = {
        {"", "", ""},
        {"", "x", ""},
        {"b", "abc", ""},
        {"abc", "abc", ""},
        {"b\nc", "a\nb\nc\n", ""},
        {".*", "a.*b", ""},
        {"abc", "ab", "\"abc\" does not occur in the output \"ab\""},
        {"B", "abc", "\"B\" does not occur in the output \"abc\""},
        {"x\n", "", "\"x\\x0a\" does not occur in the output \"\""},
        {SIXTY TEN, "\xff" SIXTY,
                "\"" SIXTY "…\" does not occur in the output \"\\xff" TEN TEN TEN TEN TEN
                "012345678…\""},
};

/* --- requests --- */

static void put_case(struct buffer *in, unsigned how, const char *abs, const char *rel,
        const void *pattern, size_t len)
{
        size_t at = answer_begin(in, COMPARE_CASE);

        put_u8(in, (uint8_t)how);
        put_text(in, abs);
        put_text(in, rel);
        put_bytes(in, pattern, len);
        answer_end(in, at);
}

static void put_piece(struct buffer *in, enum score_message type, const void *bytes, size_t len)
{
        size_t at = answer_begin(in, type);

        put_bytes(in, bytes, len);
        answer_end(in, at);
}

/* The answer as text, "COMPARED 1 ''", without what ends the request. */
static char *ask(struct buffer *in)
{
        answer_empty(in, SCORE_END);
        return score_text_of(compare_answer, in);
}

static void expect(unsigned how, const char *abs, const char *rel, const char *pattern,
        const char *expected, const char *actual, const char *reason)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, want = BUFFER_INIT;
        char *got;

        put_case(&in, how, abs, rel, pattern, strlen(pattern));
        if (*expected)
                put_piece(&in, COMPARE_EXPECTED, expected, strlen(expected));
        if (*actual)
                put_piece(&in, COMPARE_ACTUAL, actual, strlen(actual));
        buffer_add_format(&want, "COMPARED %d '%s'\n", !*reason, reason);
        got = ask(&in);
        cr_expect_str_eq(got, buffer_text(&want), "expected <%s> %s, got <%s>:\ngot  %swant %s",
                expected, pattern, actual, got, buffer_text(&want));
        free(got);
}

Test(score_compare, exact)
{
        for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
                expect(COMPARE_EXACT, "", "", "", exact[i].expected, exact[i].actual,
                        exact[i].reason);
}

Test(score_compare, tokens)
{
        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
                expect(COMPARE_TOKENS, "", "", "", tokens[i].expected, tokens[i].actual,
                        tokens[i].reason);
}

Test(score_compare, numeric)
{
        for (size_t i = 0; i < sizeof numeric / sizeof *numeric; i++)
                expect(COMPARE_NUMERIC, numeric[i].abs, numeric[i].rel, "", numeric[i].expected,
                        numeric[i].actual, numeric[i].reason);
}

Test(score_compare, regex)
{
        for (size_t i = 0; i < sizeof regex / sizeof *regex; i++)
                expect(COMPARE_REGEX, "", "", regex[i].pattern, "", regex[i].actual,
                        regex[i].reason);
}

Test(score_compare, contains)
{
        for (size_t i = 0; i < sizeof contains / sizeof *contains; i++)
                expect(COMPARE_CONTAINS, "", "", contains[i].wanted, "", contains[i].actual,
                        contains[i].reason);
}

/* --- expressions that are none, or would cost too much --- */

#define TEN_TIMES(text)     text text text text text text text text text text
#define HUNDRED_TIMES(text) TEN_TIMES(TEN_TIMES(text))
#define REPETITIONS         "this makes more than 2000 steps when repetitions are written out"

static const struct {
        const char *pattern, *why;
} refused[] = {
        {"a(", "byte 2: this ( has no )"},
        {"a)", "byte 2: this ) has no ("},
        {"a)(b", "byte 2: this ) has no ("},
        {"[a", "byte 1: this [ has no ]"},
        {"x[[:alpha:]", "byte 2: this [ has no ]"},
        {"[[:alpha", "byte 2: a class is one of"},
        {"[[:letter:]]", "byte 2: a class is one of"},
        {"[z-a]", "byte 2: this range ends before it begins"},
        {"a\\", "byte 2: a backslash at the end escapes nothing"},
        {"(a)\\1", "byte 4: a backslash makes signs such as . and * ordinary"},
        {"\\d+", "byte 1: a backslash makes signs"},
        {"a\\b", "byte 2: a backslash makes signs"},
        {"\\<a", "byte 1: a backslash makes signs"},
        {"a\\'", "byte 2: a backslash makes signs"},
        {"*a", "byte 1: there is nothing before this that could be repeated"},
        {"(+a)", "byte 2: there is nothing before this"},
        {"a|{3}", "byte 3: there is nothing before this"},
        {"^*a", "byte 2: there is nothing before this"},
        {"[a-c-e]", "byte 5: a - in brackets that makes no range"},
        {"[[.ab.]]", "byte 2: [. .] and [= =] take one byte"},
        {"[a-", "byte 1: this [ has no ]"},
        {"[A-[", "byte 1: this [ has no ]"},
        {"[", "byte 1: this [ has no ]"},
        {"[^]", "byte 1: this [ has no ]"},
        {"{1,30000}{1,30000}", "byte 1: there is nothing before this"},
        {"a{1,30000}{1,30000}", "byte 2: a count must not be above 255"},
        {"a{256}", "byte 2: a count must not be above 255"},
        {"a{1,256}", "byte 2: a count must not be above 255"},
        {"a{99999999999999999999}", "byte 2: a count must not be above 255"},
        {"a{2,1}", "byte 2: the second count must not be below the first"},
        {"a{", "byte 2: { begins a count such as {3} or {2,5}; \\{ is the character"},
        {"a{,3}", "byte 2: { begins a count"},
        {"a{1", "byte 2: { begins a count"},
        {"a{1,x}", "byte 2: { begins a count"},
        {"(a{1,255}){1,255}", REPETITIONS},
        {"(a{8}){255}", REPETITIONS},
        {"a{255}{255}", REPETITIONS},
        {"(abcdefgh){250,}", REPETITIONS},
        {"a{0,255}a{0,255}a{0,255}a{0,255}", REPETITIONS},
        {HUNDRED_TIMES("0123456789") "0",
                "byte 1001: a regular expression must not be longer than 1000 bytes"},
};

Test(score_compare, refused)
{
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                _cleanup_buffer_ struct buffer in = BUFFER_INIT;
                char *got;

                put_case(
                        &in, COMPARE_REGEX, "", "", refused[i].pattern, strlen(refused[i].pattern));
                got = ask(&in);
                cr_expect(strncmp(got, "error task.invalid: case 1: the regular expression \"",
                                  sizeof "error task.invalid: case 1: the regular expression \"" -
                                          1) == 0,
                        "%s: %s", refused[i].pattern, got);
                cr_expect_not_null(strstr(got, refused[i].why), "%s: %s", refused[i].pattern, got);
                free(got);
        }
}

Test(score_compare, largest_expressions)
{
        static const char *const allowed[] = {
                HUNDRED_TIMES("0123456789"),
                TEN_TIMES(TEN_TIMES("((((")) "a" TEN_TIMES(TEN_TIMES("))))")),
                "^.{0,255}.{255}$",
                "((((((((((a+)+)+)+)+)+)+)+)+)+)+",
                "a++++++++++",
                "(ab{6}){255}",
                "^((a+)+)+$",
        };

        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
                _cleanup_buffer_ struct buffer in = BUFFER_INIT;
                char *got;

                put_case(&in, COMPARE_REGEX, "", "", allowed[i], strlen(allowed[i]));
                put_piece(&in, COMPARE_ACTUAL, "a", 1);
                got = ask(&in);
                cr_expect(strncmp(got, "COMPARED", 8) == 0, "%s: %s", allowed[i], got);
                free(got);
        }
}

/* --- bytes that are no text --- */

static const struct {
        unsigned how;
        const char *reason;
} nuls[] = {
        {COMPARE_EXACT, "line 2, column 3: expected \"b\\x00c\", got \"b\\x00d\""},
        {COMPARE_TOKENS, "token 2 (line 2, column 1): expected \"b\\x00c\", got \"b\\x00d\""},
        {COMPARE_NUMERIC, "token 2 (line 2, column 1): expected \"b\\x00c\", got \"b\\x00d\""},
        {COMPARE_REGEX, "line 2, column 2: a NUL byte, which no regular expression matches"},
        {COMPARE_CONTAINS, "\"a\\x0ab\\x00c\" does not occur in the output \"a\\x0ab\\x00d\""},
};

Test(score_compare, nul_bytes)
{
        for (size_t i = 0; i < sizeof nuls / sizeof *nuls; i++) {
                static const char expected[] = "a\nb\0c";
                _cleanup_buffer_ struct buffer in = BUFFER_INIT, want = BUFFER_INIT;
                char *got;

                put_case(&in, nuls[i].how, "", "", nuls[i].how == COMPARE_REGEX ? "b" : expected,
                        nuls[i].how == COMPARE_REGEX      ? 1
                        : nuls[i].how == COMPARE_CONTAINS ? 5
                                                          : 0);
                if (nuls[i].how < COMPARE_REGEX)
                        put_piece(&in, COMPARE_EXPECTED, expected, 5);
                put_piece(&in, COMPARE_ACTUAL, "a\nb\0d", 5);
                if (nuls[i].how == COMPARE_CONTAINS) {
                        put_case(&in, COMPARE_CONTAINS, "", "", "\0d", 2);
                        put_piece(&in, COMPARE_ACTUAL, "a\nb\0d", 5);
                }
                buffer_add_format(&want, "COMPARED 0 '%s'\n%s", nuls[i].reason,
                        nuls[i].how == COMPARE_CONTAINS ? "COMPARED 1 ''\n" : "");
                got = ask(&in);
                cr_expect_str_eq(
                        got, buffer_text(&want), "got  %swant %s", got, buffer_text(&want));
                free(got);
        }
}

Test(score_compare, nul_in_an_expression)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        char *got;

        put_case(&in, COMPARE_REGEX, "", "", "a[\0]", 4);
        got = ask(&in);
        cr_expect_not_null(
                strstr(got, "byte 3: a regular expression cannot have a NUL byte"), "%s", got);
        free(got);
}

/* --- requests as a whole --- */

Test(score_compare, many_cases)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        char *got;

        put_case(&in, COMPARE_EXACT, "", "", "", 0);
        put_piece(&in, COMPARE_EXPECTED, "a", 1);
        put_piece(&in, COMPARE_EXPECTED, "", 0);
        put_piece(&in, COMPARE_EXPECTED, "b", 1);
        put_piece(&in, COMPARE_ACTUAL, "ab", 2);
        put_case(&in, COMPARE_NUMERIC, "1", "", "", 0);
        put_piece(&in, COMPARE_ACTUAL, "2", 1);
        put_piece(&in, COMPARE_EXPECTED, "1", 1);
        put_case(&in, COMPARE_NUMERIC, "", "", "", 0);
        put_piece(&in, COMPARE_EXPECTED, "1", 1);
        put_piece(&in, COMPARE_ACTUAL, "2", 1);
        put_case(&in, COMPARE_REGEX, "", "", "a", 1);
        put_piece(&in, COMPARE_ACTUAL, "a", 1);
        put_case(&in, COMPARE_REGEX, "", "", "a", 1);
        put_case(&in, COMPARE_REGEX, "", "", "b", 1);
        put_piece(&in, COMPARE_ACTUAL, "b", 1);
        put_case(&in, COMPARE_TOKENS, "", "", "", 0);
        got = ask(&in);
        cr_expect_str_eq(got,
                "COMPARED 1 ''\nCOMPARED 1 ''\n"
                "COMPARED 0 'token 1 (line 1, column 1): expected \"1\", got \"2\"" APART(
                        "0", "0") "'\nCOMPARED 1 ''\nCOMPARED 0 '" NO_MATCH("a",
                        "") "'\n"
                            "COMPARED 1 ''\nCOMPARED 1 ''\n",
                "%s", got);
        free(got);
}

Test(score_compare, no_cases)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        char *got = ask(&in);

        cr_expect_str_eq(got, "", "%s", got);
        free(got);
}

/* The case with the fault is named, and nothing is said of those behind it. */
Test(score_compare, a_fault_names_its_case)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        char *got;

        put_case(&in, COMPARE_TOKENS, "", "", "", 0);
        put_case(&in, COMPARE_REGEX, "", "", "(", 1);
        put_case(&in, COMPARE_TOKENS, "", "", "", 0);
        got = ask(&in);
        cr_expect_str_eq(got,
                "COMPARED 1 ''\nerror task.invalid: case 2: the regular expression \"(\", byte 1: "
                "this ( has no )\n",
                "%s", got);
        free(got);
}

static void malformed(struct buffer *in, const char *what)
{
        char *got = score_text_of(compare_answer, in);

        cr_expect_not_null(strstr(got, "error internal.frame: "), "%s: %s", what, got);
        free(got);
        buffer_clear(in);
}

Test(score_compare, malformed)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, large = BUFFER_INIT;
        size_t at;

        malformed(&in, "nothing");
        put_case(&in, COMPARE_EXACT, "", "", "", 0);
        malformed(&in, "no end");
        put_piece(&in, COMPARE_EXPECTED, "", 0);
        answer_empty(&in, SCORE_END);
        malformed(&in, "a piece of no case");
        put_piece(&in, COMPARE_ACTUAL, "", 0);
        answer_empty(&in, SCORE_END);
        malformed(&in, "a piece of no case");
        put_piece(&in, SCORE_END, "", 0);
        malformed(&in, "an end with something in it");
        answer_empty(&in, SCORE_END);
        buffer_add(&in, "x", 1);
        malformed(&in, "something after the end");
        answer_empty(&in, SCORE_END);
        answer_empty(&in, SCORE_END);
        malformed(&in, "two ends");
        answer_empty(&in, COMPARE_RESULT);
        answer_empty(&in, SCORE_END);
        malformed(&in, "a frame of an answer");
        answer_empty(&in, COMPARE_CASE);
        answer_empty(&in, SCORE_END);
        malformed(&in, "an empty case");
        put_case(&in, COMPARE_EXACT, "", "", "", 0);
        at = answer_begin(&in, COMPARE_ACTUAL);
        put_text(&in, "a");
        put_u8(&in, 0);
        answer_end(&in, at);
        answer_empty(&in, SCORE_END);
        malformed(&in, "a piece with more in it");
        put_case(&in, COMPARE_EXACT, "", "", "", 0);
        for (unsigned i = 0; i <= SCORE_MAX_PIECE; i++)
                buffer_add_char(&large, 'a');
        put_piece(&in, COMPARE_ACTUAL, large.data, large.len);
        answer_empty(&in, SCORE_END);
        malformed(&in, "a piece that is too large");
        put_case(&in, COMPARE_EXACT, "", "", "", 0);
        buffer_add(&in, "abc", 3);
        malformed(&in, "a frame cut off");
}

static const struct {
        unsigned how;
        const char *abs, *rel, *pattern, *expected;
} wrong_cases[] = {
        {COMPARISON_COUNT, "", "", "", ""},
        {255, "", "", "", ""},
        {COMPARE_EXACT, "", "", "a", ""},
        {COMPARE_TOKENS, "", "", "a", ""},
        {COMPARE_NUMERIC, "", "", "a", ""},
        {COMPARE_EXACT, "1", "", "", ""},
        {COMPARE_TOKENS, "", "1", "", ""},
        {COMPARE_REGEX, "1", "", "a", ""},
        {COMPARE_REGEX, "", "", "a", "x"},
        {COMPARE_CONTAINS, "", "", "a", "x"},
        {COMPARE_NUMERIC, "-1", "", "", ""},
        {COMPARE_NUMERIC, "", "-0.1", "", ""},
        {COMPARE_NUMERIC, "x", "", "", ""},
        {COMPARE_NUMERIC, "", "1 ", "", ""},
        {COMPARE_NUMERIC, "", "+1", "", ""},
        {COMPARE_NUMERIC, "1e101", "", "", ""},
        {COMPARE_NUMERIC, "", "0.1234567890123456789012345678901", "", ""},
};

Test(score_compare, wrong_cases)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;

        for (size_t i = 0; i < sizeof wrong_cases / sizeof *wrong_cases; i++) {
                put_case(&in, wrong_cases[i].how, wrong_cases[i].abs, wrong_cases[i].rel,
                        wrong_cases[i].pattern, strlen(wrong_cases[i].pattern));
                put_piece(&in, COMPARE_EXPECTED, wrong_cases[i].expected,
                        strlen(wrong_cases[i].expected));
                answer_empty(&in, SCORE_END);
                malformed(&in, "a wrong case");
        }
}
