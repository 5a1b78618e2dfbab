/* CTRF, the Common Test Report Format: {"results": {"tests": [{"name", "status", "duration"?,
 * "message"?}]}}. The score comes from the tests, not from the summary beside them. */
#include "evaluators/formats/json_result.h"

struct test {
        const char *name, *message;
        char duration[NUMBER_TEXT_SIZE];
        unsigned status;
};

struct result {
        struct list tests;
};

enum { STATUS_PASSED = 1, STATUS_FAILED, STATUS_LEFT_OUT };
static const struct choice statuses[] = {
        {"passed", STATUS_PASSED},
        {"failed", STATUS_FAILED},
        {"other", STATUS_FAILED},
        {"skipped", STATUS_LEFT_OUT},
        {"pending", STATUS_LEFT_OUT},
        {0},
};

static const struct field test_rows[] = {
        FIELD("name", field_any_text, REQUIRED, struct test, name),
        FIELD("status", field_choice, REQUIRED, struct test, status, .choices = statuses),
        FIELD("duration", field_number, OPTIONAL, struct test, duration),
        FIELD("message", field_any_text, OPTIONAL, struct test, message),
};
static const struct test test_default = {.name = "", .message = ""};
static const struct fields test_fields = {
        test_rows, COUNT(test_rows), UNKNOWN_IGNORED, &test_default};

static const struct field results_rows[] = {
        FIELD("tests", field_list, REQUIRED, struct result, tests, .least = 1,
                .most = SCORE_MAX_MANY, .fields = &test_fields, .item_size = sizeof(struct test)),
};
static const struct fields results_fields = FIELDS(results_rows, UNKNOWN_IGNORED);
static const struct field result_rows[] = {
        WHOLE_FIELD("results", field_object, REQUIRED, .fields = &results_fields),
};
static const struct fields result_fields = FIELDS(result_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &result_fields};

static int take_tests(struct outcome *o, const struct list *tests, struct error *err)
{
        const struct test *t = tests->items;
        uint64_t passed = 0, counted = 0;

        for (size_t i = 0; i < tests->count; i++) {
                bool good = t[i].status == STATUS_PASSED;

                if (t[i].status == STATUS_LEFT_OUT)
                        continue;
                counted++;
                passed += good;
                if (outcome_test(o, t[i].name, good, *t[i].duration == '-' ? "" : t[i].duration,
                            good ? "" : t[i].message, err) < 0)
                        return -1;
        }
        return outcome_count(o, passed, counted, err);
}

int ctrf_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct result result = {0};
        int r = result_json(&doc, q->file, &whole, &result, ret, err);

        if (r == 0)
                r = take_tests(ret, &result.tests, err);
        list_free(&result.tests);
        return r;
}
