/* Dimensions; see dimensions.h. */
#include "evaluators/schemes/dimensions.h"

#include "evaluators/answer.h"
#include "evaluators/schemes/spec.h"
#include "evaluators/trajectory.h"

#include "glob.h"
#include "text.h"

#include <stdarg.h>

enum { PLACES = 2, FULL = 1000, LEAST_WIN = 700, LEAST_DRAW = 400 };

/* What is scored. */
struct scored {
        const struct spec *spec;
        const struct trajectory *trajectory;
        struct json_value answer, truth;
        const struct buffer *sources; /* or NULL */
        bool has_truth, explain;
        bool waits; /* for the judge */
        const char *time_used;
        struct buffer *out;
        struct buffer rows, explanation, warnings; /* frames */
        mpq_t sum;
};

/* --- texts for people ----------------------------------------------------------------------- */

static void put_escaped(struct buffer *out, const char *text)
{
        char safe[2 * SCORE_MAX_NAME];

        text_escape(safe, sizeof safe, text, strlen(text));
        put_text(out, safe);
}

/* With %Qd, as GMP's own printf has it. */
static void explain(struct scored *s, const char *format, ...)
{
        char text[1024];
        va_list args;
        size_t at;

        if (!s->explain)
                return;
        va_start(args, format);
        gmp_vsnprintf(text, sizeof text, format, args);
        va_end(args);
        at = answer_begin(&s->explanation, SCORE_EXPLANATION);
        put_escaped(&s->explanation, text);
        answer_end(&s->explanation, at);
}

static void warn(struct scored *s, unsigned severity, const char *field, const char *text)
{
        size_t at = answer_begin(&s->warnings, SCORE_WARNING);

        put_u8(&s->warnings, (uint8_t)severity);
        put_escaped(&s->warnings, field);
        put_escaped(&s->warnings, text);
        answer_end(&s->warnings, at);
}

/* --- format rules --------------------------------------------------------------------------- */

/* NULL, or what is wrong. */
static const char *check_rule(const struct scored *s, const struct format_rule *rule)
{
        struct json_value value;
        json_type type;

        if (!value_find(s->answer, rule->field, &value))
                return "is missing";
        type = json_typeof(value.node) == JSON_FALSE ? JSON_TRUE : json_typeof(value.node);
        if (type != (json_type)rule->type)
                return "is of another type";
        if (type == JSON_ARRAY && json_array_size(value.node) < rule->min_items)
                return "has too few items";
        return type == JSON_ARRAY && json_array_size(value.node) > rule->max_items
                       ? "has too many items"
                       : NULL;
}

static void check_format(struct scored *s, bool zeroed[SPEC_MOST_DIMENSIONS])
{
        const struct format_rule *rules = s->spec->format.items;
        const struct dimension *d = s->spec->dimensions.items;

        for (size_t i = 0; i < s->spec->format.count; i++) {
                const char *wrong = check_rule(s, &rules[i]);

                if (!wrong)
                        continue;
                warn(s, rules[i].severity, rules[i].field,
                        *rules[i].message ? rules[i].message : wrong);
                for (size_t n = 0; n < s->spec->dimensions.count; n++)
                        if (rules[i].severity == SEVERITY_ERROR &&
                                strcmp(d[n].name, rules[i].dimension) == 0) {
                                explain(s, "%s: 0, because %.200s %s", d[n].name, rules[i].field,
                                        wrong);
                                zeroed[n] = true;
                        }
        }
}

/* --- a dimension ---------------------------------------------------------------------------- */

static int score_primitive(
        struct scored *s, const struct dimension *d, mpq_t ret, struct error *err)
{
        struct primitive_case c = {.parameters = &d->parameters,
                .has_truth = s->has_truth,
                .answer = s->answer,
                .truth = s->truth,
                .time_used = s->time_used};
        int r;

        mpq_init(c.score);
        r = d->primitive->score(&c, err);
        mpq_set(ret, c.score);
        mpq_clear(c.score);
        if (r < 0)
                return error_add(err, "%s", d->name);
        if (*c.warning)
                warn(s, SEVERITY_WARNING, d->parameters.field, c.warning);
        explain(s, "%s: %s: %s = %Qd", d->name, d->primitive->name, c.steps, ret);
        return 0;
}

