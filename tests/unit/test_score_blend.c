/* The scheme "blend", by its vectors and by requests that must be refused. */
#include "evaluators/answer.h"
#include "evaluators/schemes/blend.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define REFUSED(text) "error internal.frame: a blend request " text "\n"

static void put_mode(struct buffer *b, uint8_t mode, uint8_t test, uint8_t llm, const char *pass)
{
        size_t at = answer_begin(b, BLEND_MODE);

        put_u8(b, mode);
        put_u8(b, test);
        put_u8(b, llm);
        put_text(b, pass);
        answer_end(b, at);
}

static void put_test(struct buffer *b, const char *score, uint8_t suite_pass)
{
        size_t at = answer_begin(b, BLEND_TEST);

        put_text(b, score);
        put_u8(b, suite_pass);
        answer_end(b, at);
}

static void put_llm(struct buffer *b, const char *score)
{
        size_t at = answer_begin(b, BLEND_LLM);

        put_text(b, score);
        answer_end(b, at);
}

static void put_criterion(struct buffer *b, uint8_t weight, const char *score)
{
        size_t at = answer_begin(b, BLEND_CRITERION);

        put_text(b, "name");
        put_u8(b, weight);
        put_text(b, score);
        answer_end(b, at);
}

static void expect(struct buffer *request, const char *want)
{
        char *got;

        answer_empty(request, SCORE_END);
        got = score_text_of(blend_answer, request);
        cr_expect_str_eq(got, want, "got  %swant %s", got, want);
        free(got);
        buffer_clear(request);
}

/* FINAL: score, test and llm score rounded; the same exact; passed. */
Test(score_blend, hybrid_vectors)
{
        static const struct {
                const char *test, *llm;
                uint8_t test_weight, llm_weight;
                const char *pass, *want;
        } rows[] = {
                {"80", "90", 60, 40, "70", "'84.00' '80.00' '90.00' '84' '80' '90' 1"},
                {"100", "50", 60, 40, "70", "'80.00' '100.00' '50.00' '80' '100' '50' 1"},
                {"80", "60", 90, 10, "80", "'78.00' '80.00' '60.00' '78' '80' '60' 0"},
                {"80", "60", 100, 0, "80", "'80.00' '80.00' '60.00' '80' '80' '60' 1"},
                {"80", "60", 0, 100, "80", "'60.00' '80.00' '60.00' '60' '80' '60' 0"},
                {"0.1", "0.2", 50, 50, "0.15", "'0.15' '0.10' '0.20' '3/20' '1/10' '1/5' 1"},
                {"0", "0", 60, 40, "0", "'0.00' '0.00' '0.00' '0' '0' '0' 1"},
                {"100", "100", 60, 40, "100", "'100.00' '100.00' '100.00' '100' '100' '100' 1"},
        };
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char want[128];

                put_mode(&request, MODE_HYBRID, rows[i].test_weight, rows[i].llm_weight,
                        rows[i].pass);
                put_test(&request, rows[i].test, SUITE_PASSED);
                put_llm(&request, rows[i].llm);
                snprintf(want, sizeof want, "FINAL %s\n", rows[i].want);
                expect(&request, want);
        }
}

Test(score_blend, llm_score_is_the_weighted_mean_of_the_criteria)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_criterion(&request, 60, "80");
        put_criterion(&request, 40, "100");
        expect(&request, "FINAL '88.00' '' '88.00' '88' '' '88' 1\n");

        /* In hybrid mode the llm criteria need not weigh 100. */
        put_mode(&request, MODE_HYBRID, 60, 40, "70");
        put_test(&request, "80", SUITE_PASSED);
        put_criterion(&request, 10, "50");
        put_criterion(&request, 20, "100");
        expect(&request, "FINAL '81.33' '80.00' '83.33' '244/3' '80' '250/3' 1\n");
}

Test(score_blend, container_mode_is_the_suite_alone)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        put_mode(&request, MODE_CONTAINER, 0, 0, "");
        put_test(&request, "12.345", SUITE_PASSED);
        expect(&request, "FINAL '12.35' '12.35' '' '2469/200' '2469/200' '' 1\n");
        put_mode(&request, MODE_CONTAINER, 0, 0, "");
        put_test(&request, "100", SUITE_FAILED);
        expect(&request, "FINAL '100.00' '100.00' '' '100' '100' '' 0\n");
        put_mode(&request, MODE_CONTAINER, 0, 0, "50");
        put_test(&request, "50", SUITE_FAILED);
        expect(&request, "FINAL '50.00' '50.00' '' '50' '50' '' 1\n");
}

