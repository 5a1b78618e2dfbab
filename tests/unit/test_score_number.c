/* Numbers are the digits that somebody wrote: compared exactly, rounded once, half up. */
#include "evaluators/number.h"

#include <criterion/criterion.h>

Test(score_number, reads_digits_exactly)
{
        static const struct {
                const char *text, *fraction; /* NULL: no number */
        } rows[] = {
                {"0", "0"},
                {"-0", "0"},
                {"84", "84"},
                {"0.84", "21/25"},
                {"0.1000000000000000055", "200000000000000011/2000000000000000000"},
                {"1e2", "100"},
                {"1.5E-1", "3/20"},
                {"-2.5", "-5/2"},
                {"33.333333333333333333333333333",
                        "33333333333333333333333333333/1000000000000000000000000000"},
                {"123456789012345678901234567890", "123456789012345678901234567890"},
                {"1234567890123456789012345678901", NULL},
                {"", NULL},
                {" 1", NULL},
                {"1 ", NULL},
                {"+1", NULL},
                {".5", NULL},
                {"5.", NULL},
                {"007", NULL},
                {"1e101", NULL},
                {"nan", NULL},
                {"inf", NULL},
                {"0x10", NULL},
                {"1,5", NULL},
                {"--1", NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char fraction[SCORE_MAX_NAME] = "";
                mpq_t x;
                int r;

                mpq_init(x);
                r = number_parse(x, rows[i].text);
                if (r == 0)
                        number_fraction(x, fraction, sizeof fraction);
                cr_expect_eq(r, rows[i].fraction ? 0 : -1, "'%s': returned %d", rows[i].text, r);
                cr_expect_str_eq(fraction, rows[i].fraction ? rows[i].fraction : "", "'%s': is %s",
                        rows[i].text, fraction);
                mpq_clear(x);
        }
}

Test(score_number, rounds_half_up_to_two_places)
{
        static const struct {
                const char *text, *shown;
        } rows[] = {
                {"0", "0.00"},
                {"84", "84.00"},
                {"99.994", "99.99"},
                {"99.995", "100.00"},
                {"99.99499999999999999999999999", "99.99"},
                {"0.005", "0.01"},
                {"0.004999999999999999", "0.00"},
                {"69.995", "70.00"},
                {"1.005", "1.01"}, /* 1.00 by binary floating point */
                {"2.675", "2.68"}, /* 2.67 so */
                {"33.333", "33.33"},
                {"1e-100", "0.00"},
                {"12.3", "12.30"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char shown[SCORE_MAX_NAME];
                mpq_t x;

                mpq_init(x);
                cr_assert_eq(number_parse(x, rows[i].text), 0);
                number_round(x, 2);
                number_format(x, 2, shown, sizeof shown);
                cr_expect_str_eq(shown, rows[i].shown, "%s: shown as %s", rows[i].text, shown);
                mpq_clear(x);
        }
}

Test(score_number, bounds_are_exact)
{
        static const struct {
                const char *text;
                bool within; /* 0 … 100 */
        } rows[] = {
                {"0", true},
                {"-0", true},
                {"-0.0000000000000000000001", false},
                {"100", true},
                {"100.000", true},
                {"1e2", true},
                {"100.00000000000000000000000001", false},
                {"99.99999999999999999999999999", true},
                {"1e100", false},
                {"1e-100", true},
                {"x", false},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(
                        number_between(rows[i].text, 0, 100), rows[i].within, "%s", rows[i].text);
}

Test(score_number, whole_numbers_may_be_written_in_any_way)
{
        static const struct {
                const char *text;
                int result;
                uint64_t value;
        } rows[] = {
                {"60", 0, 60},
                {"60.0", 0, 60},
                {"6e1", 0, 60},
                {"600e-1", 0, 60},
                {"60.5", -1, 0},
                {"-1", -1, 0},
                {"101", -1, 0},
                {"1e100", -1, 0},
                {"1e-100", -1, 0},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                uint64_t value = 0;

                cr_expect_eq(number_whole(rows[i].text, 100, &value), rows[i].result, "%s",
                        rows[i].text);
                cr_expect_eq(
                        value, rows[i].value, "%s: %llu", rows[i].text, (unsigned long long)value);
        }
}

Test(score_number, plain_digits_of_any_form)
{
        static const struct {
                const char *written, *plain;
        } rows[] = {
                {"0", "0"},
                {"-0", "0"},
                {"0.00", "0"},
                {"80.50", "80.50"},
                {"8.0e1", "80"},
                {"8e1", "80"},
                {"1.5E-3", "0.0015"},
                {"1e-05", "0.00001"},
                {"12.5e1", "125"},
                {"-2.5e-1", "-0.25"},
                {"0.07e2", "7"},
        };
        char plain[NUMBER_PLAIN_SIZE];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                mpq_t a, b;

                number_plain(rows[i].written, plain, sizeof plain);
                cr_expect_str_eq(plain, rows[i].plain, "%s: %s, expected %s", rows[i].written,
                        plain, rows[i].plain);
                if (plain[0] == '-')
                        continue; /* scores are not negative; only positive ones are read back */
                mpq_inits(a, b, NULL);
                cr_expect_eq(number_parse(a, rows[i].written), 0);
                cr_expect_eq(number_parse_plain(b, plain), 0, "%s", plain);
                cr_expect(mpq_equal(a, b), "%s", plain);
                mpq_clears(a, b, NULL);
        }
}

Test(score_number, plain_digits_and_nothing_else)
{
        static const char *const bad[] = {"", "1e3", "1.", ".5", "-1", "+1", "1 ", "1.2.3", "x"};
        mpq_t x;

        mpq_init(x);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_eq(number_parse_plain(x, bad[i]), -1, "\"%s\"", bad[i]);
        mpq_clear(x);
}