static void score_efficiency(struct scored *s, const struct dimension *d, mpq_t ret)
{
        const struct trajectory *t = s->trajectory;
        const bool tokens = d->source == FROM_TOKENS;
        mpq_t used, limit;

        mpq_set_ui(ret, 0, 1);
        if (!t->valid) {
                warn(s, SEVERITY_WARNING, d->name,
                        t->given ? t->why : "there is no trajectory: it counts as 0");
                explain(s, "%s: 0, without a valid trajectory", d->name);
                return;
        }
        mpq_inits(used, limit, NULL);
        if (tokens)
                mpq_set_z(used, t->tokens);
        else
                mpq_set_ui(used, t->llm_calls, 1);
        number_parse(limit,
                tokens ? s->spec->constraints.token_budget : s->spec->constraints.max_llm_calls);
        primitive_decay(ret, used, limit);
        explain(s, "%s: 1000 × max(0, 1 − %Qd / %Qd) = %Qd", d->name, used, limit, ret);
        mpq_clears(used, limit, NULL);
}

/* --- what an evaluation found --------------------------------------------------------------- */

/* A number of the frame, times `factor`. */
static bool take_score(struct reader *r, unsigned factor, mpq_t ret)
{
        char *text = get_new_text(r, SCORE_MAX_EXACT);
        const bool good = text && number_parse_exact(ret, text) == 0 &&
                          mpq_cmp_ui(ret, FULL / factor, 1) <= 0;
        mpq_t times;

        free(text);
        mpq_init(times);
        mpq_set_ui(times, factor, 1);
        mpq_mul(ret, ret, times);
        mpq_clear(times);
        return good;
}

/* The frame of a source that has one row for the dimension. */
static bool find_source(const struct scored *s, enum score_message wanted, const char *name,
        unsigned factor, mpq_t ret)
{
        struct reader r = reader_of(s->sources->data, s->sources->len), payload;
        uint16_t type;

        while (answer_next(&r, &type, &payload)) {
                char text[SCORE_MAX_TEXT + 1] = "";

                if (type != wanted)
                        continue;
                if (name)
                        get_text(&payload, text, sizeof text);
                if (!name || strcmp(text, name) == 0)
                        return take_score(&payload, factor, ret) && reader_done(&payload);
        }
        return false;
}

static bool is_wanted(const struct list *globs, const char *name)
{
        for (size_t i = 0; i < globs->count; i++)
                if (glob_match(((const char *const *)globs->items)[i], name))
                        return true;
        return false;
}

static int score_tests(struct scored *s, const struct dimension *d, mpq_t ret, struct error *err)
{
        struct reader r = reader_of(s->sources->data, s->sources->len), payload;
        unsigned long matching = 0, passed = 0;
        uint16_t type;

        while (answer_next(&r, &type, &payload)) {
                char name[SCORE_MAX_TEXT + 1];

                if (type != GIVEN_TEST)
                        continue;
                get_text(&payload, name, sizeof name);
                if (payload.bad || !is_wanted(&d->tests, name))
                        continue;
                matching++;
                passed += get_u8(&payload) == 1;
        }
        if (matching == 0)
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "%s: the suite has no test that its patterns match", d->name);
        mpq_set_ui(ret, FULL * passed, matching);
        mpq_canonicalize(ret);
        explain(s, "%s: 1000 × %lu/%lu tests = %Qd", d->name, passed, matching, ret);
        return 0;
}

static bool has_source(const struct scored *s, enum score_message wanted)
{
        struct reader r =
                s->sources ? reader_of(s->sources->data, s->sources->len) : reader_of(NULL, 0);
        struct reader payload;
        uint16_t type;

        while (answer_next(&r, &type, &payload))
                if (type == wanted)
                        return true;
        return false;
}

static int score_source(struct scored *s, const struct dimension *d, mpq_t ret, struct error *err)
{
        enum { OF_HUNDRED = 10 };
        const char *key = d->key ? d->key : d->name;

        switch (d->source) {
        case FROM_TESTS:
                return score_tests(s, d, ret, err);
        case FROM_SUITE:
                if (!find_source(s, GIVEN_SUITE, NULL, OF_HUNDRED, ret))
                        return error_set(err, CODE_SUITE_RESULT_INVALID,
                                "%s: the suite gave no score", d->name);
                break;
        case FROM_JUDGE:
                if (!find_source(s, GIVEN_JUDGE, d->criterion, OF_HUNDRED, ret))
                        return error_set(err, CODE_JUDGE_INVALID,
                                "%s: the verdict does not score the criterion \"%.200s\"", d->name,
                                d->criterion);
                break;
        default:
                if (!find_source(s, GIVEN_SCRIPT, key, 1, ret))
                        return error_set(err, CODE_SUITE_RESULT_INVALID,
                                "%s: the script gave no score for \"%.200s\"", d->name, key);
        }
        explain(s, "%s: %Qd", d->name, ret);
        return 0;
}

