/* {"score": {"min": 90}}, {"score": 84}, {"status": "rejected", "code": "archive.link_escape"}, …;
 * see expect.h. Scores are compared as results show them, with their two decimals. */
#include "expect.h"

#include "answer.h"
#include "fields.h"
#include "number.h"
#include "request.h"

enum { MOST_SCORE = 1000 };

struct range {
        bool given;
        char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE]; /* or "" */
};

struct expect {
        struct range score, test_score;
        unsigned status, outcome; /* of the lists below, or NOT_GIVEN */
        const char *code;         /* or "" */
        char llm_score[NUMBER_TEXT_SIZE];
};

/* What came out of the evaluation, "" where there is nothing. */
struct actual {
        bool known;
        char status[32], code[64], outcome[32];
        char score[SCORE_MAX_NAME], test_score[SCORE_MAX_NAME];
};

static const struct choice statuses[] = {
        {"graded", 0},
        {"pending", 1},
        {"rejected", 2},
        {"ungradable", 3},
        {"error", 4},
        {0},
};
static const struct choice outcomes[] = {
        {"pass", 0},
        {"fail", 1},
        {"win", 2},
        {"draw", 3},
        {"loss", 4},
        {0},
};

/* --- reading -------------------------------------------------------------------------------- */

enum { BY_NUMBER, BY_OBJECT };

static bool read_range(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct range *range = to;

        range->given = true;
        if (!json_is_number(s->value.node))
                return field_object.read(r, &f->forms[BY_OBJECT], s, range);
        if (!field_decimal.read(r, &f->forms[BY_NUMBER], s, range->min))
                return false;
        memcpy(range->max, range->min, sizeof range->max);
        return true;
}

static void want_range(const struct field *f, char *out, size_t size)
{
        snprintf(out, size,
                "a number from 0 to %llu, or an object such as {\"min\": 90, \"max\": 100}",
                (unsigned long long)f->forms[BY_NUMBER].most);
}

static const struct field_type field_range = {read_range, want_range};

static const struct field range_rows[] = {
        FIELD("min", field_decimal, OPTIONAL, struct range, min, .most = MOST_SCORE),
        FIELD("max", field_decimal, OPTIONAL, struct range, max, .most = MOST_SCORE),
};
static const struct fields range_fields = FIELDS(range_rows, UNKNOWN_IS_PROBLEM);
static const struct field range_forms[] = {
        [BY_NUMBER] = {.type = &field_decimal, .most = MOST_SCORE},
        [BY_OBJECT] = {.type = &field_object, .fields = &range_fields},
        {0},
};

static const char *check_code(const char *text)
{
        return code_find(text) == CODE_NONE ? "must be a code that `assay explain` lists" : NULL;
}

static const struct field expect_rows[] = {
        FIELD("score", field_range, OPTIONAL, struct expect, score, .forms = range_forms),
        FIELD("test_score", field_range, OPTIONAL, struct expect, test_score, .forms = range_forms),
        FIELD("status", field_choice, OPTIONAL, struct expect, status, .choices = statuses),
        FIELD("outcome", field_choice, OPTIONAL, struct expect, outcome, .choices = outcomes),
        FIELD("code", field_text, OPTIONAL, struct expect, code, .least = 1, .most = 63,
                .check = check_code),
        FIELD("llm_score", field_decimal, OPTIONAL, struct expect, llm_score, .most = 100),
};
static const struct fields expect_fields = FIELDS(expect_rows, UNKNOWN_IS_PROBLEM);
const struct field expect_document = {.type = &field_object, .fields = &expect_fields};

static int compare_texts(const char *left, const char *right)
{
        mpq_t a, b;
        int order;

        mpq_inits(a, b, NULL);
        order = number_parse_plain(a, left) < 0 || number_parse_plain(b, right) < 0 ? 0
                                                                                    : mpq_cmp(a, b);
        mpq_clears(a, b, NULL);
        return order;
}

/* A number as it was written may have an exponent. */
static int compare_written(const char *written, const char *plain)
{
        char text[NUMBER_PLAIN_SIZE];

        number_plain(written, text, sizeof text);
        return compare_texts(text, plain);
}

static void check_range(struct reading *r, const char *key, const struct range *range)
{
        char max[NUMBER_PLAIN_SIZE];

        if (!range->given || r->problems.count > 0)
                return;
        if (!*range->min && !*range->max)
                reading_problem_at(r, key, "expects nothing; give min, max or a number");
        if (!*range->min || !*range->max)
                return;
        number_plain(range->max, max, sizeof max);
        if (compare_written(range->min, max) > 0)
                reading_problem_at(r, key, "has a min that is greater than its max");
}

