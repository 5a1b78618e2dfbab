/* Reading a result again; see stored.h. What is in it was ours once, and may be anybody's since. */
#include "stored.h"

#include "answer.h"
#include "number.h"
#include "request.h"
#include "task.h"

enum { MOST_CRITERIA = 1000, MOST_REASONING = 1 << 20 };

/* --- types ---------------------------------------------------------------------------------- */

/* null is none. */
static bool read_decimal(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return json_is_null(s->value.node) || field_positive.read(r, f, s, to);
}

static void want_decimal(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number that is not below 0, or null");
}

static bool is_fraction(const char *text)
{
        bool good;
        mpq_t x;

        mpq_init(x);
        good = number_parse_exact(x, text) == 0;
        mpq_clear(x);
        return good;
}

static bool read_fraction(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_string_value(s->value.node);

        (void)r;
        (void)f;
        if (!text || strlen(text) >= SCORE_MAX_NAME || !is_fraction(text))
                return false;
        *(const char **)to = text;
        return true;
}

static void want_fraction(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a fraction such as \"21/25\"");
}

/* A number from 0 to 100, or "suite". */
static bool read_pass(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_string_value(s->value.node);
        char number[NUMBER_TEXT_SIZE];

        if (text ? strcmp(text, "suite") != 0 : !field_decimal.read(r, f, s, number))
                return false;
        snprintf(to, NUMBER_TEXT_SIZE, "%s", text ? "" : number);
        return true;
}

static void want_pass(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number from 0 to 100, or \"suite\"");
}

static bool read_suite_pass(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        bool passed;

        if (!field_boolean.read(r, f, s, &passed))
                return false;
        *(unsigned *)to = passed ? SUITE_PASSED : SUITE_FAILED;
        return true;
}

static void want_suite_pass(const struct field *f, char *out, size_t size)
{
        field_boolean.want(f, out, size);
}

static const struct field_type field_null_or_decimal = {read_decimal, want_decimal};
static const struct field_type field_fraction = {read_fraction, want_fraction};
static const struct field_type field_pass = {read_pass, want_pass};
static const struct field_type field_suite_pass = {read_suite_pass, want_suite_pass};

/* An object of names, each with an object that the table reads. */
static bool read_dimensions(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct stored_dimensions *all = to;
        struct json_value child;

        if (!json_is_object(s->value.node) ||
                json_object_size(s->value.node) > STORED_MOST_DIMENSIONS)
                return false;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);
                struct stored_dimension *d = &all->rows[all->count++];

                *d = (struct stored_dimension){.name = w.key, .criterion = "", .exact = ""};
                if (!field_object.read(r, f, &below, d))
                        reading_problem(r, &below, "must be an object");
        }
        return true;
}

static void want_dimensions(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object of at most %d dimensions", STORED_MOST_DIMENSIONS);
}

static const struct field_type field_dimensions = {read_dimensions, want_dimensions};

/* --- tables --------------------------------------------------------------------------------- */

