/* Specs of dimensions: what is said of each mistake, and what an evaluation gives them. */
#include "evaluators/answer.h"
#include "evaluators/schemes/dimensions.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define SPEC(rows) "{\"dimensions\": [" rows "]}"
#define A                                                                                          \
        "{\"name\": \"a\", \"weight\": 0.5, \"primitive\": \"exact_match\", \"field\": \"x\", "    \
        "\"ground_truth_field\": \"x\"}"
#define B(more) "{\"name\": \"b\", \"weight\": 0.5, " more "}"

/* With the sources of an evaluation, or without. */
static char *answer(const char *spec, const struct buffer *sources)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        static const struct {
                enum score_document which;
                const char *text;
        } documents[] = {{DOCUMENT_SPEC, NULL}, {DOCUMENT_SUBMISSION, "{\"x\": 1}"},
                {DOCUMENT_TRUTH, "{\"x\": 1.0}"}};
        size_t at = answer_begin(&in, REQUEST_SCORE);

        put_text(&in, "");
        put_text(&in, "");
        put_text(&in, "");
        put_u8(&in, 0);
        answer_end(&in, at);
        for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
                const char *text = documents[i].text ? documents[i].text : spec;

                at = answer_begin(&in, REQUEST_PIECE);
                put_u8(&in, (uint8_t)documents[i].which);
                put_bytes(&in, text, strlen(text));
                answer_end(&in, at);
        }
        if (sources) {
                at = answer_begin(&in, REQUEST_PIECE);
                put_u8(&in, DOCUMENT_SOURCES);
                put_bytes(&in, sources->data, sources->len);
                answer_end(&in, at);
        }
        answer_empty(&in, SCORE_END);
        return score_text_of(dimensions_answer, &in);
}

static const struct {
        const char *spec, *key, *text;
} wrong[] = {
        {SPEC(A), "dimensions", "must be an array of 2 to 8 objects"},
        {SPEC(A "," A), "dimensions[1].name", "is the name of dimensions[0] already"},
        {SPEC(A "," B("\"primitive\": \"exact_mach\"")), "dimensions[1].primitive",
                "is none; did you mean \"exact_match\"?"},
        {SPEC(A "," B("\"label\": \"x\"")), "dimensions[1]", "needs a primitive or a source"},
        {SPEC(A "," B("\"primitive\": \"exact_match\", \"source\": \"suite\"")),
                "dimensions[1].source", "and primitive exclude each other"},
        {SPEC(A "," B("\"primitive\": \"exact_match\"")), "dimensions[1].field",
                "is missing; exact_match needs it"},
        {SPEC(A "," B("\"primitive\": \"time_decay\", \"time_limit_secs\": 1, \"field\": \"x\"")),
                "dimensions[1].field", "is nothing that time_decay takes"},
        {SPEC(A "," B("\"primitive\": \"time_decay\"")), "dimensions[1].time_limit_secs",
                "is missing, and the spec has no time_limit either"},
        {SPEC(A "," B("\"primitive\": \"time_decay\", \"time_limit_secs\": 0")),
                "dimensions[1].time_limit_secs", "must be above 0"},
        {SPEC(A "," B("\"primitive\": \"numeric_tolerance\", \"field\": \"x\", "
                      "\"ground_truth_field\": \"x\", "
                      "\"tolerance\": -1e-30")),
                "dimensions[1].tolerance", "must not be below 0"},
        {SPEC(A "," B("\"primitive\": \"api_call_efficiency\", \"field\": \"x\", \"optimal\": 5, "
                      "\"max\": 5")),
                "dimensions[1].max", "must be above `optimal`"},
        {SPEC(A "," B("\"source\": \"suite\"")), "dimensions[1].source", "needs an evaluation"},
        {SPEC(A "," B("\"source\": \"tokens\"")), "dimensions[1].source",
                "needs constraints.token_budget"},
        {SPEC(A ", {\"name\": \"b\", \"weight\": 0.4999, \"primitive\": \"exact_match\", "
                "\"field\": \"x\", "
                "\"ground_truth_field\": \"x\"}"),
                "dimensions", "has weights that add up to 9999/10000, not 1"},
        {SPEC("{\"name\": \"A\", \"weight\": -1, \"primitive\": 1}," B("\"colour\": 1")),
                "dimensions[0].name", "must have only the letters a to z and _"},
        {SPEC(A "," A) "x", "", "nothing may follow the document"},
        {"{\"dimensions\": [" A "," A
         "], \"format\": [{\"field\": \"x\", \"type\": \"number\", \"severity\": \"error\"}]}",
                "format[0].dimension", "is missing; severity error makes one 0"},
        {"{\"dimensions\": [" A "," A "], \"time_limit\": \"5 minutes\"}", "time_limit",
                "must be a duration such as \"300s\", or a number of seconds"},
        {"{\"dimensions\": [" A "," A "], \"constraints\": {\"token_budget\": 0}}",
                "constraints.token_budget", "must be above 0"},
        {"{\"type\": \"test-suite\", \"dimensions\": [" A "," A "]}", "type",
                "needs a dimension with such a source"},
};

