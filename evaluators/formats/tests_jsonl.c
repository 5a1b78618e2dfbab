/* tests.jsonl: {"name", "passed", "duration_ms"?, "error"?} a line, of a suite that was ended
 * before it wrote its result. What it had planned (result.max) decides how much each test counts; a
 * last line that is not whole was being written. */
#include "evaluators/formats/json_result.h"

enum { MOST_CHARACTERS = 2000 };

struct test {
        const char *name, *error;
        bool passed;
        char duration_ms[NUMBER_TEXT_SIZE];
};

static const struct field rows[] = {
        FIELD("name", field_text, REQUIRED, struct test, name, .least = 1, .most = SCORE_MAX_NAME),
        FIELD("passed", field_boolean, REQUIRED, struct test, passed),
        FIELD("duration_ms", field_positive, OPTIONAL, struct test, duration_ms),
        FIELD("error", field_prose, OPTIONAL, struct test, error, .most = MOST_CHARACTERS),
};
static const struct fields test_fields = FIELDS(rows, UNKNOWN_IGNORED);

static int take_line(struct outcome *o, const char *line, size_t len, unsigned number,
        uint64_t *passed, struct error *err)
{
        static const struct field whole = {.type = &field_object, .fields = &test_fields};
        const struct buffer text = {.data = (unsigned char *)(uintptr_t)line, .len = len};
        struct test test = {.name = "", .error = ""};
        _cleanup_json_ struct json doc = JSON_INIT;
        struct spot root;
        struct reading r;

        if (reading_open(&doc, &text, CODE_SUITE_RESULT_INVALID, err) < 0)
                return error_add(err, "tests.jsonl: test %u", number);
        root = (struct spot){.value = json_root(&doc)};
        reading_begin(&r, &doc);
        field_read(&r, &whole, &root, &test);
        if (reading_error(&r, CODE_SUITE_RESULT_INVALID, err) < 0)
                return error_add(err, "tests.jsonl: test %u", number);
        *passed += test.passed;
        return outcome_test(o, test.name, test.passed, test.duration_ms, test.error, err);
}

int tests_jsonl_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        const char *at = buffer_text(q->file), *end = at + q->file->len;
        uint64_t planned = 0, passed = 0;
        unsigned number = 0;

        if (number_whole(q->max, SCORE_MAX_MANY, &planned) < 0 || planned == 0)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
                at = newline + 1) {
                const size_t len = (size_t)(newline - at);

                if (strspn(at, " \t\r") >= len)
                        continue;
                if (++number > planned)
                        return error_set(err, CODE_SUITE_RESULT_INVALID,
                                "tests.jsonl: more tests than the %llu that are planned",
                                (unsigned long long)planned);
                if (take_line(ret, at, len, number, &passed, err) < 0)
                        return -1;
        }
        if (number == 0)
                return error_set(err, CODE_SUITE_NO_RESULT, "tests.jsonl has no test that ended");
        if (number < planned)
                outcome_warn(ret, "tests", "%llu of %llu planned tests did not run",
                        (unsigned long long)(planned - number), (unsigned long long)planned);
        return outcome_count(ret, passed, planned, err);
}
