/* Composite scores; see composite.h and §8 of the contract. */
#include "evaluators/schemes/composite.h"

#include "evaluators/answer.h"
#include "evaluators/fields.h"
#include "evaluators/number.h"
#include "evaluators/request.h"
#include "evaluators/schemes/spec.h"
#include "evaluators/value.h"

#include <stdarg.h>
#include <stdlib.h>

enum { PLACES = 6, PARTS = 5, MOST_STEPS = 5000 };

void execution_init(struct execution *e)
{
        *e = (struct execution){.budget_aborted = false};
        mpq_inits(e->quality, e->completion, e->cost, e->max_budget, e->seconds, e->max_latency,
                NULL);
        mpz_inits(e->unplanned, e->timeouts, e->hard, NULL);
}

void execution_free(struct execution *e)
{
        mpq_clears(e->quality, e->completion, e->cost, e->max_budget, e->seconds, e->max_latency,
                NULL);
        mpz_clears(e->unplanned, e->timeouts, e->hard, NULL);
}

void composite_init(struct composite *c)
{
        c->gate = false;
        mpq_inits(c->success, c->cost, c->latency, c->reliability, c->score, NULL);
}

void composite_free(struct composite *c)
{
        mpq_clears(c->success, c->cost, c->latency, c->reliability, c->score, NULL);
}

/* --- the formulas --------------------------------------------------------------------------- */

/* max(0, 1 − used/most); 0 where there is no most. */
static void what_is_left(mpq_t ret, const mpq_t used, const mpq_t most)
{
        mpq_set_ui(ret, 0, 1);
        if (mpq_sgn(most) <= 0 || mpq_cmp(used, most) >= 0)
                return;
        mpq_sub(ret, most, used);
        mpq_div(ret, ret, most);
}

static void add_part(mpq_t sum, const mpq_t part, unsigned percent)
{
        mpq_t weighted;

        mpq_init(weighted);
        mpq_set_ui(weighted, percent, 100);
        mpq_canonicalize(weighted);
        mpq_mul(weighted, weighted, part);
        mpq_add(sum, sum, weighted);
        mpq_clear(weighted);
}

/* 1 − .1 unplanned − .2 timeouts − .5 hard, within 0 and 1. */
static void reliability(const struct execution *e, mpq_t ret)
{
        mpz_t tenths;

        mpz_init_set(tenths, e->unplanned);
        mpz_addmul_ui(tenths, e->timeouts, 2);
        mpz_addmul_ui(tenths, e->hard, 5);
        if (mpz_cmp_ui(tenths, 10) >= 0)
                mpq_set_ui(ret, 0, 1);
        else
                mpq_set_ui(ret, 10 - mpz_get_ui(tenths), 10);
        mpq_canonicalize(ret);
        mpz_clear(tenths);
}

void composite_score(const struct execution *e, struct composite *ret)
{
        mpq_mul(ret->success, e->quality, e->completion);
        ret->gate = mpq_cmp_ui(ret->success, 7, 10) > 0;
        mpq_set_ui(ret->cost, 0, 1);
        mpq_set_ui(ret->latency, 0, 1);
        if (ret->gate && !e->budget_aborted)
                what_is_left(ret->cost, e->cost, e->max_budget);
        if (ret->gate)
                what_is_left(ret->latency, e->seconds, e->max_latency);
        reliability(e, ret->reliability);
        mpq_set_ui(ret->score, 0, 1);
        add_part(ret->score, ret->success, 50);
        add_part(ret->score, ret->cost, 25);
        add_part(ret->score, ret->latency, 15);
        add_part(ret->score, ret->reliability, 10);
}

/* --- an execution record -------------------------------------------------------------------- */

enum step_status { COMPLETED = 1, HARD_FAILURE, SKIPPED, BUDGET_ABORT };
enum attempt_status { ATTEMPT_OK = 1, ATTEMPT_ERROR, ATTEMPT_TIMEOUT };

struct attempt {
        unsigned status;
        char seconds[NUMBER_TEXT_SIZE], cost[NUMBER_TEXT_SIZE];
};

