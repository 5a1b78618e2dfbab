/* The formats of result files beside score.json: what each kind means, and what is said of each
 * mistake. Error texts name line and column. */
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define SCORE(text) "SCORE '" text "' 2 0 ''\n"
#define JUNIT(text) "<testsuite>" text "</testsuite>"

static const struct {
        const char *format, *options, *file, *want;
} good[] = {
        /* Gradescope: score, else the sum; of what the task says, else of the sum of maxima. */
        {"gradescope", NULL,
                "{\"tests\": [{\"score\": 2, \"max_score\": 3, \"name\": \"a\", \"output\": "
                "\"no\"}, "
                "{\"score\": 1, \"max_score\": 1}], \"leaderboard\": []}",
                SCORE("75") "TEST 'a' 0 '' 'no'\nTEST 'test 2' 1 '' ''\n"},
        {"gradescope", "  30", "{\"score\": 20, \"output\": \"hi\"}",
                SCORE("200/3") "NOTES 'hi'\n"},
        {"gradescope", NULL,
                "{\"score\": 0.5, \"tests\": [{\"score\": 9, \"max_score\": 1, \"status\": "
                "\"failed\"}]}",
                SCORE("50") "TEST 'test 1' 0 '' ''\n"},
        {"gradescope", "  10", "{\"score\": 12}",
                "SCORE '100' 2 0 '120'\nWARNING 'score' 'is above 100 and counts as 100'\n"},
        {"gradescope", "  10", "{\"score\": -1}",
                "SCORE '0' 2 0 '-10'\nWARNING 'score' 'is below 0 and counts as 0'\n"},
        {"gradescope", "  10",
                "{\"tests\": [{\"score\": 0.1}, {\"score\": 0.2, \"status\": \"passed\"}]}",
                SCORE("3") "TEST 'test 1' 1 '' ''\nTEST 'test 2' 1 '' ''\n"},

        {"prairielearn", NULL, "{\"score\": 0.25}", SCORE("25") "NOTES ''\n"},
        {"prairielearn", NULL,
                "{\"gradable\": true, \"score\": 1, \"message\": \"m\", \"output\": \"o\", "
                "\"tests\": "
                "[{\"name\": \"a\", \"points\": 1, \"max_points\": 2, \"message\": \"half\"}, "
                "{\"points\": 1}]}",
                SCORE("100") "NOTES 'm'\nTEST 'a' 0 '' 'half'\nTEST '' 1 '' ''\n"},
        {"prairielearn", NULL, "{\"gradable\": false, \"message\": \"syntax error\"}",
                "SCORE '' 2 1 ''\nNOTES 'syntax error'\n"},
        {"prairielearn", NULL, "{\"gradable\": false, \"format_errors\": \"line 3\"}",
                "SCORE '' 2 1 ''\nNOTES 'line 3'\n"},
        {"prairielearn", NULL, "{\"gradable\": false, \"format_errors\": [\"a\", 1, \"b\"]}",
                "SCORE '' 2 1 ''\nNOTES 'a\nb'\n"},
        {"prairielearn", NULL, "{\"gradable\": false, \"score\": 2, \"tests\": []}",
                "SCORE '' 2 1 ''\nNOTES ''\n"},
        {"prairielearn", NULL, "{\"score\": 1.0000000000000002}",
                "SCORE '100' 2 0 '5000000000000001/50000000000000'\nNOTES ''\nWARNING 'score' 'is "
                "above "
                "100 and counts as 100'\n"},
        {"prairielearn", NULL, "{\"gradable\": false, \"score\": 1}",
                "SCORE '' 2 1 ''\nNOTES ''\n"},

        {"codabench", NULL, "{\"accuracy\": 0.875}", SCORE("175/2")},
        {"codabench", "f1", "{\"accuracy\": 1, \"f1\": 0.1, \"note\": \"x\"}", SCORE("10")},
        {"codabench", "rmse 10 0.5", "{\"rmse\": 0.5}", NULL},
        {"codabench", "bleu 0 40", "{\"bleu\": 10}", SCORE("25")},
        {"codabench", "x -1 1", "{\"x\": 0}", SCORE("50")},
        {"codabench", "x -1 1", "{\"x\": 3}",
                "SCORE '100' 2 0 '200'\nWARNING 'score' 'is above 100 and counts as 100'\n"},

        {"harbor", NULL, "{\"reward\": 0.3, \"other\": 1}", SCORE("30")},
        {"harbor", NULL, "{\"only\": 1}", SCORE("100")},
        {"harbor", "b", "{\"reward\": 1, \"b\": 0.125}", SCORE("25/2")},

        {"ctrf", NULL,
                "{\"results\": {\"tool\": {\"name\": \"jest\"}, \"summary\": {\"tests\": 99, "
                "\"passed\": 99}, "
                "\"tests\": [{\"name\": \"a\", \"status\": \"passed\", \"duration\": 5}, "
                "{\"name\": \"b\", "
                "\"status\": \"failed\", \"duration\": 1.5, \"message\": \"boom\"}, {\"name\": "
                "\"c\", "
                "\"status\": \"skipped\"}, {\"name\": \"d\", \"status\": \"pending\"}, {\"name\": "
                "\"e\", "
                "\"status\": \"other\", \"duration\": -1}]}}",
                SCORE("100/3") "TEST 'a' 1 '5' ''\nTEST 'b' 0 '1.5' 'boom'\nTEST 'e' 0 '' ''\n"},

        {"junit", NULL,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"9\" "
                "failures=\"9\">"
                "<testsuite name=\"s\"><testcase classname=\"C\" name=\"a\" time=\"0.25\"/>"
                "<testsuite><testcase name=\"b\"><failure message=\"want &lt;1&gt;\">at "
                "b.c:1</failure>"
                "</testcase></testsuite><testcase name=\"c\"><skipped/></testcase>"
                "<testcase name=\"d\" status=\"notrun\"/><testcase name=\"e\"><error>gone</error>"
                "<system-out>x<y/></system-out></testcase></testsuite></testsuites>",
                SCORE("100/3") "TEST 'C.a' 1 '250' ''\nTEST 'b' 0 '' 'want <1>\nat b.c:1'\nTEST "
                               "'e' 0 '' "
                               "'gone'\n"},
        {"junit", NULL, JUNIT("<testcase name=\"a\" time=\"1,000.5\"/><!-- x --><properties/>"),
                SCORE("100") "TEST 'a' 1 '' ''\n"},
        {"junit", NULL,
                JUNIT("<testcase name=\"&#233;\"/><testcase><failure/><error "
                      "message=\"2\"/></testcase>"),
                SCORE("50") "TEST '\xc3\xa9' 1 '' ''\nTEST '' 0 '' '2'\n"},
        {"junit", NULL, JUNIT("<testcase name=\"\xff\x01z\"/>"),
                SCORE("100") "TEST '\xef\xbf\xbd\xef\xbf\xbdz' 1 '' ''\nWARNING '' '2 bytes that "
                             "are no characters "
                             "of XML were replaced'\n"},
        {"junit", NULL,
                "<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase "
                "name='\xe9'/></testsuite>",
                SCORE("100") "TEST '\xc3\xa9' 1 '' ''\n"},
        {"junit", NULL, JUNIT("<testcase name='a'><skipped/><failure>x</failure></testcase>"),
                SCORE("0") "TEST 'a' 0 '' 'x'\n"},
        {"junit", NULL, JUNIT("<testcase name='a'><failure><![CDATA[<x>]]></failure></testcase>"),
                SCORE("0") "TEST 'a' 0 '' '<x>'\n"},

        {"tap", NULL,
                "TAP version 13\n1..4\nok 1 - one\nnot ok 2 two\n# because\n  ---\n  message: no\n "
                " ...\n"
                "ok 3 # SKIP no network\nnot ok 4 later # TODO soon\n",
                SCORE("200/3") "TEST 'one' 1 '' ''\nTEST 'two' 0 '' 'because\nmessage: no'\nTEST "
                               "'later' 1 '' ''\n"},
        {"tap", NULL, "1..3\nok 1\n    --- FAIL: TestX (0.00s)\nok 2\n  ---\nok 3\n",
                SCORE("100") "TEST '1' 1 '' ''\nTEST '2' 1 '' ''\nTEST '3' 1 '' ''\n"},
        {"tap", NULL, "1..3\nnot ok 1 - x # todolist entry\nok 2 # skippers\nok 3 # Skipped: no\n",
                SCORE("50") "TEST 'x # todolist entry' 0 '' ''\nTEST '# skippers' 1 '' ''\n"},
        {"tap", NULL, "ok\nnot ok\n1..2", SCORE("50") "TEST '1' 1 '' ''\nTEST '2' 0 '' ''\n"},
        {"tap", NULL,
                "TAP version 14\r\n1..2\r\n# Subtest: a\r\n    ok 1 - inner\r\n    1..1\r\nok 1 - "
                "a\r\npragma +strict\r\n",
                SCORE("50") "TEST 'a' 1 '' ''\nWARNING '' '1 of 2 planned tests did not run, and "
                            "failed'\n"},
        {"tap", NULL, "1..2\nok 2 - b\nok 1 - a \\# b\n",
                SCORE("100") "TEST 'b' 1 '' ''\nTEST 'a \\# b' 1 '' ''\n"},
        {"tap", NULL, "1..1\nok 1 \xff\x1b[31m\n", SCORE("100") "TEST '\\xff\\x1b[31m' 1 '' ''\n"},
        {"tap", NULL, "noise\nokay\n1..1\nok 1 2 3\n", SCORE("100") "TEST '2 3' 1 '' ''\n"},

        {"stdout-json", NULL,
                "hello\n{\"scores\": {\"a\": 1}}\n{\"scores\": {\"accuracy\": 900, \"speed\": "
                "7.5}}\n{\"x\": 1}\nbye\n",
                "SCORE '' 2 0 ''\nDIMENSION 'accuracy' '900'\nDIMENSION 'speed' '7.5'\n"},
        {"stdout-json", NULL, "  {\"scores\": {\"a\": 1000}}",
                "SCORE '' 2 0 ''\nDIMENSION 'a' '1000'\n"},
};

