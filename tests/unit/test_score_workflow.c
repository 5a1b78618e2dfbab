/* Workflows: what a document means, what is said of each mistake, and what goes from step to step.
 */
#include "evaluators/answer.h"
#include "evaluators/workflow.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

static void put_document(struct buffer *in, enum score_document which, const char *text)
{
        size_t at;

        if (!text)
                return;
        at = answer_begin(in, REQUEST_PIECE);
        put_u8(in, (uint8_t)which);
        put_bytes(in, text, strlen(text));
        answer_end(in, at);
}

/* The tools are `sum` and `text`. */
static char *plan(const char *document)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        size_t at = answer_begin(&in, REQUEST_WORKFLOW);

        put_u32(&in, 2);
        put_text(&in, "sum");
        put_text(&in, "text");
        answer_end(&in, at);
        put_document(&in, DOCUMENT_SUBMISSION, document);
        answer_empty(&in, SCORE_END);
        return score_text_of(workflow_answer, &in);
}

#define A            "{\"id\": \"a\", \"tool\": \"sum\"}"
#define STEP(more)   "{\"id\": \"b\", \"tool\": \"text\", " more "}"
#define STEPS(steps) "{\"steps\": [" steps "]}"
#define AFTER_A      "\"depends_on\": [\"a\"]"

static const struct {
        const char *document, *want;
} good[] = {
        {STEPS(A), "STEP 'a' 0 0 0 [] [] '{}'\n"},
        /* That of the contract, with the step that it needs. */
        {"{\"steps\": [" A ", {\"id\": \"b\", \"tool\": \"sum\", \"input\": {\"text\": {\"$from\": "
         "\"a\", \"path\": \"/result\"}}, \"depends_on\": [\"a\"], \"timeout_seconds\": 10}], "
         "\"error_handling\": {\"b\": {\"retry_count\": 2}}}",
                "STEP 'a' 0 0 0 [] [] '{}'\n"
                "STEP 'b' 0 2 10000000 [0] [0] '{\"text\": {\"$from\": \"a\", \"path\": "
                "\"/result\"}}'\n"},
        /* The order is that of the document as far as the dependencies let it. */
        {STEPS(STEP(AFTER_A) ", " A), "STEP 'a' 0 0 0 [] [] '{}'\nSTEP 'b' 1 0 0 [0] [] '{}'\n"},
        {STEPS("{\"id\": \"d\", \"tool\": \"sum\", \"depends_on\": [\"b\", \"c\"]}, " A
               ", {\"id\": \"c\", \"tool\": \"sum\", " AFTER_A "}, " STEP(AFTER_A)),
                "STEP 'a' 0 0 0 [] [] '{}'\nSTEP 'c' 0 0 0 [0] [] '{}'\n"
                "STEP 'b' 1 0 0 [0] [] '{}'\nSTEP 'd' 0 0 0 [2 1] [] '{}'\n"},
        /* Any value is an input, and references may stand anywhere, also to steps further up. */
        {STEPS(A ", " STEP(AFTER_A ", \"input\": 7") ", {\"id\": \"c\", \"tool\": \"sum\", "
                                                     "\"depends_on\": [\"b\"], \"input\": "
                                                     "[{\"$from\": \"b\"}, {\"x\": {\"$from\": "
                                                     "\"a\", \"path\": \"\"}}]}"),
                "STEP 'a' 0 0 0 [] [] '{}'\nSTEP 'b' 1 0 0 [0] [] '7'\n"
                "STEP 'c' 0 0 0 [1] [0 1] '[{\"$from\": \"b\"}, {\"x\": {\"$from\": \"a\", "
                "\"path\": \"\"}}]'\n"},
        {STEPS("{\"id\": \"a\", \"tool\": \"sum\", \"timeout_seconds\": 0.000001}"),
                "STEP 'a' 0 0 1 [] [] '{}'\n"},
        /* What is not known is no error. */
        {"{\"steps\": [{\"id\": \"a\", \"tool\": \"sum\", \"depend_on\": []}], \"name\": \"x\", "
         "\"error_handling\": {\"a\": {\"retries\": 1}}}",
                "STEP 'a' 0 0 0 [] [] '{}'\n"
                "WARNING 'steps[0].depend_on' 'is not a key here; did you mean \"depends_on\"?'\n"
                "WARNING 'name' 'is not a key here'\n"
                "WARNING 'error_handling.a.retries' 'is not a key here'\n"},
};