/* The parts are told, and that there is no score. */
Test(score_blend, without_a_verdict_there_is_no_score)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        put_mode(&request, MODE_HYBRID, 60, 40, "0");
        put_test(&request, "80", SUITE_PASSED);
        answer_empty(&request, (enum score_message)BLEND_NO_VERDICT);
        expect(&request, "FINAL '' '80.00' '' '' '80' '' 0\n");
        put_mode(&request, MODE_LLM, 0, 0, "0");
        answer_empty(&request, (enum score_message)BLEND_NO_VERDICT);
        expect(&request, "FINAL '' '' '' '' '' '' 0\n");
        put_mode(&request, MODE_LLM, 0, 0, "0");
        answer_empty(&request, (enum score_message)BLEND_NO_VERDICT);
        put_llm(&request, "50");
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_CONTAINER, 0, 0, "0");
        put_test(&request, "80", SUITE_PASSED);
        answer_empty(&request, (enum score_message)BLEND_NO_VERDICT);
        expect(&request, REFUSED("has an invalid end"));
}

Test(score_blend, the_rounded_score_decides)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "69.995");
        expect(&request, "FINAL '70.00' '' '70.00' '13999/200' '' '13999/200' 1\n");
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "69.994");
        expect(&request, "FINAL '69.99' '' '69.99' '34997/500' '' '34997/500' 0\n");
}

Test(score_blend, values_are_checked_again)
{
        static const char *const scores[] = {"100.01", "-1", "", "NaN", "1e3", "8o", "\xff"};
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
                put_mode(&request, MODE_HYBRID, 60, 40, "70");
                put_test(&request, scores[i], SUITE_PASSED);
                expect(&request, REFUSED("has an invalid test score"));
                put_mode(&request, MODE_LLM, 0, 0, "70");
                put_llm(&request, scores[i]);
                expect(&request, REFUSED("has an invalid llm score"));
                put_mode(&request, MODE_LLM, 0, 0, "70");
                put_criterion(&request, 50, scores[i]);
                expect(&request, REFUSED("has an invalid criterion"));
        }
        put_mode(&request, MODE_HYBRID, 60, 41, "70");
        expect(&request, REFUSED("has an invalid mode"));
        put_mode(&request, MODE_COUNT, 60, 40, "70");
        expect(&request, REFUSED("has an invalid mode"));
        put_mode(&request, MODE_LLM, 0, 0, "101");
        expect(&request, REFUSED("has an invalid mode"));
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_criterion(&request, 0, "50");
        expect(&request, REFUSED("has an invalid criterion"));
        put_mode(&request, MODE_CONTAINER, 0, 0, "");
        put_test(&request, "50", 3);
        expect(&request, REFUSED("has an invalid test score"));
}

Test(score_blend, the_mode_says_which_scores_belong_in_a_request)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;

        expect(&request, REFUSED("has its end out of place"));
        put_test(&request, "50", SUITE_PASSED);
        expect(&request, REFUSED("has its test score out of place"));
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_mode(&request, MODE_LLM, 0, 0, "70");
        expect(&request, REFUSED("has its mode out of place"));
        put_mode(&request, MODE_LLM, 0, 0, "70");
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_LLM, 0, 0, "");
        put_llm(&request, "50");
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_CONTAINER, 0, 0, "");
        put_test(&request, "50", SUITE_DID_NOT_SAY);
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_HYBRID, 60, 40, "70");
        put_test(&request, "50", SUITE_PASSED);
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_CONTAINER, 0, 0, "70");
        put_test(&request, "50", SUITE_PASSED);
        put_llm(&request, "50");
        expect(&request, REFUSED("has an invalid end"));
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "50");
        put_criterion(&request, 50, "50");
        expect(&request, REFUSED("has an invalid criterion"));
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "50");
        put_llm(&request, "50");
        expect(&request, REFUSED("has an invalid llm score"));
}

Test(score_blend, a_cut_or_continued_request_is_refused)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;
        char *got;

        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "50");
        got = score_text_of(blend_answer, &request);
        cr_expect_str_eq(got, REFUSED("does not end where it should"));
        free(got);
        request.len -= 1;
        got = score_text_of(blend_answer, &request);
        cr_expect_str_eq(got, REFUSED("does not end where it should"));
        free(got);
        buffer_clear(&request);
        put_mode(&request, MODE_LLM, 0, 0, "70");
        put_llm(&request, "50");
        answer_empty(&request, SCORE_END);
        expect(&request, REFUSED("does not end where it should"));
}