Test(score_formats, good)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                char *got =
                        score_result_text(good[i].format, good[i].options, 0, good[i].file, NULL);

                if (good[i].want)
                        cr_expect_str_eq(got, good[i].want, "%s %s:\ngot  %swant %s",
                                good[i].format, good[i].file, got, good[i].want);
                else
                        cr_expect_not_null(strstr(got, "error suite.result_invalid"), "%s", got);
                free(got);
        }
}

/* What is no strict JSON is refused alike by all formats that are JSON. */
static const char *const json_formats[] = {
        "score.json", "gradescope", "prairielearn", "codabench", "harbor", "ctrf"};
static const struct {
        const char *file, *why;
} no_json[] = {
        {"", "line 1, column 1: the document is empty"},
        {" \n ", "line 1, column 1: the document is empty"},
        {"{", "line 1, column 2: the document ends too early"},
        {"{\"score\": 1", "the document ends too early"},
        {"{\"score\": 1}}", "line 1, column 13: nothing may follow the document"},
        {"{\"score\": 1} x", "line 1, column 14: nothing may follow the document"},
        {"{\"score\": NaN}", "line 1, column 11: NaN is not JSON"},
        {"{\"score\": -Infinity}", "line 1, column 12: a number needs a digit here"},
        {"{\"score\": Infinity}", "line 1, column 11: Infinity is not JSON"},
        {"{\"score\": 01}", "line 1, column 11: a number must not begin with 0"},
        {"{\"score\": 1.}", "line 1, column 13: a digit must follow the decimal point"},
        {"{\"score\": .5}", "line 1, column 11: a number needs a digit before the point"},
        {"{\"score\": +1}", "line 1, column 11: a number must not begin with +"},
        {"{\"score\": 1e400}", "line 1, column 13: an exponent must be between -100 and 100"},
        {"{\"score\": 1234567890123456789012345678901}",
                "line 1, column 11: a number must not have more than 30 digits"},
        {"{\n\"score\": 1, // one\n}", "line 2, column 13: JSON has no comments"},
        {"{'score': 1}", "line 1, column 2: expected a key in double quotes"},
        {"{\"score\": 1,}", "line 1, column 13: no comma may stand before '}'"},
        {"{\"score\" 1}", "line 1, column 10: expected ':' after the key"},
        {"{\"a\": \"\xff\"}", "line 1, column 8: not valid UTF-8"},
        {"{\"a\": \"\\ud800\"}", "half of a surrogate pair is not a character"},
        {"{\"a\": \"\\u0000\"}", "\\u0000 is not accepted in a text"},
        {"{\"a\": \"\n\"}", "a control character or line end in a text"},
        {"{\"a\": 1, \"a\": 2}", "line 1, column 10: this key is already there"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                "nested deeper than 64 levels"},
        {"nonsense", "line 1, column 1: expected a value"},
};

