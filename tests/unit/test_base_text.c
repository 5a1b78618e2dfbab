/* Amounts, limits, text: sandbox/base/quantity, limit, text, error. */
#include "error.h"
#include "limit.h"
#include "quantity.h"
#include "text.h"

#include <criterion/criterion.h>

struct amount {
        const char *text;
        int result;
        uint64_t value;
};

static void check_amounts(const char *what, int (*parse)(const char *, uint64_t *),
        const struct amount *rows, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                uint64_t value = 0;
                int r = parse(rows[i].text, &value);

                cr_expect(r == rows[i].result, "%s \"%s\": gave %d, expected %d", what,
                        rows[i].text, r, rows[i].result);
                cr_expect(r < 0 || value == rows[i].value, "%s \"%s\": %llu, expected %llu", what,
                        rows[i].text, (unsigned long long)value, (unsigned long long)rows[i].value);
        }
}

Test(quantity, bytes)
{
        static const struct amount rows[] = {
                {"0", 0, 0},
                {"17", 0, 17},
                {"1KiB", 0, 1024},
                {"500MiB", 0, 500 << 20},
                {"1.5GiB", 0, 1610612736},
                {"2kB", 0, 2000},
                {"18446744073709551615", 0, UINT64_MAX},
                {"18446744073709551616", -1, 0},
                {"17179869184GiB", -1, 0},
                {"0.3B", -1, 0},
                {"", -1, 0},
                {"-1", -1, 0},
                {"+1", -1, 0},
                {" 1", -1, 0},
                {"1 KiB", -1, 0},
                {"1kib", -1, 0},
                {"1.", -1, 0},
                {"1.0000000001GiB", -1, 0},
                {"0x10", -1, 0},
        };

        check_amounts("bytes", quantity_parse_bytes, rows, sizeof rows / sizeof *rows);
}

Test(quantity, durations)
{
        static const struct amount rows[] = {
                {"1us", 0, 1},
                {"250ms", 0, 250000},
                {"2s", 0, 2000000},
                {"0.5s", 0, 500000},
                {"10m", 0, 600000000},
                {"1h", 0, 3600000000},
                {"1", -1, 0},
                {"1d", -1, 0},
                {"s", -1, 0},
                {"9999999999999999h", -1, 0},
        };

        check_amounts("duration", quantity_parse_duration, rows, sizeof rows / sizeof *rows);
}

Test(quantity, counts_and_thousandths)
{
        static const struct amount counts[] = {{"7", 0, 7}, {"7.0", -1, 0}, {"", -1, 0}};
        static const struct amount milli[] = {
                {"2", 0, 2000}, {"0.5", 0, 500}, {"1.125", 0, 1125}, {"0.0001", -1, 0}};

        check_amounts("count", quantity_parse_count, counts, 3);
        check_amounts("thousandths", quantity_parse_milli, milli, 4);
}

Test(quantity, shown_in_the_shortest_exact_form)
{
        char out[32];

        quantity_format_bytes(out, sizeof out, 256 << 20);
        cr_expect_str_eq(out, "256 MiB");
        quantity_format_bytes(out, sizeof out, 1000);
        cr_expect_str_eq(out, "1000 B");
        quantity_format_duration(out, sizeof out, 600000000);
        cr_expect_str_eq(out, "600 s");
        quantity_format_duration(out, sizeof out, 1500000);
        cr_expect_str_eq(out, "1.5 s");
        quantity_format_duration(out, sizeof out, 300000);
        cr_expect_str_eq(out, "300 ms");
}

Test(limit, defaults_are_the_contract)
{
        struct limits suite, submission;

        limits_standard(&suite, CELL_SUITE);
        limits_standard(&submission, CELL_SUBMISSION);
        limits_settle(&suite);
        cr_expect_eq(suite.value[LIMIT_WALL], 600000000);
        cr_expect_eq(suite.value[LIMIT_CPU], 1200000000, "cpu is wall times cpus");
        cr_expect_eq(suite.value[LIMIT_MEMORY], 1ULL << 30);
        cr_expect_eq(suite.value[LIMIT_DISK], 256 << 20);
        cr_expect_eq(suite.value[LIMIT_PIDS], 256);
        cr_expect_eq(submission.value[LIMIT_WALL], 10000000);
        cr_expect_eq(submission.value[LIMIT_MEMORY], 256 << 20);
        cr_expect_eq(submission.value[LIMIT_OUTPUT], 64 << 10);
}