/* --- a row ---------------------------------------------------------------------------------- */

static void put_look(struct buffer *out, const struct dimension *d)
{
        const struct dimension_look look = dimension_look(d);

        put_text(out, d->name);
        put_text(out, look.label);
        put_text(out, look.description);
        put_text(out, look.colour);
        put_text(out, d->source == FROM_JUDGE ? d->criterion : "");
}

static void put_dimension(struct scored *s, const struct dimension *d, const mpq_t score)
{
        struct buffer *out = &s->rows;
        size_t at = answer_begin(out, SCORE_DIMENSION);
        mpq_t weighted;

        mpq_init(weighted);
        number_parse(weighted, d->weight);
        mpq_mul(weighted, weighted, score);
        mpq_add(s->sum, s->sum, weighted);
        explain(s, "%s: %Qd × %s = %Qd", d->name, score, d->weight, weighted);
        put_look(out, d);
        put_rounded(out, score, PLACES);
        put_number(out, d->weight);
        put_rounded(out, weighted, PLACES);
        put_exact(out, score);
        put_exact(out, weighted);
        answer_end(out, at);
        mpq_clear(weighted);
}

/* The row of one that has no score yet. */
static void put_waiting(struct scored *s, const struct dimension *d)
{
        struct buffer *out = &s->rows;
        size_t at = answer_begin(out, SCORE_DIMENSION);

        put_look(out, d);
        put_text(out, "");
        put_number(out, d->weight);
        put_text(out, "");
        put_text(out, "");
        put_text(out, "");
        answer_end(out, at);
}

static int score_dimension(
        struct scored *s, const struct dimension *d, bool zeroed, struct error *err)
{
        mpq_t score;
        int r = 0;

        if (s->waits && !zeroed && d->source == FROM_JUDGE) {
                put_waiting(s, d);
                return 0;
        }
        mpq_init(score);
        if (d->source == FROM_PRIMITIVE)
                r = score_primitive(s, d, score, err);
        else if (d->source == FROM_TOKENS || d->source == FROM_CALLS)
                score_efficiency(s, d, score);
        else if (!s->waits || d->source != FROM_JUDGE)
                r = score_source(s, d, score, err);
        if (zeroed)
                mpq_set_ui(score, 0, 1);
        if (r == 0)
                put_dimension(s, d, score);
        mpq_clear(score);
        return r;
}

/* --- the total ------------------------------------------------------------------------------ */

static void put_violation(
        struct scored *s, const char *constraint, const char *limit, const mpz_t actual)
{
        char text[SCORE_MAX_NAME];
        mpq_t most, used;
        size_t at;

        mpq_inits(most, used, NULL);
        mpq_set_z(used, actual);
        if (*limit && number_parse(most, limit) == 0 && mpq_cmp(used, most) > 0) {
                gmp_snprintf(text, sizeof text, "%Zd", actual);
                at = answer_begin(&s->warnings, SCORE_VIOLATION);
                put_text(&s->warnings, constraint);
                put_number(&s->warnings, limit);
                put_text(&s->warnings, text);
                answer_end(&s->warnings, at);
        }
        mpq_clears(most, used, NULL);
}

static void put_trajectory(struct scored *s)
{
        const struct trajectory *t = s->trajectory;
        size_t at;

        if (!t->given)
                return;
        at = answer_begin(&s->warnings, SCORE_TRAJECTORY);
        put_u8(&s->warnings, t->valid);
        put_text(&s->warnings, t->valid ? "" : t->why);
        answer_end(&s->warnings, at);
}

static void put_violations(struct scored *s)
{
        const struct constraints *c = &s->spec->constraints;
        mpz_t calls;

        if (!s->trajectory->valid)
                return;
        mpz_init(calls);
        put_violation(s, "token_budget", c->token_budget, s->trajectory->tokens);
        mpz_set_ui(calls, s->trajectory->llm_calls);
        put_violation(s, "max_llm_calls", c->max_llm_calls, calls);
        mpz_set_ui(calls, s->trajectory->tool_calls);
        put_violation(s, "max_tool_calls", c->max_tool_calls, calls);
        mpz_clear(calls);
}

