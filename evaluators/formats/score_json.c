/* score.json: {"score": 0–100, "pass": bool, "breakdown"?, "notes"?, "tests"?} */
#include "evaluators/formats/json_result.h"
#include "evaluators/schemes/blend.h"

enum { MOST_CHARACTERS = 2000 };

struct test {
        const char *name, *error;
        bool passed;
        char duration_ms[NUMBER_TEXT_SIZE];
};

struct result {
        char score[NUMBER_TEXT_SIZE];
        bool pass;
        struct json_value breakdown; /* checked: an object of numbers from 0 to 100 */
        const char *notes;           /* NULL: none */
        struct list tests;           /* of struct test */
};

static bool read_breakdown(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        static const struct field part = {.type = &field_decimal, .most = 100};
        char score[NUMBER_TEXT_SIZE];
        struct json_value child;

        (void)f;
        if (!json_is_object(s->value.node) || json_object_size(s->value.node) > SCORE_MAX_MANY)
                return false;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);

                if (w.key[0] == '\0' || strlen(w.key) > SCORE_MAX_NAME)
                        reading_problem(
                                r, &below, "a name must have 1 to %d bytes", SCORE_MAX_NAME);
                field_read(r, &part, &below, score);
        }
        *(struct json_value *)to = s->value;
        return true;
}

static void want_breakdown(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object of at most %d scores", SCORE_MAX_MANY);
}

/* A suite that collected nothing did not test: no score would be right. */
static bool read_tests(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        if (json_is_array(s->value.node) && json_array_size(s->value.node) == 0) {
                reading_problem(r, s,
                        "is empty: the suite collected no test; leave the key out if the suite "
                        "does not list its tests");
                return true;
        }
        return field_list.read(r, f, s, to);
}

static void want_tests(const struct field *f, char *out, size_t size)
{
        field_list.want(f, out, size);
}

static const struct field_type breakdown_type = {read_breakdown, want_breakdown};
static const struct field_type tests_type = {read_tests, want_tests};

static const struct field test_rows[] = {
        FIELD("name", field_text, REQUIRED, struct test, name, .least = 1, .most = SCORE_MAX_NAME),
        FIELD("passed", field_boolean, REQUIRED, struct test, passed),
        FIELD("duration_ms", field_decimal, OPTIONAL, struct test, duration_ms,
                .most = 1000000000000),
        FIELD("error", field_prose, OPTIONAL, struct test, error, .most = MOST_CHARACTERS),
};
static const struct test test_default = {.name = "", .error = ""};
static const struct fields test_fields = {
        test_rows, COUNT(test_rows), UNKNOWN_WARNS, &test_default};

static const struct field result_rows[] = {
        FIELD("score", field_decimal, REQUIRED, struct result, score, .most = 100),
        FIELD("pass", field_boolean, REQUIRED, struct result, pass),
        FIELD("breakdown", breakdown_type, OPTIONAL, struct result, breakdown),
        FIELD("notes", field_prose, OPTIONAL, struct result, notes, .most = MOST_CHARACTERS),
        FIELD("tests", tests_type, OPTIONAL, struct result, tests, .least = 1,
                .most = SCORE_MAX_MANY, .fields = &test_fields, .item_size = sizeof(struct test)),
};
static const struct fields result_fields = FIELDS(result_rows, UNKNOWN_WARNS);
static const struct field whole = {.type = &field_object, .fields = &result_fields};

static void take_breakdown(struct outcome *o, struct json_value breakdown)
{
        char score[NUMBER_TEXT_SIZE];
        struct json_value child;

        for (struct json_walk w = json_walk(breakdown); json_next(&w, &child);) {
                json_number_text(child, score, sizeof score);
                outcome_breakdown(o, w.key, score);
        }
}

static int take_result(struct outcome *o, const struct result *result, struct error *err)
{
        const struct test *t = result->tests.items;

        o->scored = true;
        o->pass = result->pass ? SUITE_PASSED : SUITE_FAILED;
        take_breakdown(o, result->breakdown);
        if (result->notes)
                outcome_notes(o, result->notes);
        for (size_t i = 0; i < result->tests.count; i++)
                if (outcome_test(o, t[i].name, t[i].passed, t[i].duration_ms, t[i].error, err) < 0)
                        return -1;
        return number_parse(o->score, result->score);
}

int score_json_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct result result = {0};
        int r = result_json(&doc, q->file, &whole, &result, ret, err);

        if (r == 0)
                r = take_result(ret, &result, err);
        list_free(&result.tests);
        return r;
}
