/* Composite scores; see composite.h and §8 of the contract. */
#include "evaluators/schemes/composite.h"

#include "evaluators/answer.h"
#include "evaluators/fields.h"
#include "evaluators/number.h"
#include "evaluators/request.h"
#include "evaluators/value.h"

#include <stdarg.h>
#include <stdlib.h>

enum { PLACES = 6, PARTS = 5, MOST_STEPS = 10000 };

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

/* --- windows -------------------------------------------------------------------------------- */

/* One round: share `left` among those that are not fixed; false: none came above the cap. */
static bool share(const mpq_t *means, size_t count, bool *fixed, mpq_t *weights, mpq_t left)
{
        bool again = false;
        mpq_t sum, cap;

        mpq_inits(sum, cap, NULL);
        mpq_set_ui(cap, 3, 20);
        for (size_t i = 0; i < count; i++)
                if (!fixed[i])
                        mpq_add(sum, sum, means[i]);
        for (size_t i = 0; i < count && mpq_sgn(sum) > 0; i++) {
                if (fixed[i])
                        continue;
                mpq_div(weights[i], means[i], sum);
                mpq_mul(weights[i], weights[i], left);
        }
        for (size_t i = 0; i < count; i++)
                if (!fixed[i] && mpq_cmp(weights[i], cap) > 0) {
                        mpq_set(weights[i], cap);
                        mpq_sub(left, left, cap);
                        fixed[i] = again = true;
                }
        mpq_clears(sum, cap, NULL);
        return again;
}

void window_weights(const mpq_t *means, size_t count, mpq_t *ret_weights, mpq_t ret_unassigned)
{
        bool *fixed = calloc(count + 1, sizeof *fixed);
        mpq_t left;

        mpq_init(left);
        mpq_set_ui(left, 1, 1);
        for (size_t i = 0; i < count; i++)
                mpq_set_ui(ret_weights[i], 0, 1);
        while (fixed && share(means, count, fixed, ret_weights, left))
                for (size_t i = 0; i < count; i++)
                        if (!fixed[i])
                                mpq_set_ui(ret_weights[i], 0, 1);
        mpq_set_ui(ret_unassigned, 1, 1);
        for (size_t i = 0; i < count; i++)
                mpq_sub(ret_unassigned, ret_unassigned, ret_weights[i]);
        mpq_clear(left);
        free(fixed);
}

/* --- an execution record -------------------------------------------------------------------- */

enum step_status { COMPLETED = 1, HARD_FAILURE, NOT_RUN };
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
        struct list steps; /* of struct step */
        uint64_t total_steps;
        char actual_seconds[NUMBER_TEXT_SIZE], actual_cost[NUMBER_TEXT_SIZE],
                output_quality[NUMBER_TEXT_SIZE];
        bool budget_aborted;
};

struct composite_spec {
        char max_budget[NUMBER_TEXT_SIZE];
        struct duration max_latency;
        uint64_t min_steps, max_attempts;
        char pass[NUMBER_TEXT_SIZE];
};