Test(score_dimensions, each_mistake_is_named_with_its_place)
{
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                char *got = answer(wrong[i].spec, NULL);

                cr_expect(strstr(got, wrong[i].key) && strstr(got, wrong[i].text) &&
                                  strstr(got, "error score.spec_invalid"),
                        "%s:\ngot  %swant %s: %s", wrong[i].spec, got, wrong[i].key, wrong[i].text);
                free(got);
        }
}

static void put_given(
        struct buffer *to, enum score_message type, const char *name, const char *score)
{
        size_t at = answer_begin(to, type);

        if (name)
                put_text(to, name);
        if (type == GIVEN_TEST)
                put_u8(to, *score == '1');
        else
                put_text(to, score);
        answer_end(to, at);
}

/* No verdict yet: what there is of the score, and no total. */
Test(score_dimensions, without_a_verdict_the_judges_wait)
{
        _cleanup_buffer_ struct buffer sources = BUFFER_INIT;
        char *got;

        put_given(&sources, GIVEN_SUITE, NULL, "165/2");
        answer_empty(&sources, (enum score_message)GIVEN_NO_VERDICT);
        got = answer(SPEC("{\"name\": \"a\", \"weight\": 0.5, \"source\": \"suite\"}," B(
                             "\"source\": \"judge\", \"criterion\": \"Style\"")),
                &sources);
        cr_expect_str_eq(got,
                "DIMENSION 'a' 'a' '' '' '' '825.00' '0.5' '412.50' '825' '825/2'\n"
                "DIMENSION 'b' 'b' '' '' 'Style' '' '0.5' '' '' ''\n",
                "got  %s", got);
        free(got);
}

static const struct {
        const char *type, *dimension, *want;
} given[] = {
        {"test-suite", "\"source\": \"suite\"",
                "'b' '' '' '' '825.00' '0.5' '412.50' '825' '825/2'"},
        {"test-suite", "\"source\": \"tests\", \"tests\": [\"edge/*\"]",
                "'b' '' '' '' '333.33' '0.5' '166.67' '1000/3' '500/3'"},
        {"test-suite", "\"source\": \"tests\", \"tests\": [\"nothing\"]",
                "error suite.result_invalid: b: the suite has no test that its patterns match"},
        {NULL, "\"source\": \"judge\", \"criterion\": \"Style\"",
                "'b' '' '' 'Style' '905.00' '0.5' '452.50' '905' '905/2'"},
        {NULL, "\"source\": \"judge\", \"criterion\": \"Taste\"",
                "error judge.invalid_verdict: b: the verdict does not score the criterion "
                "\"Taste\""},
        {"custom-script", "\"source\": \"script\", \"key\": \"k\"",
                "'b' '' '' '' '7.00' '0.5' '3.50' '7' '7/2'"},
        {"custom-script", "\"source\": \"script\"",
                "error suite.result_invalid: b: the script gave no score for \"b\""},
        {"custom-script", "\"source\": \"suite\"", "needs a dimension with such a source"},
        {"deterministic", "\"source\": \"suite\"",
                "\"deterministic\" does not go with the source of a dimension"},
        {NULL, "\"source\": \"suite\", \"key\": \"k\"", "belongs to the source \"script\""},
        {NULL, "\"source\": \"tests\"", "is missing; the source \"tests\" needs it"},
};

Test(score_dimensions, what_an_evaluation_gives)
{
        _cleanup_buffer_ struct buffer sources = BUFFER_INIT;

        put_given(&sources, GIVEN_SUITE, NULL, "165/2");
        put_given(&sources, GIVEN_TEST, "edge/one", "1");
        put_given(&sources, GIVEN_TEST, "edge/two", "0");
        put_given(&sources, GIVEN_TEST, "core/one", "1");
        put_given(&sources, GIVEN_TEST, "edge/three", "0");
        put_given(&sources, GIVEN_JUDGE, "Style", "90.5");
        put_given(&sources, GIVEN_SCRIPT, "k", "7");
        for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
                _cleanup_buffer_ struct buffer spec = BUFFER_INIT;
                char *got;

                buffer_add_text(&spec, "{");
                if (given[i].type)
                        buffer_add_format(&spec, "\"type\": \"%s\", ", given[i].type);
                buffer_add_format(&spec,
                        "\"dimensions\": [" A ", {\"name\": \"b\", \"weight\": 0.5, %s}]}",
                        given[i].dimension);
                got = answer(buffer_text(&spec), &sources);
                cr_expect_not_null(strstr(got, given[i].want), "%s:\ngot  %swant %s",
                        given[i].dimension, got, given[i].want);
                free(got);
        }
}