Test(score_workflow, good_documents)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                char *got = plan(good[i].document);

                cr_expect_str_eq(got, good[i].want, "%s:\ngot  %swant %s", good[i].document, got,
                        good[i].want);
                free(got);
        }
}

#define INPUT(input) STEPS(A ", " STEP(AFTER_A ", \"input\": " input))
#define MADE         "has a \"$from\" and must be {\"$from\": the id of a step, \"path\": a JSON Pointer}"

/* Where, and what is said. */
static const struct {
        const char *document, *place;
} mistakes[] = {
        {"", "line 1, column 1: the document is empty"},
        {"[]", "line 1, column 1: must be an object, not an array"},
        {"{}", "line 1, column 1: steps: is missing; it must be an array of 1 to 1000 objects"},
        {STEPS(""), "line 1, column 2: steps: must be an array of 1 to 1000 objects, not an array"},
        {STEPS("1"), "line 1, column 12: steps[0]: must be an object"},
        {STEPS("{\"id\": \"a\"}"), "line 1, column 12: steps[0].tool: is missing; it must be a "
                                   "text of 1 to 100 bytes"},
        {STEPS(A ",\n" A),
                "line 2, column 2: steps[1].id: \"a\" is the id of another step already"},
        {STEPS("{\"id\": \"a\", \"tool\": \"sun\"}"),
                "line 1, column 24: steps[0].tool: is no tool of this task; did you mean \"sum\"?"},
        {STEPS("{\"id\": \"a\", \"tool\": \"/bin/sh\"}"),
                "line 1, column 24: steps[0].tool: is no tool of this task"},
        {STEPS(A ", " STEP("\"depends_on\": [\"x\"]")),
                "line 1, column 68: steps[1].depends_on: names \"x\", which is no step"},
        {STEPS("{\"id\": \"fetch\", \"tool\": \"sum\", \"depends_on\": [\"fetsh\"]}"),
                "line 1, column 43: steps[0].depends_on: names no step; did you mean \"fetch\"?"},
        {STEPS("{\"id\": \"a\", \"tool\": \"sum\", " AFTER_A "}"),
                "line 1, column 39: steps[0].depends_on: makes a circle: the step waits for "
                "itself, "
                "through \"a\""},
        {STEPS(STEP("\"depends_on\": [\"c\"]") ", {\"id\": \"c\", \"tool\": \"sum\", "
                                               "\"depends_on\": [\"b\"]}"),
                "line 1, column 40: steps[0].depends_on: makes a circle: the step waits for "
                "itself, "
                "through \"c\""},
        {STEPS("{\"id\": \"a\", \"tool\": \"sum\", \"timeout_seconds\": 0}"),
                "line 1, column 39: steps[0].timeout_seconds: must be above 0 and at most 86400, "
                "with at most 6 decimals"},
        {STEPS("{\"id\": \"a\", \"tool\": \"sum\", \"timeout_seconds\": 1e-7}"),
                "line 1, column 39: steps[0].timeout_seconds: must be above 0 and at most 86400, "
                "with at most 6 decimals"},
        {"{\"steps\": [" A "], \"error_handling\": {\"b\": {}}}",
                "line 1, column 60: error_handling.b: is the id of no step"},
        {"{\"steps\": [" A "], \"error_handling\": {\"a\": {\"retry_count\": 100}}}",
                "line 1, column 66: error_handling.a.retry_count: must be a whole number from 0 to "
                "99, not 100"},
        {"{\"steps\": [" A "], \"error_handling\": []}",
                "line 1, column 41: error_handling: must be an object, such as {\"b\": "
                "{\"retry_count\": 2}}, not an array"},
        {INPUT("{\"$from\": \"x\"}"),
                "line 1, column 89: steps[1].input: wants the output of \"x\", which is no step"},
        {STEPS(A ", " STEP("\"input\": [{\"$from\": \"a\"}]")),
                "line 1, column 68: steps[1].input: wants the output of \"a\", which the step does "
                "not depend on; name it in depends_on"},
        /* Of itself, and of one that comes later. */
        {INPUT("{\"$from\": \"b\"}"),
                "line 1, column 89: steps[1].input: wants the output of \"b\", which the step does "
                "not depend on; name it in depends_on"},
        {STEPS("{\"id\": \"a\", \"tool\": \"sum\", \"input\": {\"$from\": \"b\"}}, " STEP(AFTER_A)),
                "line 1, column 39: steps[0].input: wants the output of \"b\", which the step does "
                "not depend on; name it in depends_on"},
        {INPUT("{\"$from\": 1}"), "line 1, column 89: steps[1].input: " MADE},
        {INPUT("[{\"$from\": \"a\", \"pathh\": \"\"}]"),
                "line 1, column 99: steps[1].input[0]: " MADE},
        {INPUT("{\"$from\": \"a\", \"path\": \"result\"}"),
                "line 1, column 89: steps[1].input: has a path that is no JSON Pointer, such as "
                "\"/result\""},
        {INPUT("{\"$from\": \"a\", \"path\": \"/~2\"}"),
                "line 1, column 89: steps[1].input: has a path that is no JSON Pointer, such as "
                "\"/result\""},
};