static const struct choice schemas[] = {{"assay.execution/1", 0, false}, {0}};
static const struct choice step_statuses[] = {
        {"completed", COMPLETED, false},
        {"hard_failure", HARD_FAILURE, false},
        {"skipped", NOT_RUN, false},
        {"budget_abort", NOT_RUN, false},
        {0},
};
static const struct choice attempt_statuses[] = {
        {"ok", ATTEMPT_OK, false},
        {"error", ATTEMPT_ERROR, false},
        {"timeout", ATTEMPT_TIMEOUT, false},
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
        WHOLE_FIELD("schema", field_choice, REQUIRED, .choices = schemas),
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

static const struct choice schemes[] = {{"composite", 0, false}, {0}};
static const struct field spec_rows[] = {
        WHOLE_FIELD("scheme", field_choice, OPTIONAL, .choices = schemes),
        FIELD("max_budget", field_number, REQUIRED, struct composite_spec, max_budget),
        FIELD("max_latency", field_duration, REQUIRED, struct composite_spec, max_latency),
        FIELD("min_steps", field_whole, OPTIONAL, struct composite_spec, min_steps,
                .most = 1000000),
        FIELD("max_attempts", field_whole, OPTIONAL, struct composite_spec, max_attempts,
                .least = 1, .most = 1000000),
        FIELD("pass", field_decimal, OPTIONAL, struct composite_spec, pass, .most = 1),
        WHOLE_FIELD("quality", field_anything, OPTIONAL), /* of a run, not of its record */
        WHOLE_FIELD("tools", field_anything, OPTIONAL),
};
static const struct fields spec_fields = FIELDS(spec_rows, UNKNOWN_IS_PROBLEM);
static const struct field whole_spec = {.type = &field_object, .fields = &spec_fields};

static void count_step(struct execution *e, const struct step *s, size_t *completed)
{
        const struct attempt *a = s->attempts.items;
        const size_t planned = 1 + s->retry_count;

        *completed += s->status == COMPLETED;
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
        mpq_t unit;

        for (size_t i = 0; i < record->steps.count; i++)
                count_step(e, &s[i], &completed);
        total = total > spec->min_steps ? total : spec->min_steps;
        total = total > completed ? total : completed;
        mpq_set_ui(e->completion, completed, total > 0 ? total : 1);
        mpq_canonicalize(e->completion);
        number_parse(e->quality, record->output_quality);
        number_parse(e->cost, record->actual_cost);
        number_parse(e->seconds, record->actual_seconds);
        number_parse(e->max_budget, spec->max_budget);
        number_parse(e->max_latency, spec->max_latency.amount);
        mpq_init(unit);
        mpq_set_ui(unit, spec->max_latency.ms, 1000);
        mpq_canonicalize(unit);
        mpq_mul(e->max_latency, e->max_latency, unit);
        mpq_clear(unit);
        e->budget_aborted = record->budget_aborted;
}

/* --- answers -------------------------------------------------------------------------------- */

static int read_whole(struct json *doc, const struct buffer *text, const struct field *whole,
        void *to, enum code code, const char *what, struct error *err)
{
        struct spot root;
        struct reading r;

        if (reading_open(doc, text, code, err) < 0)
                return error_add(err, "%s", what);
        root = (struct spot){.value = json_root(doc)};
        reading_begin(&r, doc);
        field_read(&r, whole, &root, to);
        return reading_error(&r, code, err) < 0 ? error_add(err, "%s", what) : 0;
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
        struct composite_spec spec = {.pass = "0.7"};
        struct reader options = q->options;
        struct record record = {.total_steps = 0};
        bool with_steps = get_u8(&options);
        struct composite c;
        struct execution e;
        struct step *s;
        int r = read_whole(&spec_doc, &q->documents[DOCUMENT_SPEC].bytes, &whole_spec, &spec,
                CODE_SCORE_SPEC, "the spec", err);

        if (r == 0)
                r = read_whole(&record_doc, &q->documents[DOCUMENT_RECORD].bytes, &whole_record,
                        &record, CODE_SCORE_ANSWER, "the record", err);
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

static int answer_request(const struct buffer *in, struct buffer *out, uint16_t type,
        int (*answer)(const struct request *q, struct buffer *out, struct error *err),
        struct error *err)
{
        struct request q;
        int r = request_read(&q, in, err);

        if (r == 0)
                r = q.type == type
                            ? answer(&q, out, err)
                            : error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        request_free(&q);
        return r;
}

int composite_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return answer_request(in, out, REQUEST_COMPOSITE, score_record, err);
}

enum { WINDOW = 100, MOST_NAMES = 10000 };

/* A score from 0 to 1: a number, or a fraction as results have it in `exact`. */
static bool add_score(struct json_value v, mpq_t sum)
{
        const char *text = json_string_value(v.node);
        bool good = false;
        mpq_t score;

        mpq_init(score);
        if (json_is_number(v.node)) {
                value_number(v, score);
                good = true;
        } else if (text && strlen(text) < SCORE_MAX_NAME)
                good = number_parse_exact(score, text) == 0;
        good = good && mpq_sgn(score) >= 0 && mpq_cmp_ui(score, 1, 1) <= 0;
        if (good)
                mpq_add(sum, sum, score);
        mpq_clear(score);
        return good;
}

/* Of the last hundred, each alike. */
static void mean_of(struct reading *r, const struct spot *s, mpq_t ret, uint32_t *ret_count)
{
        const size_t all = json_array_size(s->value.node);
        const size_t first = all > WINDOW ? all - WINDOW : 0;
        struct json_value child;
        mpq_t count;

        mpq_set_ui(ret, 0, 1);
        *ret_count = (uint32_t)(all - first);
        if (!json_is_array(s->value.node))
                reading_problem(r, s, "must be an array of scores from 0 to 1");
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);

                if (w.index >= first && !add_score(child, ret))
                        reading_problem(r, &below,
                                "must be a score from 0 to 1, or one as a fraction (\"21/25\")");
        }
        if (*ret_count == 0)
                return;
        mpq_init(count);
        mpq_set_ui(count, *ret_count, 1);
        mpq_div(ret, ret, count);
        mpq_clear(count);
}