Test(score_formats, what_is_no_json)
{
        for (size_t f = 0; f < sizeof json_formats / sizeof *json_formats; f++)
                for (size_t i = 0; i < sizeof no_json / sizeof *no_json; i++) {
                        char *got =
                                score_result_text(json_formats[f], NULL, 0, no_json[i].file, NULL);

                        cr_expect(strncmp(got, "error suite.result_invalid: ", 28) == 0 &&
                                          strstr(got, no_json[i].why),
                                "%s, %s: %s", json_formats[f], no_json[i].file, got);
                        free(got);
                }
}

static const struct {
        const char *format, *options, *file, *why;
} bad[] = {
        {"gradescope", NULL, "[]", "line 1, column 1: must be an object, not an array"},
        {"gradescope", NULL, "{}", "score: is missing, and no test has one"},
        {"gradescope", NULL, "{\"score\": 5}", "what the assignment is worth is not known"},
        {"gradescope", "  0", "{\"score\": 5}", "what the assignment is worth is not known"},
        {"gradescope", NULL, "{\"score\": \"5\"}",
                "line 1, column 2: score: must be a number, not the text \"5\""},
        {"gradescope", NULL, "{\"score\": null}", "score: must be a number, not null"},
        {"gradescope", NULL, "{\"score\": true}", "score: must be a number, not true"},
        {"gradescope", NULL, "{\"score\": 1, \"tests\": []}",
                "tests: must be an array of 1 to 100000 objects"},
        {"gradescope", NULL, "{\"tests\": {}}", "tests: must be an array of 1 to 100000 objects"},
        {"gradescope", NULL, "{\"tests\": [1]}", "line 1, column 12: tests[0]: must be an object"},
        {"gradescope", NULL, "{\"tests\": [{\"score\": \"1\"}]}",
                "line 1, column 13: tests[0].score: must be a number"},
        {"gradescope", NULL, "{\"tests\": [{\"max_score\": []}]}",
                "tests[0].max_score: must be a number, not an array"},
        {"gradescope", NULL, "{\"tests\": [{\"name\": 1}]}",
                "tests[0].name: must be a text, not 1"},
        {"gradescope", NULL, "{\"tests\": [{\"status\": \"ok\"}]}",
                "tests[0].status: must be \"passed\" or \"failed\""},
        {"gradescope", NULL, "{\"tests\": [{\"score\": 1}]}",
                "what the assignment is worth is not known"},
        {"gradescope", NULL, "{\"tests\": [{\"max_score\": 1}]}",
                "score: is missing, and no test has one"},
        {"gradescope", NULL, "{\"tests\": [{\"score\": 1, \"max_score\": -1}]}",
                "what the assignment is worth"},

        {"prairielearn", NULL, "5", "line 1, column 1: must be an object, not 5"},
        {"prairielearn", NULL, "{}", "score: must be a number from 0 to 1, not absent"},
        {"prairielearn", NULL, "{\"score\": 1.01}",
                "score: must be a number from 0 to 1, not 1.01"},
        {"prairielearn", NULL, "{\"score\": -0.1}",
                "score: must be a number from 0 to 1, not -0.1"},
        {"prairielearn", NULL, "{\"score\": 50}", "score: must be a number from 0 to 1, not 50"},
        {"prairielearn", NULL, "{\"score\": \"1\"}", "score: must be a number, not the text \"1\""},
        {"prairielearn", NULL, "{\"gradable\": 1, \"score\": 1}",
                "gradable: must be true or false, not 1"},
        {"prairielearn", NULL, "{\"score\": 1, \"tests\": []}",
                "tests: must be an array of 1 to 100000"},
        {"prairielearn", NULL, "{\"score\": 1, \"tests\": [{\"points\": \"x\"}]}",
                "tests[0].points: must be a number"},
        {"prairielearn", NULL, "{\"score\": 1, \"message\": []}",
                "message: must be a text, not an array"},
        {"prairielearn", NULL, "{\"score\": 1.000001}",
                "score: must be a number from 0 to 1, not 1.000001"},

        {"codabench", NULL, "[1]", "line 1, column 1: must be an object"},
        {"codabench", NULL, "{}", "has 0 keys; result.key must say which one is the score"},
        {"codabench", NULL, "{\"a\": 1, \"b\": 2}",
                "has 2 keys; result.key must say which one is the score"},
        {"codabench", "c", "{\"a\": 1, \"b\": 2}", "has no key \"c\""},
        {"codabench", NULL, "{\"a\": \"1\"}", "must be a number, not the text \"1\""},
        {"codabench", "a", "{\"a\": null}", "must be a number, not null"},
        {"codabench", "a 1 1", "{\"a\": 1}", "result.max must be greater than result.min"},
        {"codabench", "a 2", "{\"a\": 1}", "result.max must be greater than result.min"},

        {"harbor", NULL, "[]", "reward.json: line 1, column 1: must be an object"},
        {"harbor", NULL, "1", "reward.json: line 1, column 1: must be an object"},
        {"harbor", NULL, "{\"a\": 1, \"b\": 1}", "has 2 keys; result.key must say"},
        {"harbor", NULL, "{\"reward\": 1.5}", "a reward must be a number from 0 to 1, not 1.5"},
        {"harbor", NULL, "{\"reward\": -1}", "a reward must be a number from 0 to 1, not -1"},
        {"harbor", NULL, "{\"reward\": true}", "must be a number, not true"},
        {"harbor", "x", "{\"reward\": 1}", "has no key \"x\""},

        {"ctrf", NULL, "[]", "must be an object, not an array"},
        {"ctrf", NULL, "{}", "results: is missing; it must be an object"},
        {"ctrf", NULL, "{\"results\": []}", "results: must be an object, not an array"},
        {"ctrf", NULL, "{\"results\": {}}", "results.tests: is missing; it must be an array"},
        {"ctrf", NULL, "{\"results\": {\"tests\": []}}",
                "results.tests: must be an array of 1 to 100000 objects"},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{}]}}", "results.tests[0].name: is missing"},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{\"name\": \"a\"}]}}",
                "results.tests[0].status: is missing"},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{\"name\": \"a\", \"status\": \"PASSED\"}]}}",
                "results.tests[0].status: must be \"passed\" or \"failed\""},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{\"name\": \"a\", \"status\": true}]}}",
                "status: must be"},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{\"name\": 1, \"status\": \"passed\"}]}}",
                "name: must be a text, not 1"},
        {"ctrf", NULL,
                "{\"results\": {\"tests\": [{\"name\": \"a\", \"status\": \"passed\", "
                "\"duration\": \"1\"}]}}",
                "duration: must be a number"},
        {"ctrf", NULL, "{\"results\": {\"tests\": [{\"name\": \"a\", \"status\": \"skipped\"}]}}",
                "the suite collected no test, or skipped all"},

        {"junit", NULL, "", "line 1, column 1: no element found"},
        {"junit", NULL, "<?xml version='1.0' encoding=", "unclosed token"},
        {"junit", NULL, "nonsense", "line 1, column 1: syntax error"},
        {"junit", NULL, "{\"a\": 1}", "line 1, column 1: not well-formed"},
        {"junit", NULL, "<html/>", "the first element must be testsuites or testsuite"},
        {"junit", NULL, "<testcase/>", "the first element must be testsuites or testsuite"},
        {"junit", NULL, "<testsuites/>", "the suite collected no test, or skipped all"},
        {"junit", NULL, JUNIT(""), "the suite collected no test, or skipped all"},
        {"junit", NULL, JUNIT("<testcase><skipped/></testcase>"), "the suite collected no test"},
        {"junit", NULL, "<testsuite><testcase name=\"a\"/>", "no element found"},
        {"junit", NULL, "<testsuite>\n<testcase></testsuite>", "line 2, column 13: mismatched tag"},
        {"junit", NULL, JUNIT("<testcase name=\"a\"/>") "<testsuite/>",
                "junk after document element"},
        {"junit", NULL, JUNIT("<testcase name=\"a\" name=\"b\"/>"), "duplicate attribute"},
        {"junit", NULL, JUNIT("<testcase name=\"a<b\"/>"), "not well-formed"},
        {"junit", NULL, JUNIT("<testcase name=\"&unknown;\"/>"), "undefined entity"},
        {"junit", NULL, JUNIT("<testcase name='&#0;'/>"), "reference to invalid character number"},
        {"junit", NULL, JUNIT("<testcase><a><testcase/></a></testcase>"),
                "a testcase within a testcase"},
        {"junit", NULL, "<!DOCTYPE testsuite><testsuite/>",
                "line 1, column 20: a document type is not accepted"},
        {"junit", NULL, "<!DOCTYPE x [<!ENTITY a \"b\">]>" JUNIT("<testcase name='&a;'/>"),
                "a document type is not accepted"},
        {"junit", NULL, "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><testsuite/>",
                "a document type is not accepted"},
        {"junit", NULL,
                "<!DOCTYPE l [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><testsuite><testcase "
                "name='&b;'/></testsuite>",
                "a document type is not accepted"},
        {"junit", NULL, "<?xml version='1.0' encoding='x-unknown'?><testsuite/>",
                "unknown encoding"},
        {"junit", NULL, "<?xml version='1.0'?>\n<?xml version='1.0'?><testsuite/>",
                "line 2, column 1"},

        {"tap", NULL, "", "there is no plan"},
        {"tap", NULL, "ok 1\nok 2\n", "line 3, column 1: there is no plan (1..N)"},
        {"tap", NULL, "1..0 # SKIP nothing here\n", "the suite collected no test, or skipped all"},
        {"tap", NULL, "1..1\nok 1 # skip\n", "the suite collected no test, or skipped all"},
        {"tap", NULL, "1..2\n1..2\nok\nok\n", "line 2, column 1: a second plan"},
        {"tap", NULL, "1..x\nok\n", "line 1, column 1: a plan is written 1..N"},
        {"tap", NULL, "1..\nok\n", "line 1, column 1: a plan is written 1..N"},
        {"tap", NULL, "1..2x\nok\n", "a plan is written 1..N"},
        {"tap", NULL, "1..99999999999999999999\n", "a plan of more than 100000 tests"},
        {"tap", NULL, "1..1\nok 1\nok 2\n", "line 3, column 1: a test that was not planned"},
        {"tap", NULL, "ok 1\nok 2\n1..1\n", "line 4, column 1: test 2 ran, 1 were planned"},
        {"tap", NULL, "1..2\nok 1\nok 1\n",
                "line 3, column 1: a test number that was there already"},
        {"tap", NULL, "1..2\nok 1\nok 0\n", "a test number must be from 1 to 100000"},
        {"tap", NULL, "1..2\nok 99999999999\n", "a test number must be from 1 to 100000"},
        {"tap", NULL, "1..3\nok 1\nBail out! disk on fire\nok 2\n",
                "line 3, column 1: Bail out! disk on fire"},
        {"tap", NULL, "1..2\nok 1\nok 5\n", "line 3, column 1: a test that was not planned"},
        {"tap", NULL, "ok 7\n1..1\n", "test 7 ran, 1 were planned"},
        {"junit", NULL,
                JUNIT("<testcase name='a'><testcase name='b'><failure/></testcase></testcase>"),
                "a testcase within a testcase"},
        {"junit", NULL,
                JUNIT("<testcase "
                      "name='a'><failure/></testcase><system-out><testcase/></system-out>"),
                "a testcase that is in no testsuite"},

        {"stdout-json", NULL, "", "no line of the suite's standard output"},
        {"stdout-json", NULL, "hello\n[1]\n{}\n", "no line of the suite's standard output"},
        {"stdout-json", NULL, "{\"scores\": {\"a\": 1}} x\n",
                "no line of the suite's standard output"},
        {"stdout-json", NULL, "{\"scores\": []}\n", "must be an object of 1 to 1000 scores"},
        {"stdout-json", NULL, "a\n{\"scores\": {}}\n",
                "line 2 of the output: line 1, column 2: scores: must be an object"},
        {"stdout-json", NULL, "{\"scores\": {\"a\": 1001}}\n",
                "scores.a: must be a number from 0 to 1000, not 1001"},
        {"stdout-json", NULL, "{\"scores\": {\"a\": -1}}\n",
                "scores.a: must be a number from 0 to 1000, not -1"},
        {"stdout-json", NULL, "{\"scores\": {\"a\": \"1\"}}\n",
                "scores.a: must be a number from 0 to 1000"},
        {"stdout-json", NULL, "{\"scores\": {\"a\": 1}}\n{\"scores\": 5}\n",
                "line 2 of the output"},
};