struct step {
        const char *id;
        unsigned status;
        uint64_t retry_count;
        struct list attempts; /* of struct attempt */
};

struct record {
        unsigned schema;   /* checked only */
        struct list steps; /* of struct step */
        uint64_t total_steps;
        char actual_seconds[NUMBER_TEXT_SIZE], actual_cost[NUMBER_TEXT_SIZE],
                output_quality[NUMBER_TEXT_SIZE];
        bool budget_aborted;
};

static const struct choice schemas[] = {{"assay.execution/1", 0}, {0}};
static const struct choice step_statuses[] = {
        {"completed", COMPLETED},
        {"hard_failure", HARD_FAILURE},
        {"skipped", SKIPPED},
        {"budget_abort", BUDGET_ABORT},
        {0},
};
static const struct choice attempt_statuses[] = {
        {"ok", ATTEMPT_OK},
        {"error", ATTEMPT_ERROR},
        {"timeout", ATTEMPT_TIMEOUT},
        {0},
};

static const struct field attempt_rows[] = {
        FIELD("status", field_choice, REQUIRED, struct attempt, status,
                .choices = attempt_statuses),
        FIELD("seconds", field_number, OPTIONAL, struct attempt, seconds),
        FIELD("cost", field_number, OPTIONAL, struct attempt, cost),
};
static const struct fields attempt_fields = FIELDS(attempt_rows, UNKNOWN_IGNORED);
static const struct field step_rows[] = {
        FIELD("id", field_any_text, REQUIRED, struct step, id),
        FIELD("status", field_choice, REQUIRED, struct step, status, .choices = step_statuses),
        FIELD("retry_count", field_whole, OPTIONAL, struct step, retry_count, .most = 1000000),
        FIELD("attempts", field_list, REQUIRED, struct step, attempts, .most = MOST_STEPS,
                .fields = &attempt_fields, .item_size = sizeof(struct attempt)),
};
static const struct step step_default = {.id = ""};
static const struct fields step_fields = {
        step_rows, COUNT(step_rows), UNKNOWN_IGNORED, &step_default};
static const struct field record_rows[] = {
        FIELD("schema", field_choice, REQUIRED, struct record, schema, .choices = schemas),
        FIELD("steps", field_list, REQUIRED, struct record, steps, .most = MOST_STEPS,
                .fields = &step_fields, .item_size = sizeof(struct step)),
        FIELD("total_steps", field_whole, REQUIRED, struct record, total_steps, .most = 1000000),
        FIELD("actual_seconds", field_positive, REQUIRED, struct record, actual_seconds),
        FIELD("actual_cost", field_positive, REQUIRED, struct record, actual_cost),
        FIELD("budget_aborted", field_boolean, OPTIONAL, struct record, budget_aborted),
        FIELD("output_quality", field_decimal, REQUIRED, struct record, output_quality, .most = 1),
};
static const struct fields record_fields = FIELDS(record_rows, UNKNOWN_IGNORED);
static const struct field whole_record = {.type = &field_object, .fields = &record_fields};

/* What is not of a record, but of a run: whoever runs workflows reads it. */
static bool leave_it(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return field_anything.read(r, f, s, to);
}

static void want_object(const struct field *f, char *out, size_t size)
{
        field_object.want(f, out, size);
}

static void want_nothing(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "absent");
}

static const struct field_type quality_type = {leave_it, want_object};
static const struct field_type tools_type = {leave_it, want_nothing}; /* they stand beside it */
static const struct field quality_forms[] = {
        {.type = &field_object, .fields = &quality_fields}, {0}};

static const struct choice schemes[] = {{"composite", 0}, {0}};
static const struct field spec_rows[] = {
        FIELD("scheme", field_choice, OPTIONAL, struct composite_spec, scheme, .choices = schemes),
        FIELD("max_budget", field_number, REQUIRED, struct composite_spec, max_budget),
        FIELD("max_latency", field_duration, REQUIRED, struct composite_spec, max_latency),
        FIELD("min_steps", field_whole, OPTIONAL, struct composite_spec, min_steps,
                .most = 1000000),
        FIELD("max_attempts", field_whole, OPTIONAL, struct composite_spec, max_attempts,
                .least = 1, .most = SCORE_MAX_ATTEMPTS),
        FIELD("pass", field_decimal, OPTIONAL, struct composite_spec, pass, .most = 1),
        WHOLE_FIELD("quality", quality_type, OPTIONAL, .forms = quality_forms),
        WHOLE_FIELD("tools", tools_type, OPTIONAL),
};
const struct fields composite_spec_fields = FIELDS(spec_rows, UNKNOWN_IS_PROBLEM);