struct window {
        size_t count;
        const char **names;
        uint32_t *counts;
        mpq_t *means, *weights;
};

static void put_window(const struct window *w, struct buffer *out)
{
        mpq_t unassigned;
        size_t at;

        mpq_init(unassigned);
        window_weights(w->means, w->count, w->weights, unassigned);
        for (size_t i = 0; i < w->count; i++) {
                at = answer_begin(out, WINDOW_ROW);
                put_text(out, w->names[i]);
                put_u32(out, w->counts[i]);
                put_rounded(out, w->means[i], PLACES);
                put_rounded(out, w->weights[i], PLACES);
                put_exact(out, w->means[i]);
                put_exact(out, w->weights[i]);
                answer_end(out, at);
        }
        at = answer_begin(out, WINDOW_REST);
        put_rounded(out, unassigned, PLACES);
        put_exact(out, unassigned);
        answer_end(out, at);
        mpq_clear(unassigned);
}

static int read_window(const struct json *doc, struct window *w, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct json_value child;
        struct reading r;

        reading_begin(&r, doc);
        if (!json_is_object(doc->root) || json_object_size(doc->root) > MOST_NAMES)
                reading_problem(&r, &root,
                        "must be an object of at most %d names, each with an "
                        "array of scores",
                        MOST_NAMES);
        for (struct json_walk at = json_walk(root.value);
                r.problems.count == 0 && json_next(&at, &child); w->count++) {
                struct spot below = spot_below(&root, &at, child);

                if (*at.key == '\0' || strlen(at.key) > SCORE_MAX_NAME)
                        reading_problem(
                                &r, &below, "a name must have 1 to %d bytes", SCORE_MAX_NAME);
                w->names[w->count] = at.key;
                mpq_inits(w->means[w->count], w->weights[w->count], NULL);
                mean_of(&r, &below, w->means[w->count], &w->counts[w->count]);
        }
        return reading_error(&r, CODE_SCORE_SPEC, err);
}

static int score_window(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct window w = {0};
        size_t room;
        int r = reading_open(&doc, &q->documents[DOCUMENT_SUBMISSION].bytes, CODE_SCORE_SPEC, err);

        if (r < 0)
                return error_add(err, "the scores");
        room = json_object_size(doc.root) + 1;
        w.names = calloc(room, sizeof *w.names);
        w.counts = calloc(room, sizeof *w.counts);
        w.means = calloc(room, sizeof *w.means);
        w.weights = calloc(room, sizeof *w.weights);
        r = w.names && w.counts && w.means && w.weights
                    ? read_window(&doc, &w, err)
                    : error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (r == 0)
                put_window(&w, out);
        for (size_t i = 0; i < w.count; i++)
                mpq_clears(w.means[i], w.weights[i], NULL);
        free(w.names);
        free(w.counts);
        free(w.means);
        free(w.weights);
        return r;
}

int window_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return answer_request(in, out, REQUEST_WINDOW, score_window, err);
}