Test(score_formats, bad)
{
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                char *got = score_result_text(bad[i].format, bad[i].options, 0, bad[i].file, NULL);

                cr_expect(strncmp(got, "error suite.", 12) == 0 && strstr(got, bad[i].why),
                        "%s %s: %s wanted: %s", bad[i].format, bad[i].file, got, bad[i].why);
                free(got);
        }
}

Test(score_formats, harbor_with_two_files)
{
        static const struct {
                const char *json, *text, *want;
        } rows[] = {
                {NULL, " 0.5\n", SCORE("50")},
                {"{\"reward\": 0.50}", "5e-1", SCORE("50")},
                {"{\"reward\": 1}", "0.5", "reward.json says 1, reward.txt says 0.5"},
                {NULL, NULL, "there is neither reward.json nor reward.txt"},
                {NULL, "", "reward.txt: line 1, column 1: must be one number and nothing else"},
                {NULL, "yes", "must be one number"},
                {NULL, "1 1", "must be one number"},
                {NULL, "NaN", "must be one number"},
                {NULL, "0x1", "must be one number"},
                {NULL, "2", "a reward must be a number from 0 to 1, not 2"},
                {"{", "1", "reward.json: line 1, column 2: the document ends too early"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = score_result_text("harbor", NULL, 0, rows[i].json, rows[i].text);

                cr_expect_not_null(strstr(got, rows[i].want), "row %zu: %s", i, got);
                free(got);
        }
}

Test(score_formats, exit_codes)
{
        static const struct {
                unsigned status;
                const char *want;
        } rows[] = {
                {0, "SCORE '100' 1 0 ''\n"},
                {1, "SCORE '0' 0 0 ''\n"},
                {124, "SCORE '0' 0 0 ''\n"},
                {125, "error suite.exit: the suite exited with status 125, which is no score\n"},
                {255, "error suite.exit: the suite exited with status 255, which is no score\n"},
                {256 + 9, "error suite.signal: the suite died from signal 9\n"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = score_result_text("exit-code", NULL, rows[i].status, NULL, NULL);

                cr_expect_str_eq(got, rows[i].want);
                free(got);
        }
}

Test(score_formats, more_tests_than_anyone_reads)
{
        _cleanup_buffer_ struct buffer file = BUFFER_INIT;
        char *got;

        buffer_add_text(&file, "<testsuite>");
        for (unsigned i = 0; i < 100001; i++)
                buffer_add_text(&file, "<testcase name='x'/>");
        buffer_add_text(&file, "</testsuite>");
        got = score_result_text("junit", NULL, 0, buffer_text(&file), NULL);
        cr_expect_str_eq(got, "error suite.result_invalid: more than 100000 tests\n");
        free(got);
}

Test(score_formats, xml_nested_too_deep)
{
        _cleanup_buffer_ struct buffer file = BUFFER_INIT;
        char *got;

        for (unsigned i = 0; i < 70; i++)
                buffer_add_text(&file, "<testsuite>");
        got = score_result_text("junit", NULL, 0, buffer_text(&file), NULL);
        cr_expect_not_null(strstr(got, "nested deeper than 64 levels"), "%s", got);
        free(got);
}