void composite_spec_read(struct reading *r, const struct spot *s, struct composite_spec *ret)
{
        static const struct field whole = {.type = &field_object, .fields = &composite_spec_fields};

        *ret = (struct composite_spec){.pass = "0.7"};
        field_read(r, &whole, s, ret);
}

void composite_max_latency(const struct composite_spec *spec, mpq_t ret)
{
        mpq_t unit;

        mpq_init(unit);
        mpq_set_ui(unit, spec->max_latency.ms, 1000);
        mpq_canonicalize(unit);
        number_parse(ret, spec->max_latency.amount);
        mpq_mul(ret, ret, unit);
        mpq_clear(unit);
}

/* What contradicts itself is not guessed at. */
static int check_record(const struct record *record, struct error *err)
{
        const struct step *s = record->steps.items;

        if (record->total_steps < record->steps.count)
                return error_set(err, CODE_SCORE_ANSWER,
                        "the record: total_steps is %llu, but there are %zu steps",
                        (unsigned long long)record->total_steps, record->steps.count);
        for (size_t i = 0; i < record->steps.count; i++)
                for (size_t n = 0; n < i; n++)
                        if (strcmp(s[i].id, s[n].id) == 0)
                                return error_set(err, CODE_SCORE_ANSWER,
                                        "the record: steps[%zu] has the id of steps[%zu]", i, n);
        return 0;
}

static void count_step(struct execution *e, const struct step *s, size_t *completed)
{
        const struct attempt *a = s->attempts.items;
        const size_t planned = 1 + s->retry_count;

        *completed += s->status == COMPLETED;
        e->budget_aborted |= s->status == BUDGET_ABORT;
        if (s->status == HARD_FAILURE)
                mpz_add_ui(e->hard, e->hard, 1);
        if (s->attempts.count > planned)
                mpz_add_ui(e->unplanned, e->unplanned, s->attempts.count - planned);
        for (size_t i = 0; i < s->attempts.count; i++)
                if (a[i].status == ATTEMPT_TIMEOUT)
                        mpz_add_ui(e->timeouts, e->timeouts, 1);
}

static void measure(
        struct execution *e, const struct record *record, const struct composite_spec *spec)
{
        const struct step *s = record->steps.items;
        uint64_t total = record->total_steps;
        size_t completed = 0;

        for (size_t i = 0; i < record->steps.count; i++)
                count_step(e, &s[i], &completed);
        total = total > spec->min_steps ? total : spec->min_steps;
        mpq_set_ui(e->completion, completed, total > 0 ? total : 1);
        mpq_canonicalize(e->completion);
        number_parse(e->quality, record->output_quality);
        number_parse(e->cost, record->actual_cost);
        number_parse(e->seconds, record->actual_seconds);
        number_parse(e->max_budget, spec->max_budget);
        composite_max_latency(spec, e->max_latency);
        e->budget_aborted |= record->budget_aborted;
}

/* --- answers -------------------------------------------------------------------------------- */

static int read_record(
        struct json *doc, const struct buffer *text, struct record *ret, struct error *err)
{
        struct spot root;
        struct reading r;

        if (reading_open(doc, text, CODE_SCORE_ANSWER, err) < 0)
                return error_add(err, "the record");
        root = (struct spot){.value = json_root(doc)};
        reading_begin(&r, doc);
        field_read(&r, &whole_record, &root, ret);
        return reading_error(&r, CODE_SCORE_ANSWER, err) < 0 ? error_add(err, "the record") : 0;
}

/* By itself, or the `scoring` of a task. */
static int read_spec(
        struct json *doc, const struct buffer *text, struct composite_spec *ret, struct error *err)
{
        struct spot root, scoring = {.up = &root, .key = "scoring"};
        struct reading r;

