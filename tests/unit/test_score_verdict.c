/* A judge's verdict: taken whole or refused, never mended. */
#include "evaluators/verdict.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define INVALID(text) "error judge.invalid_verdict: " text "\n"
#define ONE           "{\"name\": \"a\", \"score\": 1, \"reasoning\": \"r\"}"

static const struct {
        const char *verdict, *want;
} rows[] = {
        {"{\"criteria\": [" ONE "], \"summary\": \"s\"}", "OPINION 'a' '1' 'r'\nSUMMARY 's' ''\n"},
        {"{\"criteria\": [{\"name\": \"A b\", \"score\": 87.50, \"reasoning\": \"\"}, " ONE
         "], \"summary\": \"s\", \"model\": \"m-1\", \"tokens\": {\"in\": 5}}",
                "OPINION 'A b' '87.50' ''\nOPINION 'a' '1' 'r'\nSUMMARY 's' 'm-1'\n"},
        {"Sure! {\"criteria\": []}", INVALID("line 1, column 1: expected a value")},
        {"{\"criteria\": [" ONE "], \"summary\": \"s\"} Hope this helps",
                INVALID("line 1, column 77: nothing may follow the document")},
        {"```json\n{}\n```", INVALID("line 1, column 1: expected a value")},
        {"", INVALID("line 1, column 1: the document is empty")},
        {"87.5", INVALID("line 1, column 1: must be an object, not 87.5")},
        {"{\"summary\": \"s\"}", INVALID("line 1, column 1: criteria: is missing; it must be an "
                                         "array of 1 to 1000 objects")},
        {"{\"criteria\": [], \"summary\": \"s\"}",
                INVALID("line 1, column 2: criteria: must be an array of 1 to 1000 objects, not an "
                        "array")},
        {"{\"criteria\": [" ONE "]}", INVALID("line 1, column 1: summary: is missing; it must be a "
                                              "text of at most 1048576 bytes")},
        {"{\"criteria\": [" ONE ", " ONE "], \"summary\": \"s\"}",
                INVALID("line 1, column 61: criteria[1].name: is scored twice")},
        {"{\"criteria\": [1], \"summary\": \"s\"}",
                INVALID("line 1, column 15: criteria[0]: must be an object")},
        {"{\"criteria\": [{\"name\": \"a\", \"score\": 101, \"reasoning\": \"\"}], \"summary\": "
         "\"\"}",
                INVALID("line 1, column 29: criteria[0].score: must be a number from 0 to 100, not "
                        "101")},
        {"{\"criteria\": [{\"name\": \"a\", \"score\": -0.1, \"reasoning\": \"\"}], \"summary\": "
         "\"\"}",
                INVALID("line 1, column 29: criteria[0].score: must be a number from 0 to 100, not "
                        "-0.1")},
        {"{\"criteria\": [{\"name\": \"a\", \"score\": \"90\", \"reasoning\": \"\"}], \"summary\": "
         "\"\"}",
                INVALID("line 1, column 29: criteria[0].score: must be a number from 0 to 100, not "
                        "the text \"90\"")},
        {"{\"criteria\": [{\"name\": \"a\", \"score\": null, \"reasoning\": \"\"}], \"summary\": "
         "\"\"}",
                INVALID("line 1, column 29: criteria[0].score: must be a number from 0 to 100, not "
                        "null (leave the key out instead)")},
        {"{\"criteria\": [{\"name\": \"a\", \"score\": 1}], \"summary\": \"\"}",
                INVALID("line 1, column 15: criteria[0].reasoning: is missing; it must be a text "
                        "of "
                        "at most 1048576 bytes")},
        {"{\"criteria\": [{\"name\": \"\", \"score\": 1, \"reasoning\": \"\"}], \"summary\": \"\"}",
                INVALID("line 1, column 16: criteria[0].name: must be a text of 1 to 512 bytes, "
                        "not "
                        "the text \"\"")},
};

Test(score_verdict, is_taken_or_refused)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = score_text(verdict_answer, rows[i].verdict);

                cr_expect_str_eq(got, rows[i].want, "%s:\ngot  %swant %s", rows[i].verdict, got,
                        rows[i].want);
                free(got);
        }
}

/* 8192 bytes are carried; the cut must not halve the last character. */
Test(score_verdict, long_reasons_are_cut_at_a_character)
{
        _cleanup_buffer_ struct buffer verdict = BUFFER_INIT;
        char *got;

        buffer_add_text(&verdict, "{\"criteria\": [" ONE "], \"summary\": \"x");
        for (unsigned i = 0; i < 5000; i++)
                buffer_add_text(&verdict, "\xc3\xa4");
        buffer_add_text(&verdict, "\"}");
        got = score_text(verdict_answer, buffer_text(&verdict));
        cr_expect_eq(strlen(got), strlen("OPINION 'a' '1' 'r'\nSUMMARY '' ''\n") + 8191);
        free(got);
}
