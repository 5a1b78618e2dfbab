/* The command line: runner/options; ids: runner/workspace; numbers of the scorer: runner/scorer. */
#include "options.h"
#include "scorer.h"
#include "workspace.h"

#include <criterion/criterion.h>

static bool flag;
static const char *text;
static struct option_list list;
static struct common_options common;

static const struct option table[] = {
        {"--flag", OPTION_FLAG, &flag, NULL, ""},
        {"--text", OPTION_TEXT, &text, "TEXT", ""},
        {"--list", OPTION_LIST, &list, "X", ""},
};

static int parse(const char **argv, struct error *err)
{
        int argc = 0;

        while (argv[argc])
                argc++;
        return options_parse(table, 3, &common, argc, (char **)(uintptr_t)argv, err);
}

Test(options, values_flags_lists_and_the_rest)
{
        const char *argv[] = {"one", "--flag", "--text", "t", "--list=a", "--list", "b", "-", "--",
                "--two", NULL};
        struct error err;

        cr_assert_eq(parse(argv, &err), 3);
        cr_expect_str_eq(argv[0], "one");
        cr_expect_str_eq(argv[1], "-");
        cr_expect_str_eq(argv[2], "--two", "what follows -- is no option");
        cr_expect(flag);
        cr_expect_str_eq(text, "t");
        cr_expect_eq(list.count, 2);
        cr_expect_str_eq(list.values[1], "b");
}

Test(options, errors_name_the_option)
{
        const char *rows[][3] = {
                {"--nonsense", NULL}, {"--text", NULL}, {"--flag=1", NULL}, {"-x", NULL}};

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};

                cr_expect_eq(parse(rows[i], &err), -1);
                cr_expect_eq(err.code, CODE_USAGE);
                cr_expect(strncmp(err.text, rows[i][0], 2) == 0, "%s", err.text);
        }
}

Test(workspace, ids_are_ulids_in_the_order_of_time)
{
        char first[ULID_SIZE], second[ULID_SIZE];
        struct error err;

        cr_assert_eq(ulid_new(first, &err), 0);
        cr_assert_eq(ulid_new(second, &err), 0);
        cr_expect_eq(strlen(first), 26);
        cr_expect_eq(strspn(first, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26);
        cr_expect_lt(first[0], '8', "128 bits");
        cr_expect_leq(strncmp(first, second, 10), 0);
        cr_expect_str_neq(first, second);
}

Test(scorer, decimals)
{
        static const char *const good[] = {"0", "84.00", "-1", "0.5", "100"};
        static const char *const bad[] = {"", "-", ".5", "5.", "1e3", "+1", " 1", "1 ", "0x1",
                "NaN", "1.2.3", "007", "00", "verdict.json"};

        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                cr_expect(scorer_is_decimal(good[i]), "%s", good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_not(scorer_is_decimal(bad[i]), "%s", bad[i]);
}

Test(scorer, scores)
{
        static const char *const good[] = {"0", "0.001", "9", "99.999", "100", "100.00"};
        static const char *const bad[] = {"-1", "-0", "100.01", "101", "1000", "99999", "1e1", ""};

        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                cr_expect(scorer_is_score(good[i]), "%s", good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_not(scorer_is_score(bad[i]), "%s", bad[i]);
}