        if (reading_open(doc, text, CODE_SCORE_SPEC, err) < 0)
                return error_add(err, "the spec");
        root = (struct spot){.value = json_root(doc)};
        reading_begin(&r, doc);
        scoring.value = json_locate(doc, "scoring", NULL);
        composite_spec_read(&r, spec_is_task(doc) ? &scoring : &root, ret);
        return reading_error(&r, CODE_SCORE_SPEC, err) < 0 ? error_add(err, "the spec") : 0;
}

static void explain(struct buffer *out, const char *format, ...)
{
        char text[2048];
        va_list args;
        size_t at;

        va_start(args, format);
        gmp_vsnprintf(text, sizeof text, format, args);
        va_end(args);
        at = answer_begin(out, SCORE_EXPLANATION);
        put_text(out, text);
        answer_end(out, at);
}

static void explain_all(const struct execution *e, const struct composite *c, struct buffer *out)
{
        explain(out, "success = quality × completion = %Qd × %Qd = %Qd", e->quality, e->completion,
                c->success);
        explain(out, "%Qd > 7/10: %s", c->success,
                c->gate ? "cost and latency count" : "no, so cost and latency are 0");
        if (c->gate) {
                explain(out, "cost = %Qd of %Qd%s: %Qd", e->cost, e->max_budget,
                        e->budget_aborted ? ", aborted" : "", c->cost);
                explain(out, "latency = max(0, 1 − %Qd / %Qd) = %Qd", e->seconds, e->max_latency,
                        c->latency);
        }
        explain(out, "reliability = 1 − %Zd × 1/10 − %Zd × 1/5 − %Zd × 1/2, within 0 and 1 = %Qd",
                e->unplanned, e->timeouts, e->hard, c->reliability);
        explain(out, "score = 1/2 × %Qd + 1/4 × %Qd + 3/20 × %Qd + 1/10 × %Qd = %Qd", c->success,
                c->cost, c->latency, c->reliability, c->score);
}

static void put_composite(
        const struct composite *c, const struct composite_spec *spec, struct buffer *out)
{
        const mpq_t *const parts[PARTS] = {
                &c->score, &c->success, &c->cost, &c->latency, &c->reliability};
        size_t at = answer_begin(out, COMPOSITE_SCORE);
        mpq_t shown, pass;

        for (size_t i = 0; i < PARTS; i++)
                put_rounded(out, *parts[i], PLACES);
        for (size_t i = 0; i < PARTS; i++)
                put_exact(out, *parts[i]);
        mpq_inits(shown, pass, NULL);
        mpq_set(shown, c->score);
        number_round(shown, PLACES);
        number_parse(pass, spec->pass);
        put_u8(out, c->gate);
        put_u8(out, mpq_cmp(shown, pass) >= 0);
        mpq_clears(shown, pass, NULL);
        answer_end(out, at);
}

static int score_record(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json spec_doc = JSON_INIT, record_doc = JSON_INIT;
        struct composite_spec spec = {0};
        struct reader options = q->options;
        struct record record = {.total_steps = 0};
        bool with_steps = get_u8(&options);
        struct composite c;
        struct execution e;
        struct step *s;
        int r = read_spec(&spec_doc, &q->documents[DOCUMENT_SPEC].bytes, &spec, err);

        if (r == 0)
                r = read_record(&record_doc, &q->documents[DOCUMENT_RECORD].bytes, &record, err);
        if (r == 0)
                r = check_record(&record, err);
        if (r == 0) {
                execution_init(&e);
                composite_init(&c);
                measure(&e, &record, &spec);
                composite_score(&e, &c);
                put_composite(&c, &spec, out);
                if (with_steps)
                        explain_all(&e, &c, out);
                composite_free(&c);
                execution_free(&e);
        }
        s = record.steps.items;
        for (size_t i = 0; i < record.steps.count; i++)
                list_free(&s[i].attempts);
        list_free(&record.steps);
        return r;
}

int composite_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_COMPOSITE, score_record, err);
}