unsigned long dimensions_total(const mpq_t sum, unsigned *ret_outcome)
{
        unsigned long total;
        mpz_t floor;

        mpz_init(floor);
        mpz_fdiv_q(floor, mpq_numref(sum), mpq_denref(sum));
        total = mpz_cmp_ui(floor, FULL) > 0 ? FULL : mpz_get_ui(floor);
        mpz_clear(floor);
        *ret_outcome = total >= LEAST_WIN ? 0 : total >= LEAST_DRAW ? 1 : 2;
        return total;
}

static void put_total(struct scored *s)
{
        static const char *const names[] = {"win", "draw", "loss"};
        size_t at = answer_begin(s->out, SCORE_TOTAL);
        unsigned outcome;
        const unsigned long total = dimensions_total(s->sum, &outcome);

        put_u32(s->out, (uint32_t)total);
        put_u8(s->out, (uint8_t)outcome);
        put_exact(s->out, s->sum);
        answer_end(s->out, at);
        explain(s, "total: floor(min(1000, %Qd)) = %lu: %s", s->sum, total, names[outcome]);
}

static int score_all(struct scored *s, struct error *err)
{
        const struct dimension *d = s->spec->dimensions.items;
        bool zeroed[SPEC_MOST_DIMENSIONS] = {false};

        s->waits = has_source(s, GIVEN_NO_VERDICT);
        check_format(s, zeroed);
        for (size_t i = 0; i < s->spec->dimensions.count && i < SPEC_MOST_DIMENSIONS; i++)
                if (score_dimension(s, &d[i], zeroed[i], err) < 0)
                        return -1;
        put_violations(s);
        put_trajectory(s);
        if (!s->waits)
                put_total(s);
        return 0;
}

static int score(struct scored *s, struct error *err)
{
        enum { PARTS = 3 };
        struct buffer *const parts[PARTS] = {&s->rows, &s->warnings, &s->explanation};
        int r;

        mpq_init(s->sum);
        for (unsigned i = 0; i < PARTS; i++)
                *parts[i] = (struct buffer)BUFFER_INIT;
        r = score_all(s, err);
        for (unsigned i = 0; i < PARTS; i++) {
                if (r == 0)
                        buffer_add(s->out, parts[i]->data, parts[i]->len);
                s->out->failed |= parts[i]->failed;
                buffer_free(parts[i]);
        }
        mpq_clear(s->sum);
        return r;
}

/* -------------------------------------------------------------------------------------------- */

static int read_spec(const struct json *doc, bool in_evaluation, struct spec *ret,
        struct buffer *out, struct error *err)
{
        struct reading r;

        reading_begin(&r, doc);
        spec_read(&r, in_evaluation, ret);
        if (r.problems.count == 0)
                return 0;
        reading_put_problems(&r, out);
        return reading_error(&r, CODE_SCORE_SPEC, err);
}

int dimensions_score(const struct dimensions_input *input, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json spec_doc = JSON_INIT, answer = JSON_INIT, truth = JSON_INIT;
        struct spec spec;
        struct scored s = {.spec = &spec,
                .trajectory = input->trajectory,
                .explain = input->explain,
                .sources = input->sources,
                .time_used = input->time_used,
                .out = out};
        int r;

        if (reading_open(&spec_doc, input->spec, CODE_SCORE_SPEC, err) < 0)
                return error_add(err, "the spec");
        r = read_spec(&spec_doc, input->sources != NULL, &spec, out, err);
        /* The truth first: what there is not memory for then is the answer's fault. */
        if (r == 0 && input->truth &&
                (r = reading_open(&truth, input->truth, CODE_SCORE_TRUTH, err)) < 0)
                error_add(err, "the truth");
        if (r == 0 && (r = reading_open(&answer, input->answer, CODE_SCORE_ANSWER, err)) < 0)
                error_add(err, "the submission");
        if (r == 0) {
                s.answer = json_root(&answer);
                s.has_truth = input->truth;
                if (s.has_truth)
                        s.truth = json_root(&truth);
                r = score(&s, err);
        }
        spec_free(&spec);
        return r;
}