static bool wants_grade(const struct expect *x)
{
        return x->score.given || x->test_score.given || x->outcome != NOT_GIVEN;
}

static void check(struct reading *r, const struct expect *x)
{
        check_range(r, "score", &x->score);
        check_range(r, "test_score", &x->test_score);
        if (r->problems.count > 0)
                return;
        if (!wants_grade(x) && x->status == NOT_GIVEN && !*x->code)
                reading_problem_at(r, "score",
                        "is missing, and so are test_score, outcome, status and code: nothing is "
                        "expected");
        if (wants_grade(x) && x->status != NOT_GIVEN && x->status != 0)
                reading_problem_at(r, "status",
                        "cannot be \"%s\" where a score or an outcome is expected",
                        statuses[x->status].name);
}

/* --- comparing ------------------------------------------------------------------------------ */

static void put_difference(struct buffer *out, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void put_difference(struct buffer *out, const char *format, ...)
{
        char text[512];
        va_list args;
        size_t at;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        at = answer_begin(out, EXPECT_DIFFERS);
        put_text(out, text);
        answer_end(out, at);
}

static void compare_word(
        struct buffer *out, const char *key, const char *want, const char *is, const char *why)
{
        if (strcmp(want, is) == 0)
                return;
        put_difference(out, "%s is %s%s%s%s, not %s", key, *is ? is : "missing",
                why && *why ? " (" : "", why ? why : "", why && *why ? ")" : "", want);
}

static void compare_range(
        struct buffer *out, const char *key, const struct range *range, const char *is)
{
        const bool exact = *range->min && strcmp(range->min, range->max) == 0;

        if (!range->given)
                return;
        if (!*is)
                put_difference(out, "there is no %s", key);
        else if (exact && compare_written(range->min, is) != 0)
                put_difference(out, "%s is %s, not %s", key, is, range->min);
        else if (!exact && *range->min && compare_written(range->min, is) > 0)
                put_difference(out, "%s is %s, below %s", key, is, range->min);
        else if (!exact && *range->max && compare_written(range->max, is) < 0)
                put_difference(out, "%s is %s, above %s", key, is, range->max);
}

static void compare(struct buffer *out, const struct expect *x, const struct actual *a)
{
        const bool graded = strcmp(a->status, statuses[0].name) == 0;
        const size_t before = out->len;

        if (x->status != NOT_GIVEN)
                compare_word(out, "status", statuses[x->status].name, a->status, a->code);
        else if (wants_grade(x) && !graded)
                compare_word(out, "status", statuses[0].name, a->status, a->code);
        if (*x->code && out->len == before)
                compare_word(out, "code", x->code, a->code, NULL);
        if (!graded)
                return;
        compare_range(out, "score", &x->score, a->score);
        compare_range(out, "test_score", &x->test_score, a->test_score);
        if (x->outcome != NOT_GIVEN)
                compare_word(out, "outcome", outcomes[x->outcome].name, a->outcome, NULL);
}

static bool take_actual(struct actual *a, struct reader r)
{
        a->known = get_u8(&r);
        get_text(&r, a->status, sizeof a->status);
        get_text(&r, a->code, sizeof a->code);
        get_text(&r, a->outcome, sizeof a->outcome);
        get_text(&r, a->score, sizeof a->score);
        get_text(&r, a->test_score, sizeof a->test_score);
        return reader_done(&r);
}

static int answer_document(
        const struct json *doc, const struct actual *a, struct buffer *out, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct expect x = {.status = NOT_GIVEN, .outcome = NOT_GIVEN, .code = ""};
        struct reading r;
        size_t at;

        reading_begin(&r, doc);
        field_read(&r, &expect_document, &root, &x);
        check(&r, &x);
        if (reading_error(&r, CODE_TASK_EXPECT, err) < 0)
                return -1;
        at = answer_begin(out, EXPECT_GIVEN);
        put_number(out, x.llm_score);
        answer_end(out, at);
        if (a->known)
                compare(out, &x, a);
        return 0;
}

static int answer_request(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct actual actual;

        if (!take_actual(&actual, q->options) || !q->documents[DOCUMENT_SPEC].given)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (reading_open(&doc, &q->documents[DOCUMENT_SPEC].bytes, CODE_TASK_EXPECT, err) < 0)
                return -1;
        return answer_document(&doc, &actual, out, err);
}

int expect_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_EXPECT, answer_request, err);
}
