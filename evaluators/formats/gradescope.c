/* results.json of Gradescope's autograders: {"score"?, "tests"?: [{"score"?, "max_score"?,
 * "status"?, "name"?, "output"?}], "output"?}. What the assignment is worth is the task's
 * `result.max`. */
#include "evaluators/formats/json_result.h"

struct test {
        char score[NUMBER_TEXT_SIZE], max_score[NUMBER_TEXT_SIZE];
        const char *name, *output;
        unsigned status;
};

struct result {
        char score[NUMBER_TEXT_SIZE];
        const char *output;
        struct list tests;
};

enum { STATUS_NOT_SAID, STATUS_PASSED, STATUS_FAILED };
static const struct choice statuses[] = {
        {"passed", STATUS_PASSED},
        {"failed", STATUS_FAILED},
        {0},
};

static const struct field test_rows[] = {
        FIELD("score", field_number, OPTIONAL, struct test, score),
        FIELD("max_score", field_number, OPTIONAL, struct test, max_score),
        FIELD("name", field_any_text, OPTIONAL, struct test, name),
        FIELD("output", field_any_text, OPTIONAL, struct test, output),
        FIELD("status", field_choice, OPTIONAL, struct test, status, .choices = statuses),
};
static const struct test test_default = {.name = "", .output = ""};
static const struct fields test_fields = {
        test_rows, COUNT(test_rows), UNKNOWN_IGNORED, &test_default};

static const struct field result_rows[] = {
        FIELD("score", field_number, OPTIONAL, struct result, score),
        FIELD("output", field_any_text, OPTIONAL, struct result, output),
        FIELD("tests", field_list, OPTIONAL, struct result, tests, .least = 1,
                .most = SCORE_MAX_MANY, .fields = &test_fields, .item_size = sizeof(struct test)),
};
static const struct fields result_fields = FIELDS(result_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &result_fields};

struct sums {
        mpq_t score, most;
        bool scored;
};

static bool is_passed(const struct test *t, const mpq_t score, const mpq_t most)
{
        if (t->status != STATUS_NOT_SAID)
                return t->status == STATUS_PASSED;
        return mpq_cmp(score, most) >= 0 && mpq_sgn(score) > 0;
}

static int take_test(struct outcome *o, struct sums *sums, const struct test *t, size_t number,
        struct error *err)
{
        mpq_t score, most;
        char name[32];
        bool passed;

        mpq_inits(score, most, NULL);
        result_option(t->score, 0, score);
        result_option(t->max_score, 0, most);
        passed = is_passed(t, score, most);
        mpq_add(sums->score, sums->score, score);
        mpq_add(sums->most, sums->most, most);
        sums->scored |= *t->score != '\0';
        mpq_clears(score, most, NULL);
        snprintf(name, sizeof name, "test %zu", number);
        return outcome_test(o, *t->name ? t->name : name, passed, "", passed ? "" : t->output, err);
}

static int take_score(struct outcome *o, const struct result *result, struct sums *sums,
        const char *max, struct error *err)
{
        if (!*result->score && !sums->scored)
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "line 1, column 1: score: is missing, and no test has one");
        if (*result->score)
                number_parse(sums->score, result->score);
        if (*max)
                number_parse(sums->most, max);
        if (mpq_sgn(sums->most) <= 0)
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "line 1, column 1: what the assignment is worth is not known: no test has "
                        "a max_score above "
                        "0, and the task no result.max");
        outcome_score(o, sums->score, sums->most);
        return 0;
}

static int take_result(
        struct outcome *o, const struct result *result, const char *max, struct error *err)
{
        const struct test *t = result->tests.items;
        struct sums sums = {.scored = false};
        int r = 0;

        mpq_inits(sums.score, sums.most, NULL);
        if (*result->output)
                outcome_notes(o, result->output);
        for (size_t i = 0; r == 0 && i < result->tests.count; i++)
                r = take_test(o, &sums, &t[i], i + 1, err);
        if (r == 0)
                r = take_score(o, result, &sums, max, err);
        mpq_clears(sums.score, sums.most, NULL);
        return r;
}

int gradescope_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct result result = {.output = ""};
        int r = result_json(&doc, q->file, &whole, &result, ret, err);

        if (r == 0)
                r = take_result(ret, &result, q->max, err);
        list_free(&result.tests);
        return r;
}