static const struct choice schemas[] = {{"assay.result/1", 0}, {0}};
static const struct choice rules[] = {{"1", 0}, {0}};
static const struct choice statuses[] = {
        {"graded", STORED_GRADED},
        {"pending", STORED_PENDING},
        {"rejected", STORED_REJECTED},
        {"ungradable", STORED_UNGRADABLE},
        {"error", STORED_ERROR},
        {0},
};
static const struct choice classes[] = {
        {"submission", CLASS_SUBMISSION},
        {"suite", CLASS_SUITE},
        {"limit", CLASS_LIMIT},
        {"judge", CLASS_JUDGE},
        {"infra", CLASS_INFRA},
        {"internal", CLASS_INTERNAL},
        {0},
};
static const struct choice modes[] = {
        {"llm", MODE_LLM},
        {"container", MODE_CONTAINER},
        {"hybrid", MODE_HYBRID},
        {"answer", MODE_ANSWER},
        {"workflow", MODE_WORKFLOW},
        {0},
};
static const struct field criterion_rows[] = {
        FIELD("name", field_text, REQUIRED, struct stored_criterion, name, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("weight", field_whole, REQUIRED, struct stored_criterion, weight, .least = 1,
                .most = 100),
        FIELD("source", field_choice, REQUIRED, struct stored_criterion, source,
                .choices = task_sources),
        FIELD("score", field_null_or_decimal, REQUIRED, struct stored_criterion, score),
        FIELD("reasoning", field_text, OPTIONAL, struct stored_criterion, reasoning,
                .most = MOST_REASONING),
};
static const struct stored_criterion criterion_default = {.name = "", .reasoning = ""};
static const struct fields criterion_fields = {
        criterion_rows, COUNT(criterion_rows), UNKNOWN_IGNORED, &criterion_default};

static const struct field weight_rows[] = {
        FIELD("test", field_whole, REQUIRED, struct stored, test_weight, .most = 100),
        FIELD("llm", field_whole, REQUIRED, struct stored, llm_weight, .most = 100),
};
static const struct fields weight_fields = FIELDS(weight_rows, UNKNOWN_IGNORED);

static const struct field breakdown_rows[] = {
        FIELD("weight", field_decimal, REQUIRED, struct stored_dimension, weight, .most = 1),
        FIELD("criterion", field_any_text, OPTIONAL, struct stored_dimension, criterion),
};
static const struct fields breakdown_fields = FIELDS(breakdown_rows, UNKNOWN_IGNORED);
static const struct field exact_score_rows[] = {
        FIELD("score", field_fraction, REQUIRED, struct stored_dimension, exact),
};
static const struct fields exact_score_fields = FIELDS(exact_score_rows, UNKNOWN_IGNORED);
static const struct field exact_rows[] = {
        FIELD("test_score", field_fraction, OPTIONAL, struct stored, exact_test),
        FIELD("score_breakdown", field_dimensions, OPTIONAL, struct stored, exacts,
                .fields = &exact_score_fields),
};
static const struct fields exact_fields = FIELDS(exact_rows, UNKNOWN_IGNORED);

static const struct field input_rows[] = {
        FIELD("seed", field_text, REQUIRED, struct stored, seed, .least = 1, .most = 20),
        FIELD("time_used", field_null_or_decimal, REQUIRED, struct stored, time_used),
        FIELD("llm_score", field_null_or_decimal, REQUIRED, struct stored, llm_score),
};
static const struct fields input_fields = FIELDS(input_rows, UNKNOWN_IGNORED);

static const struct field runner_rows[] = {
        FIELD("scoring_version", field_choice, REQUIRED, struct stored, rules, .choices = rules),
};
static const struct fields runner_fields = FIELDS(runner_rows, UNKNOWN_IGNORED);

static const struct field stored_rows[] = {
        FIELD("schema", field_choice, REQUIRED, struct stored, schema, .choices = schemas),
        FIELD("id", field_text, REQUIRED, struct stored, id, .least = 1, .most = 100),
        FIELD("revision", field_whole, REQUIRED, struct stored, revision, .least = 1,
                .most = 1000000000),
        WHOLE_FIELD("inputs", field_object, REQUIRED, .fields = &input_fields),
        WHOLE_FIELD("runner", field_object, REQUIRED, .fields = &runner_fields),
        FIELD("status", field_choice, REQUIRED, struct stored, status, .choices = statuses),
        FIELD("class", field_choice, OPTIONAL, struct stored, class, .choices = classes),
        FIELD("scheme", field_choice, REQUIRED, struct stored, scheme, .choices = task_schemes),
        FIELD("mode", field_choice, REQUIRED, struct stored, mode, .choices = modes),
        FIELD("pass", field_pass, OPTIONAL, struct stored, pass, .most = 100),
        WHOLE_FIELD("weights", field_object, OPTIONAL, .fields = &weight_fields),
        FIELD("suite_pass", field_suite_pass, OPTIONAL, struct stored, suite_pass),
        WHOLE_FIELD("exact", field_object, OPTIONAL, .fields = &exact_fields),
        FIELD("score_breakdown", field_dimensions, OPTIONAL, struct stored, dimensions,
                .fields = &breakdown_fields),
        FIELD("criteria", field_list, REQUIRED, struct stored, criteria, .most = MOST_CRITERIA,
                .fields = &criterion_fields, .item_size = sizeof(struct stored_criterion)),
        FIELD("summary", field_text, OPTIONAL, struct stored, summary, .most = MOST_REASONING),
};
static const struct fields stored_fields = FIELDS(stored_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &stored_fields};

/* --- reading -------------------------------------------------------------------------------- */

static bool is_above(const char *text, unsigned long most)
{
        bool above = false;
        mpq_t x;

        mpq_init(x);
        if (*text)
                above = number_parse_exact(x, text) < 0 || mpq_cmp_ui(x, most, 1) > 0;
        mpq_clear(x);
        return above;
}

static void settle_dimensions(struct reading *r, struct stored *s)
{
        for (size_t i = 0; i < s->exacts.count; i++) {
                struct stored_dimension *d = NULL;

                for (size_t n = 0; !d && n < s->dimensions.count; n++)
                        if (strcmp(s->dimensions.rows[n].name, s->exacts.rows[i].name) == 0)
                                d = &s->dimensions.rows[n];
                if (!d || is_above(s->exacts.rows[i].exact, 1000))
                        reading_problem_at(r, "exact.score_breakdown",
                                "must have scores of score_breakdown's dimensions, up to 1000");
                else
                        d->exact = s->exacts.rows[i].exact;
        }
}

static void check(struct reading *r, struct stored *s)
{
        const struct stored_criterion *c = s->criteria.items;

        s->pass_given = reading_has(r, "pass");
        settle_dimensions(r, s);
        if (is_above(s->exact_test, 100))
                reading_problem_at(r, "exact.test_score", "must be at most 100");
        if (s->mode == MODE_HYBRID && s->scheme == SCHEME_BLEND &&
                s->test_weight + s->llm_weight != 100)
                reading_problem_at(r, "weights", "must add up to 100");
        for (size_t i = 0; i < s->criteria.count; i++)
                if (is_above(c[i].score, 100))
                        reading_problem_at(r, "criteria", "must have scores up to 100");
}

int stored_read(const struct json *doc, struct stored *ret, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct reading r;

        *ret = (struct stored){.class = CLASS_NONE,
                .scheme = NOT_GIVEN,
                .mode = NOT_GIVEN,
                .status = NOT_GIVEN,
                .suite_pass = SUITE_DID_NOT_SAY,
                .exact_test = "",
                .seed = "",
                .summary = ""};
        reading_begin(&r, doc);
        field_read(&r, &whole, &root, ret);
        if (r.problems.count == 0)
                check(&r, ret);
        return reading_error(&r, CODE_RESULT_INVALID, err);
}

void stored_free(struct stored *s)
{
        list_free(&s->criteria);
}

/* --- what a replay needs -------------------------------------------------------------------- */

/* The judge's words, where it spoke of each criterion. */
static void put_verdict(const struct stored *s, struct buffer *out)
{
        const struct stored_criterion *c = s->criteria.items;
        size_t spoken = 0, at;

        for (size_t i = 0; i < s->criteria.count; i++)
                if (c[i].source == SOURCE_LLM && *c[i].score) {
                        at = answer_begin(out, VERDICT_CRITERION);
                        put_text(out, c[i].name);
                        put_number(out, c[i].score);
                        put_cut(out, c[i].reasoning, SCORE_MAX_TEXT);
                        answer_end(out, at);
                        spoken++;
                }
        if (spoken == 0)
                return;
        at = answer_begin(out, VERDICT_SUMMARY);
        put_cut(out, s->summary, SCORE_MAX_TEXT);
        put_text(out, "");
        answer_end(out, at);
}

static int put_stored(const struct stored *s, struct buffer *out)
{
        size_t at = answer_begin(out, STORED_INPUTS);

        put_text(out, s->id);
        put_text(out, s->seed);
        put_number(out, s->time_used);
        put_number(out, s->llm_score);
        answer_end(out, at);
        put_verdict(s, out);
        return 0;
}

int stored_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct stored stored;
        int r;

        if (reading_open(&doc, in, CODE_RESULT_INVALID, err) < 0)
                return -1;
        r = stored_read(&doc, &stored, err);
        if (r == 0)
                r = put_stored(&stored, out);
        stored_free(&stored);
        return r;
}
