/* results.json of PrairieLearn's external graders: {"score": 0–1, "gradable"?, "message"?,
 * "output"?, "tests"?: [{"name"?, "points"?, "max_points"?, "message"?, "output"?}]}. */
#include "evaluators/formats/json_result.h"

struct test {
        const char *name, *message, *output;
        char points[NUMBER_TEXT_SIZE], max_points[NUMBER_TEXT_SIZE];
};

struct result {
        bool gradable;
        char score[NUMBER_TEXT_SIZE];
        const char *message, *output;
        struct list tests;
};

static const struct field test_rows[] = {
        FIELD("name", field_any_text, OPTIONAL, struct test, name),
        FIELD("message", field_any_text, OPTIONAL, struct test, message),
        FIELD("output", field_any_text, OPTIONAL, struct test, output),
        FIELD("points", field_number, OPTIONAL, struct test, points),
        FIELD("max_points", field_number, OPTIONAL, struct test, max_points),
};
static const struct test test_default = {.name = "", .message = "", .output = ""};
static const struct fields test_fields = {
        test_rows, COUNT(test_rows), UNKNOWN_IGNORED, &test_default};

static const struct field result_rows[] = {
        FIELD("gradable", field_boolean, OPTIONAL, struct result, gradable),
        FIELD("score", field_number, OPTIONAL, struct result, score),
        FIELD("message", field_any_text, OPTIONAL, struct result, message),
        FIELD("output", field_any_text, OPTIONAL, struct result, output),
        FIELD("tests", field_list, OPTIONAL, struct result, tests, .least = 1,
                .most = SCORE_MAX_MANY, .fields = &test_fields, .item_size = sizeof(struct test)),
};
static const struct fields result_fields = FIELDS(result_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &result_fields};

/* A test that says no maximum has 1, as in PrairieLearn's own grader. */
static bool is_passed(const struct test *t)
{
        mpq_t points, most;
        bool passed;

        mpq_inits(points, most, NULL);
        result_option(t->points, 0, points);
        result_option(t->max_points, 1, most);
        passed = mpq_cmp(points, most) >= 0;
        mpq_clears(points, most, NULL);
        return passed;
}

/* A sum of floats may come out a hair above 1. */
static bool is_near_0_to_1(const char *score)
{
        mpq_t x, most;
        bool near;

        mpq_inits(x, most, NULL);
        number_parse(x, score);
        number_parse(most, "1.000001");
        near = mpq_sgn(x) >= 0 && mpq_cmp(x, most) < 0;
        mpq_clears(x, most, NULL);
        return near;
}

/* One text or many, of which each gets a line. */
static void note_format_errors(struct outcome *o, const json_t *errors)
{
        const char *text = json_string_value(errors);
        _cleanup_buffer_ struct buffer all = BUFFER_INIT;

        if (text)
                buffer_add_text(&all, text);
        for (size_t i = 0; i < json_array_size(errors) && all.len <= SCORE_MAX_TEXT; i++) {
                text = json_string_value(json_array_get(errors, i));
                if (text && all.len > 0)
                        buffer_add_char(&all, '\n');
                if (text)
                        buffer_add_text(&all, text);
        }
        outcome_notes(o, buffer_text(&all));
        o->notes.failed |= all.failed;
}

/* What cannot be graded has nothing else that must be right. */
static int read_ungradable(const struct result_request *q, struct outcome *o, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        const char *message;

        if (reading_open(&doc, q->file, CODE_SUITE_RESULT_INVALID, err) < 0)
                return -1;
        o->ungradable = json_is_false(json_object_get(doc.root, "gradable"));
        message = json_string_value(json_object_get(doc.root, "message"));
        if (o->ungradable && message)
                outcome_notes(o, message);
        else if (o->ungradable)
                note_format_errors(o, json_object_get(doc.root, "format_errors"));
        return 0;
}

static int take_result(struct outcome *o, const struct result *result, struct error *err)
{
        const struct test *t = result->tests.items;
        static const struct result_request from_0_to_1 = {0};

        outcome_notes(o, *result->message ? result->message : result->output);
        for (size_t i = 0; i < result->tests.count; i++) {
                bool passed = is_passed(&t[i]);

                if (outcome_test(o, t[i].name, passed, "",
                            passed          ? ""
                            : *t[i].message ? t[i].message
                                            : t[i].output,
                            err) < 0)
                        return -1;
        }
        if (!*result->score || !is_near_0_to_1(result->score))
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "line 1, column 1: score: must be a number from 0 to 1, not %s",
                        *result->score ? result->score : "absent");
        return result_scale(o, &from_0_to_1, result->score, 1, err);
}

int prairielearn_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct result result = {.gradable = true, .message = "", .output = ""};
        int r = read_ungradable(q, ret, err);

        if (r < 0 || ret->ungradable)
                return r;
        r = result_json(&doc, q->file, &whole, &result, ret, err);

        if (r == 0)
                r = take_result(ret, &result, err);
        list_free(&result.tests);
        return r;
}
