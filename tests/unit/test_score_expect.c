/* What a solution must get, and what it got. */
#include "evaluators/answer.h"
#include "evaluators/expect.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define INVALID(text) "error task.expectation: line 1, " text "\n"
#define MET           "GIVEN ''\n"
#define NOT(text)     "GIVEN ''\nDIFFERS '" text "'\n"

/* "STATUS CODE OUTCOME SCORE TEST_SCORE", - for an empty one; NULL: nothing came of it yet */
static char *ask(const char *expect, const char *actual)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        size_t at = answer_begin(&in, REQUEST_EXPECT);

        put_u8(&in, actual != NULL);
        for (unsigned i = 0; i < 5; i++) {
                const size_t len = actual ? strcspn(actual, " ") : 0;

                put_bytes(&in, actual, len == 1 && *actual == '-' ? 0 : len);
                if (actual)
                        actual += len + (actual[len] == ' ');
        }
        answer_end(&in, at);
        at = answer_begin(&in, REQUEST_PIECE);
        put_u8(&in, DOCUMENT_SPEC);
        put_text(&in, expect);
        answer_end(&in, at);
        answer_empty(&in, SCORE_END);
        return score_text_of(expect_answer, &in);
}

static const char graded[] = "graded - pass 84.00 90.00";
static const char third[] = "graded - fail 33.33 33.33";
static const char unbuilt[] = "graded build.failed fail 0.00 0.00";
static const char rejected[] = "rejected archive.link_escape - - -";

static const struct {
        const char *expect, *actual, *want;
} rows[] = {
        {"{\"score\": 84}", graded, MET},
        {"{\"score\": 84.000}", graded, MET},
        {"{\"score\": 8.4e1}", graded, MET},
        {"{\"score\": 84.01}", graded, NOT("score is 84.00, not 84.01")},
        {"{\"score\": 33.33}", third, MET},
        {"{\"score\": {\"min\": 84}}", graded, MET},
        {"{\"score\": {\"max\": 84}}", graded, MET},
        {"{\"score\": {\"min\": 84.0000001}}", graded, NOT("score is 84.00, below 84.0000001")},
        {"{\"score\": {\"min\": 0, \"max\": 83.99}}", graded, NOT("score is 84.00, above 83.99")},
        {"{\"test_score\": {\"min\": 90, \"max\": 90}, \"outcome\": \"pass\"}", graded, MET},
        {"{\"test_score\": 80, \"outcome\": \"fail\"}", graded,
                "GIVEN ''\nDIFFERS 'test_score is 90.00, not 80'\n"
                "DIFFERS 'outcome is pass, not fail'\n"},
        {"{\"test_score\": 80}", "graded - pass 84.00 -", NOT("there is no test_score")},
        {"{\"score\": 0, \"code\": \"build.failed\"}", unbuilt, MET},
        {"{\"code\": \"limit.wall\"}", unbuilt, NOT("code is build.failed, not limit.wall")},
        {"{\"code\": \"limit.wall\"}", graded, NOT("code is missing, not limit.wall")},
        {"{\"status\": \"rejected\"}", rejected, MET},
        {"{\"status\": \"rejected\", \"code\": \"archive.empty\"}", rejected,
                NOT("code is archive.link_escape, not archive.empty")},
        {"{\"status\": \"rejected\"}", graded, NOT("status is graded, not rejected")},
        {"{\"score\": 84}", rejected, NOT("status is rejected (archive.link_escape), not graded")},
        {"{\"outcome\": \"fail\"}", rejected,
                NOT("status is rejected (archive.link_escape), not graded")},
        {"{\"score\": 84, \"llm_score\": 5.0e1}", NULL, "GIVEN '50'\n"},
        {"{\"score\": 84, \"llm_score\": 62.50}", graded, "GIVEN '62.50'\n"},
        {"{}", NULL,
                INVALID("column 1: score: is missing, and so are test_score, outcome, status and "
                        "code: nothing is expected")},
        {"{\"llm_score\": 50}", NULL,
                INVALID("column 1: score: is missing, and so are test_score, outcome, status and "
                        "code: nothing is expected")},
        {"{\"score\": {}}", NULL,
                INVALID("column 2: score: expects nothing; give min, max or a number")},
        {"{\"score\": {\"min\": 9, \"max\": 8.99}}", NULL,
                INVALID("column 2: score: has a min that is greater than its max")},
        {"{\"score\": -1}", NULL,
                INVALID("column 2: score: must be a number from 0 to 1000, or an object such as "
                        "{\"min\": 90, \"max\": 100}, not -1")},
        {"{\"scor\": 1}", NULL,
                INVALID("column 2: scor: is not a key here; did you mean \"score\"?")},
        {"{\"status\": \"graded\", \"code\": \"no.such\"}", NULL,
                INVALID("column 22: code: must be a code that `assay explain` lists")},
        {"{\"score\": 1, \"status\": \"rejected\"}", NULL,
                INVALID("column 14: status: cannot be \"rejected\" where a score or an outcome is "
                        "expected")},
        {"{\"score\": 1} 2", NULL, INVALID("column 14: nothing may follow the document")},
};

Test(score_expect, is_met_or_not)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = ask(rows[i].expect, rows[i].actual);

                cr_expect_str_eq(got, rows[i].want, "%s of %s:\ngot  %swant %s", rows[i].expect,
                        rows[i].actual ? rows[i].actual : "nothing", got, rows[i].want);
                free(got);
        }
}

Test(score_expect, a_request_that_is_not_as_agreed_is_refused)
{
        char *got = score_text(expect_answer, "{}");

        cr_expect_str_eq(got, "error internal.frame: a request is not as agreed\n", "%s", got);
        free(got);
}
