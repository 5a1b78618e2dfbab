/* score.json: what a suite may leave, and what each mistake is called. */
#include "buffer.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define INVALID(text) "error suite.result_invalid: " text "\n"
#define REST          ", \"pass\": true}"

static const struct {
        const char *file, *want;
} rows[] = {
        {"{\"score\": 84, \"pass\": true}", "SCORE '84' 1 0 ''\n"},
        {"\xef\xbb\xbf{\"score\": 0.1000000000000000055, \"pass\": false}",
                "SCORE '200000000000000011/2000000000000000000' 0 0 ''\n"},
        {"{\"score\": 100" REST, "SCORE '100' 1 0 ''\n"},
        {"{\"score\": 1e2" REST, "SCORE '100' 1 0 ''\n"},
        {"{\"pass\": true, \"notes\": \"line\\nline\", \"score\": 5, \"breakdown\": {\"b\": 1.5, "
         "\"a\": 100}, \"tests\": [{\"name\": \"t\", \"passed\": true, \"duration_ms\": 1.25}, "
         "{\"error\": \"boom\", \"passed\": false, \"name\": \"u\"}]}",
                "SCORE '5' 1 0 ''\nBREAKDOWN 'b' '1.5'\nBREAKDOWN 'a' '100'\nNOTES 'line\nline'\n"
                "TEST 't' 1 '1.25' ''\nTEST 'u' 0 '' 'boom'\n"},
        {"{\"score\": 5, \"breakdown\": {}, \"notes\": \"\"" REST, "SCORE '5' 1 0 ''\nNOTES ''\n"},
        /* Unknown keys warn. */
        {"{\"score\": 5, \"note\": \"x\", \"version\": 2" REST,
                "SCORE '5' 1 0 ''\n"
                "WARNING 'note' 'is not a key here; did you mean \"notes\"?'\n"
                "WARNING 'version' 'is not a key here'\n"},
        {"{\"score\": 5, \"tests\": [{\"name\": \"t\", \"passed\": true, \"file\": \"x\"}]" REST,
                "SCORE '5' 1 0 ''\nTEST 't' 1 '' ''\nWARNING 'tests[0].file' 'is not a key "
                "here'\n"},

        {"", INVALID("line 1, column 1: the document is empty")},
        {"84", INVALID("line 1, column 1: must be an object, not 84")},
        {"[]", INVALID("line 1, column 1: must be an object, not an array")},
        {"{}", INVALID("line 1, column 1: score: is missing; it must be a number from 0 to 100")},
        {"{\"score\": 5}", INVALID("line 1, column 1: pass: is missing; it must be true or false")},
        {"{\n  \"score\": 101" REST,
                INVALID("line 2, column 3: score: must be a number from 0 to 100, not 101")},
        {"{\"score\": 100.00000000000000000001" REST,
                INVALID("line 1, column 2: score: must be a number from 0 to 100, not "
                        "100.00000000000000000001")},
        {"{\"score\": -1" REST,
                INVALID("line 1, column 2: score: must be a number from 0 to 100, not -1")},
        {"{\"score\": \"84\"" REST, INVALID("line 1, column 2: score: must be a number from 0 to "
                                            "100, not the text \"84\"")},
        {"{\"score\": true" REST,
                INVALID("line 1, column 2: score: must be a number from 0 to 100, not true")},
        {"{\"score\": null" REST, INVALID("line 1, column 2: score: must be a number from 0 to "
                                          "100, not null (leave the key out instead)")},
        {"{\"score\": NaN" REST, INVALID("line 1, column 11: NaN is not JSON")},
        {"{\"score\": 1, \"score\": 2" REST,
                INVALID("line 1, column 14: this key is already there")},
        {"{\"score\": 5, \"pass\": \"yes\"}",
                INVALID("line 1, column 14: pass: must be true or false, not the text \"yes\"")},
        {"{\"score\": 5, \"pass\": 1}",
                INVALID("line 1, column 14: pass: must be true or false, not 1")},
        {"{\"score\": 5, \"breakdown\": [1]" REST,
                INVALID("line 1, column 14: breakdown: must be an "
                        "object of at most 100000 scores, not an "
                        "array")},
        {"{\"score\": 5, \"breakdown\": {\"a\": 1, \"b\": 100.5}" REST,
                INVALID("line 1, column 36: breakdown.b: must be a number from 0 to 100, not "
                        "100.5")},
        {"{\"score\": 5, \"notes\": 5" REST,
                INVALID("line 1, column 14: notes: must be a text of at most 2000 characters, not "
                        "5")},
        {"{\"score\": 5, \"tests\": []" REST,
                INVALID("line 1, column 14: tests: is empty: the suite collected no test; leave "
                        "the key out if the suite does not list its tests")},
        {"{\"score\": 5, \"tests\": {}" REST,
                INVALID("line 1, column 14: tests: must be an array of 1 to 100000 objects, not an "
                        "object")},
        {"{\"score\": 5, \"tests\": [\"t\"]" REST,
                INVALID("line 1, column 24: tests[0]: must be an object")},
        {"{\"score\": 5, \"tests\": [{\"passed\": true}]" REST,
                INVALID("line 1, column 24: tests[0].name: is missing; it must be a text of 1 to "
                        "512 bytes")},
        {"{\"score\": 5, \"tests\": [{\"name\": \"t\"}]" REST,
                INVALID("line 1, column 24: tests[0].passed: is missing; it must be true or "
                        "false")},
        {"{\"score\": 5, \"tests\": [{\"name\": \"t\", \"passed\": true, \"duration_ms\": "
         "-1}]" REST,
                INVALID("line 1, column 54: tests[0].duration_ms: must be a number from 0 to "
                        "1000000000000, not -1")},
        {"{\"score\": 5, \"tests\": [{\"name\": \"t\", \"passed\": true, \"error\": []}]" REST,
                INVALID("line 1, column 54: tests[0].error: must be a text of at most 2000 "
                        "characters, not an array")},
        /* What an outsider wrote reaches a terminal escaped. */
        {"{\"score\": \"\\u001b[31m\\u202e\"" REST,
                INVALID("line 1, column 2: score: must be a number from 0 to 100, not the text "
                        "\"\\x1b[31m\\xe2\\x80\\xae\"")},
};

Test(score_result, score_json_is_taken_or_refused)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = score_result_text("score.json", NULL, 0, rows[i].file, NULL);

                cr_expect_str_eq(
                        got, rows[i].want, "%s:\ngot  %swant %s", rows[i].file, got, rows[i].want);
                free(got);
        }
}

/* The limit is in characters, whatever they take in bytes. */
Test(score_result, notes_of_2000_characters_are_the_longest)
{
        for (unsigned characters = 2000; characters <= 2001; characters++) {
                _cleanup_buffer_ struct buffer file = BUFFER_INIT;
                char *got;

                buffer_add_text(&file, "{\"score\": 5, \"pass\": true, \"notes\": \"");
                for (unsigned i = 0; i < characters; i++)
                        buffer_add_text(&file, "\xf0\x9f\x98\x80");
                buffer_add_text(&file, "\"}");
                got = score_result_text("score.json", NULL, 0, buffer_text(&file), NULL);
                cr_expect_eq(strncmp(got, "SCORE", 5) == 0, characters == 2000, "%u: %.60s",
                        characters, got);
                free(got);
        }
}