Test(score_workflow, each_mistake_is_named_with_its_place)
{
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
                char *got = plan(mistakes[i].document), want[512];

                snprintf(want, sizeof want, "error workflow.invalid: %s\n", mistakes[i].place);
                cr_expect_str_eq(got, want, "%s:\ngot  %swant %s", mistakes[i].document, got, want);
                free(got);
        }
}

/* --- inputs --------------------------------------------------------------------------------- */

static char *ask(uint16_t request, const char *const documents[DOCUMENT_COUNT], const char *time,
        const char *test_score)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        size_t at = answer_begin(&in, request);

        if (time) {
                put_text(&in, time);
                put_text(&in, test_score);
        }
        answer_end(&in, at);
        for (unsigned i = 0; i < DOCUMENT_COUNT; i++)
                put_document(&in, (enum score_document)i, documents[i]);
        answer_empty(&in, SCORE_END);
        return score_text_of(workflow_answer, &in);
}

Test(score_workflow, inputs_with_what_they_refer_to)
{
        static const struct {
                const char *input, *outputs, *want;
        } rows[] = {
                {"{\"$from\": \"a\"}", "{\"a\": {\"r\": [1.50e1, \"x\"]}}",
                        "INPUT '{\"r\": [1.50e1, \"x\"]}'\n"},
                {"[1, {\"x\":{\"$from\": \"a\", \"path\": \"/r/1\"}} ,{\"$from\": \"b\"}]",
                        "{\"a\": {\"r\": [1, \"x\"]}, \"b\": null}",
                        "INPUT '[1, {\"x\":\"x\"} ,null]'\n"},
                {"{\"$from\": \"a\", \"path\": \"/~1~0\"}", "{\"a\": {\"/~\": true}}",
                        "INPUT 'true'\n"},
                /* What comes out of a step is data: it refers to nothing. */
                {"[{\"$from\": \"a\"}]", "{\"a\": {\"$from\": \"b\"}, \"b\": 1}",
                        "INPUT '[{\"$from\": \"b\"}]'\n"},
                {"{\"$from\": \"a\", \"path\": \"/r\"}", "{\"a\": []}",
                        "WRONG 'the output of \"a\" has nothing at \"/r\"'\n"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                const char *documents[DOCUMENT_COUNT] = {
                        [DOCUMENT_SUBMISSION] = rows[i].input, [DOCUMENT_RECORD] = rows[i].outputs};
                char *got = ask(REQUEST_INPUT, documents, NULL, NULL);

                cr_expect_str_eq(
                        got, rows[i].want, "%s: got %swant %s", rows[i].input, got, rows[i].want);
                free(got);
        }
}

/* Two references of 300 KB are more than an input may have. */
Test(score_workflow, inputs_do_not_grow_without_bound)
{
        static char outputs[300100];
        const char *documents[DOCUMENT_COUNT] = {
                [DOCUMENT_SUBMISSION] = "[{\"$from\": \"a\"}, {\"$from\": \"a\"}]",
                [DOCUMENT_RECORD] = outputs};
        char *got;

        snprintf(outputs, sizeof outputs, "{\"a\": \"%0300000d\"}", 0);
        got = ask(REQUEST_INPUT, documents, NULL, NULL);
        cr_expect_str_eq(got, "WRONG 'the input has more than 524288 bytes'\n", "got %s", got);
        free(got);
}

Test(score_workflow, outputs_that_are_none)
{
        static const struct {
                const char *output, *want;
        } rows[] = {
                {"", "WRONG 'the output is no JSON: line 1, column 1: the document is empty'\n"},
                {"1 2", "WRONG 'the output is no JSON: line 1, column 3: "},
                {"{\"a\": 1, \"a\": 1}", "WRONG 'the output is no JSON: line 1, column 10: "},
                {"NaN", "WRONG 'the output is no JSON: line 1, column 1: "},
                {"\"\xff\"", "WRONG 'the output is no JSON: line 1, column 2: "},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                const char *documents[DOCUMENT_COUNT] = {[DOCUMENT_RESULT] = rows[i].output};
                char *got = ask(REQUEST_OUTPUT, documents, NULL, NULL);

                cr_expect(strncmp(got, rows[i].want, strlen(rows[i].want)) == 0,
                        "%s: got %swant %s", rows[i].output, got, rows[i].want);
                free(got);
        }
}

/* --- quality -------------------------------------------------------------------------------- */

/* Cut off, so that nothing gets above the gate by being written down. */
Test(score_workflow, quality_of_what_comes_out)
{
        static const struct {
                const char *quality, *output, *truth, *test_score, *want;
        } rows[] = {
                {"\"primitive\": \"exact_match\", \"field\": \"/r\", \"ground_truth_field\": \"r\"",
                        "{\"r\": 1.0}", "{\"r\": 1}", "", "QUALITY '1' ''\n"},
                {"\"primitive\": \"exact_match\", \"field\": \"r\", \"ground_truth_field\": \"r\"",
                        "null", "{\"r\": 1}", "", "QUALITY '0' 'has no r'\n"},
                {"\"primitive\": \"exact_match_ratio\", \"field\": \"r\", \"ground_truth_field\": "
                 "\"r\"",
                        "{\"r\": [1, 2, 0]}", "{\"r\": [1, 2, 3]}", "",
                        "QUALITY '0.66666666666666666666' ''\n"},
                {"\"primitive\": \"time_decay\", \"time_limit_secs\": 10", "1", NULL, "",
                        "QUALITY '0.6' ''\n"},
                {"\"source\": \"suite\"", "1", NULL, "125/2", "QUALITY '0.625' ''\n"},
                {"\"source\": \"suite\"", "1", NULL, "0", "QUALITY '0' ''\n"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char task[300];
                const char *documents[DOCUMENT_COUNT] = {[DOCUMENT_SPEC] = task,
                        [DOCUMENT_SUBMISSION] = rows[i].output,
                        [DOCUMENT_TRUTH] = rows[i].truth};
                char *got;

                snprintf(task, sizeof task, "{\"scoring\": {\"quality\": {%s}}}", rows[i].quality);
                got = ask(REQUEST_QUALITY, documents, "4", rows[i].test_score);
                cr_expect_str_eq(
                        got, rows[i].want, "%s: got %swant %s", rows[i].quality, got, rows[i].want);
                free(got);
        }
}