Test(limit, every_row_is_complete_and_found_by_its_name)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                const struct limit_info *row = limit_info((enum limit)i);

                cr_assert_not_null(row->name);
                cr_expect_eq(limit_find(row->name), i);
                cr_expect_lt(row->least, row->most);
        }
        cr_expect_eq(limit_find("nonsense"), LIMIT_COUNT);
}

Test(limit, values_out_of_bounds_are_named)
{
        struct error err = {0};
        uint64_t value;

        cr_expect_eq(limit_parse(LIMIT_MEMORY, "1KiB", &value, &err), -1);
        cr_expect(strstr(err.text, "memory") && strstr(err.text, "1 MiB"), "%s", err.text);
        cr_expect_eq(limit_parse(LIMIT_WALL, "10", &value, &err), -1);
        cr_expect(strstr(err.text, "duration"), "%s", err.text);
}

Test(text, utf8)
{
        static const struct {
                const char *bytes;
                bool valid;
        } rows[] = {
                {"", true},
                {"abc", true},
                {"\xc3\xa9", true},
                {"\xe2\x82\xac", true},
                {"\xf0\x9f\x98\x80", true},
                {"\xf4\x8f\xbf\xbf", true},
                {"\xc0\x80", false},         /* overlong */
                {"\xe0\x80\x80", false},     /* overlong */
                {"\xed\xa0\x80", false},     /* surrogate */
                {"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
                {"\xff", false},
                {"\xc3", false}, /* cut */
                {"\x80", false},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(text_utf8_valid(rows[i].bytes, strlen(rows[i].bytes)), rows[i].valid,
                        "row %zu", i);
}

Test(text, what_a_terminal_should_not_see_is_escaped)
{
        char out[32];

        text_escape(out, sizeof out, "a\033[31m\n\0é\xff", 11);
        cr_expect_str_eq(out, "a\\x1b[31m\\x0a\\x00é\\xff");
        text_escape(out, sizeof out, "\xe2\x80\xae", 3);
        cr_expect_str_eq(out, "\\xe2\\x80\\xae", "a bidirectional override: %s", out);
        text_escape(out, 6, "abcdefgh", 8);
        cr_expect_str_eq(out, "abcde", "cut to fit");
        text_escape(out, 6, "abcdé", 6);
        cr_expect_str_eq(out, "abcd", "cut at a character");
}

Test(error, context_goes_in_front_and_the_code_stays)
{
        struct error err = {0};

        cr_expect_eq(error_errno(&err, CODE_INFRA_IO, 2, "cannot open %s", "x\n"), -1);
        error_add(&err, "reading the task");
        cr_expect_str_eq(
                err.text, "reading the task: cannot open x\\x0a: No such file or directory");
        cr_expect_eq(err.code, CODE_INFRA_IO);
}

Test(error, a_long_context_is_cut_and_the_cause_is_not)
{
        struct error err = {0};
        char path[700];

        memset(path, 'x', sizeof path - 1);
        path[sizeof path - 1] = '\0';
        error_errno(&err, CODE_INFRA_IO, 2, "%s", path);
        cr_expect(strstr(err.text, ": No such file or directory"), "%s", err.text);
        error_add(&err, "%s", path);
        cr_expect(strstr(err.text, "No such file or directory"), "%s", err.text);
}

Test(error, every_code_has_a_class_an_end_and_a_remedy)
{
        for (unsigned i = CODE_NONE + 1; i < CODE_COUNT; i++) {
                const struct code_info *row = code_info((enum code)i);

                cr_expect(row->class != CLASS_NONE && *row->remedy && row->ending > END_NOT_PASSED,
                        "%s", row->name);
                cr_expect_eq(code_find(row->name), i, "%s is there twice", row->name);
        }
        cr_expect_eq(code_info((enum code)60000), code_info(CODE_INTERNAL_BUG));
}
