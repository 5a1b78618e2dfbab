/* The primitives; see primitives.h, and §8 of the contract for each rule. */
#include "primitives.h"

#include "likeness.h"

#include <stdarg.h>

enum { FULL = 1000 };

__attribute__((format(printf, 2, 3))) static int zero(
        struct primitive_case *c, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(c->warning, sizeof c->warning, format, args);
        va_end(args);
        mpq_set_ui(c->score, 0, 1);
        snprintf(c->steps, sizeof c->steps, "0, because the answer %.200s", c->warning);
        return 0;
}

static int wrong_truth(const struct primitive_case *c, const char *what, struct error *err)
{
        return error_set(
                err, CODE_SCORE_TRUTH, "the truth's %.200s %s", c->parameters->truth_field, what);
}

static int no_memory(struct error *err)
{
        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

/* 1000 × part / whole */
static int ratio(struct primitive_case *c, size_t part, size_t whole, const char *what)
{
        mpq_set_ui(c->score, FULL * part, whole);
        mpq_canonicalize(c->score);
        snprintf(c->steps, sizeof c->steps, "1000 × %zu/%zu %s", part, whole, what);
        return 0;
}

static int all_or_nothing(struct primitive_case *c, bool all, const char *what)
{
        mpq_set_ui(c->score, all ? FULL : 0, 1);
        snprintf(c->steps, sizeof c->steps, "%s: %s", all ? "1000" : "0", what);
        return 0;
}

/* --- what is there -------------------------------------------------------------------------- */

static const char *type_name(json_type type)
{
        static const char *const names[] = {[JSON_OBJECT] = "an object",
                [JSON_ARRAY] = "an array",
                [JSON_STRING] = "a text",
                [JSON_REAL] = "a number"};

        return names[type];
}

static int find_truth(const struct primitive_case *c, struct json_value *ret, struct error *err)
{
        if (!c->has_truth)
                return error_set(err, CODE_SCORE_TRUTH, "there is no truth to compare with");
        return value_find(c->truth, c->parameters->truth_field, ret)
                       ? 0
                       : wrong_truth(c, "is missing", err);
}

/* The answer's part must be of that type. 1; 0: it is not, and that scored. */
static int find_answer(struct primitive_case *c, json_type type, struct json_value *ret)
{
        char is[128];

        if (!value_find(c->answer, c->parameters->field, ret))
                return zero(c, "has no %.100s", c->parameters->field);
        if (json_typeof(ret->node) == type)
                return 1;
        json_describe(*ret, is, sizeof is);
        return zero(
                c, "has in %.60s %.80s instead of %s", c->parameters->field, is, type_name(type));
}

/* Both parts, of one type. 1; 0; -1. */
static int find_both(struct primitive_case *c, json_type type, struct json_value *ret_answer,
        struct json_value *ret_truth, struct error *err)
{
        char text[64];

        if (find_truth(c, ret_truth, err) < 0)
                return -1;
        snprintf(text, sizeof text, "must be %s", type_name(type));
        return json_typeof(ret_truth->node) == type ? find_answer(c, type, ret_answer)
                                                    : wrong_truth(c, text, err);
}

/* --- equality ------------------------------------------------------------------------------- */

static int exact_match(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer, truth = c->truth;
        bool equal;

        if (find_truth(c, &truth, err) < 0)
                return -1;
        if (!value_find(c->answer, c->parameters->field, &answer))
                return zero(c, "has no %.100s", c->parameters->field);
        equal = value_equal(answer, truth);
        return all_or_nothing(c, equal, equal ? "equal" : "not equal");
}

/* Positions that agree, of those that the truth has; `agree` may set a warning. */
static int count_positions(struct primitive_case *c, struct json_value answer,
        struct json_value truth,
        bool (*agree)(struct primitive_case *c, struct json_value a, struct json_value t),
        const char *what)
{
        struct json_walk v = json_walk(answer), w = json_walk(truth);
        struct json_value a = answer, t = truth;
        size_t good = 0;

        if (json_array_size(truth.node) == 0)
                return all_or_nothing(c, json_array_size(answer.node) == 0,
                        "nothing is expected; is nothing there?");
        while (json_next(&v, &a) && json_next(&w, &t))
                good += agree(c, a, t);
        return ratio(c, good, json_array_size(truth.node), what);
}

static bool agree_exactly(struct primitive_case *c, struct json_value a, struct json_value t)
{
        (void)c;
        return value_equal(a, t);
}

static int exact_match_ratio(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer, truth = c->truth;
        int r = find_both(c, JSON_ARRAY, &answer, &truth, err);

        return r <= 0 ? r : count_positions(c, answer, truth, agree_exactly, "positions equal");
}

/* --- numbers -------------------------------------------------------------------------------- */

static bool agree_within(struct primitive_case *c, struct json_value a, struct json_value t)
{
        mpq_t difference, other;
        bool within;

        if (!json_is_number(a.node)) {
                snprintf(c->warning, sizeof c->warning, "has in %.100s what is no number",
                        c->parameters->field);
                return false;
        }
        mpq_inits(difference, other, NULL);
        value_number(a, difference);
        value_number(t, other);
        mpq_sub(difference, difference, other);
        mpq_abs(difference, difference);
        mpq_set_ui(other, 0, 1);
        if (*c->parameters->tolerance)
                number_parse(other, c->parameters->tolerance);
        within = mpq_cmp(difference, other) <= 0;
        mpq_clears(difference, other, NULL);
        return within;
}

static int all_numbers(const struct primitive_case *c, struct json_value truth, struct error *err)
{
        struct json_value item;

        for (struct json_walk w = json_walk(truth); json_next(&w, &item);)
                if (!json_is_number(item.node))
                        return wrong_truth(c, "must hold numbers only", err);
        return 0;
}

static int numeric_arrays(
        struct primitive_case *c, struct json_value answer, struct json_value truth)
{
        const size_t wanted = json_array_size(truth.node);
        mpq_t full;
        bool all;

        count_positions(c, answer, truth, agree_within, "within the tolerance");
        if (c->parameters->partial)
                return 0;
        mpq_init(full);
        mpq_set_ui(full, FULL, 1);
        all = json_array_size(answer.node) == wanted && mpq_equal(c->score, full);
        mpq_clear(full);
        return all_or_nothing(c, all,
                all ? "all within the tolerance"
                    : "not all within the tolerance, or another number of them");
}

static int numeric_tolerance(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer, truth = c->truth;
        char numbers[2][NUMBER_TEXT_SIZE], how[4 * NUMBER_TEXT_SIZE];
        bool within;

        if (find_truth(c, &truth, err) < 0)
                return -1;
        if (json_is_array(truth.node)) {
                if (all_numbers(c, truth, err) < 0)
                        return -1;
                return find_answer(c, JSON_ARRAY, &answer) > 0 ? numeric_arrays(c, answer, truth)
                                                               : 0;
        }
        if (!json_is_number(truth.node))
                return wrong_truth(c, "must be a number or an array of numbers", err);
        if (find_answer(c, JSON_REAL, &answer) == 0)
                return 0;
        within = agree_within(c, answer, truth);
        json_number_text(answer, numbers[0], sizeof numbers[0]);
        json_number_text(truth, numbers[1], sizeof numbers[1]);
        snprintf(how, sizeof how, "|%s − %s| ≤ %s is %s", numbers[0], numbers[1],
                *c->parameters->tolerance ? c->parameters->tolerance : "0",
                within ? "true" : "false");
        return all_or_nothing(c, within, how);
}

static int counted(struct primitive_case *c, struct json_value answer, struct json_value truth,
        struct error *err)
{
        mpq_t found, total;
        int r = 0;

        mpq_inits(found, total, NULL);
        value_number(truth, total);
        value_number(answer, found);
        if (mpq_sgn(total) <= 0)
                r = wrong_truth(c, "must be above 0", err);
        else if (mpq_sgn(found) <= 0)
                mpq_set_ui(c->score, 0, 1);
        else {
                mpq_div(c->score, found, total);
                if (mpq_cmp_ui(c->score, 1, 1) > 0)
                        mpq_set_ui(c->score, 1, 1);
                mpq_set_ui(found, FULL, 1);
                mpq_mul(c->score, c->score, found);
        }
        value_number(answer, found);
        gmp_snprintf(c->steps, sizeof c->steps, "1000 × min(1, max(0, %Qd) / %Qd)", found, total);
        mpq_clears(found, total, NULL);
        return r;
}

/* --- sets ----------------------------------------------------------------------------------- */

struct overlap {
        size_t answer, truth, common;
};

static int compare_sets(
        struct json_value answer, struct json_value truth, struct overlap *ret, struct error *err)
{
        struct value_set a, t = {0};
        int r = value_set_make(&a, answer) < 0 || value_set_make(&t, truth) < 0 ? no_memory(err)
                                                                                : 0;

        if (r == 0)
                *ret = (struct overlap){a.count, t.count, value_set_common(&t, &a)};
        value_set_free(&a);
        value_set_free(&t);
        return r;
}

static int coverage_ratio(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer, truth = c->truth;
        struct overlap o = {0};

        if (find_truth(c, &truth, err) < 0)
                return -1;
        if (json_is_number(truth.node)) {
                mpq_t total;
                int sign;

                mpq_init(total);
                value_number(truth, total);
                sign = mpq_sgn(total);
                mpq_clear(total);
                if (sign <= 0)
                        return wrong_truth(c, "must be above 0", err);
                return find_answer(c, JSON_REAL, &answer) > 0 ? counted(c, answer, truth, err) : 0;
        }
        if (!json_is_array(truth.node) || json_array_size(truth.node) == 0)
                return wrong_truth(
                        c, "must be a number above 0, or an array that is not empty", err);
        if (find_answer(c, JSON_ARRAY, &answer) == 0)
                return 0;
        return compare_sets(answer, truth, &o, err) < 0
                       ? -1
                       : ratio(c, o.common, o.truth, "expected items covered");
}

static int set_overlap(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer, truth = c->truth;
        struct overlap o = {0};
        int r = find_both(c, JSON_ARRAY, &answer, &truth, err);

        if (r <= 0)
                return r;
        if (compare_sets(answer, truth, &o, err) < 0)
                return -1;
        if (o.answer == 0 && o.truth == 0)
                return all_or_nothing(c, true, "both are empty");
        if (!c->parameters->intersection)
                return ratio(c, o.common, o.answer + o.truth - o.common, "of all items in both");
        return o.truth == 0 ? all_or_nothing(c, false, "nothing is expected, something is there")
                            : ratio(c, o.common, o.truth, "expected items found");
}

/* --- texts ---------------------------------------------------------------------------------- */

static int normalise(struct json_value v, struct likeness_text *ret)
{
        return likeness_normalise(json_string_value(v.node), json_string_length(v.node), ret);
}

static int compare_texts(struct primitive_case *c, const struct likeness_text *a,
        const struct likeness_text *t, struct error *err)
{
        const size_t longer = a->count > t->count ? a->count : t->count;
        size_t distance;

        if (longer == 0)
                return all_or_nothing(c, true, "both are empty");
        distance = likeness_distance(a, t);
        if (distance == SIZE_MAX)
                return no_memory(err);
        ratio(c, longer - distance, longer, "");
        snprintf(c->steps, sizeof c->steps, "1000 × (1 − %zu changes / %zu characters)", distance,
                longer);
        return 0;
}

/* The truth is judged whatever the answer is. */
static int compare_with(struct primitive_case *c, const struct likeness_text *t, struct error *err)
{
        struct likeness_text a = {0};
        struct json_value answer = c->answer;
        int r = find_answer(c, JSON_STRING, &answer);

        if (r <= 0)
                return r;
        r = normalise(answer, &a);
        if (r == 0)
                r = compare_texts(c, &a, t, err);
        else if (r > 0)
                r = zero(c, "has in %.100s a text of more than 100000 characters",
                        c->parameters->field);
        else
                no_memory(err);
        likeness_free(&a);
        return r;
}

static int fuzzy_string(struct primitive_case *c, struct error *err)
{
        struct likeness_text t = {0};
        struct json_value truth = c->truth;
        int r;

        if (find_truth(c, &truth, err) < 0)
                return -1;
        if (!json_is_string(truth.node))
                return wrong_truth(c, "must be a text", err);
        r = normalise(truth, &t);
        if (r == 0)
                r = compare_with(c, &t, err);
        else
                r = r > 0 ? wrong_truth(c, "is a text of more than 100000 characters", err)
                          : no_memory(err);
        likeness_free(&t);
        return r;
}

/* --- amounts -------------------------------------------------------------------------------- */

void primitive_decay(mpq_t ret, const mpq_t used, const mpq_t limit)
{
        mpq_t part;

        mpq_init(part);
        mpq_div(part, used, limit);
        mpq_set_ui(ret, 1, 1);
        mpq_sub(ret, ret, part);
        if (mpq_sgn(ret) < 0)
                mpq_set_ui(ret, 0, 1);
        mpq_set_ui(part, FULL, 1);
        mpq_mul(ret, ret, part);
        mpq_clear(part);
}

static int time_decay(struct primitive_case *c, struct error *err)
{
        const struct parameters *p = c->parameters;
        mpq_t used, limit, unit;

        if (!*c->time_used)
                return error_set(err, CODE_SCORE_TIME, "time_decay needs the time that was used");
        mpq_inits(used, limit, unit, NULL);
        number_parse(used, c->time_used);
        number_parse(limit, p->limit);
        mpq_set_ui(unit, p->limit_ms, FULL);
        mpq_canonicalize(unit);
        mpq_mul(limit, limit, unit);
        primitive_decay(c->score, used, limit);
        gmp_snprintf(c->steps, sizeof c->steps, "1000 × max(0, 1 − %.60s s / %Qd s)", c->time_used,
                limit);
        mpq_clears(used, limit, unit, NULL);
        return 0;
}

static int api_call_efficiency(struct primitive_case *c, struct error *err)
{
        struct json_value answer = c->answer;
        mpq_t calls, optimal, max;

        (void)err;
        if (find_answer(c, JSON_REAL, &answer) == 0)
                return 0;
        mpq_inits(calls, optimal, max, NULL);
        value_number(answer, calls);
        gmp_snprintf(c->steps, sizeof c->steps,
                "1000 × min(1, max(0, (%.40s − %Qd) / (%.40s − %.40s)))", c->parameters->max, calls,
                c->parameters->max, c->parameters->optimal);
        number_parse(optimal, c->parameters->optimal);
        number_parse(max, c->parameters->max);
        if (mpq_cmp(calls, optimal) < 0)
                mpq_set(calls, optimal);
        mpq_sub(calls, calls, optimal);
        mpq_sub(max, max, optimal);
        primitive_decay(c->score, calls, max);
        mpq_clears(calls, optimal, max, NULL);
        return 0;
}

/* --- the table ------------------------------------------------------------------------------ */

enum { BOTH = NEEDS_FIELD | NEEDS_TRUTH };

static const struct primitive primitives[] = {
        {"exact_match", BOTH, exact_match},
        {"exact_match_ratio", BOTH, exact_match_ratio},
        {"numeric_tolerance", BOTH | TAKES_TOLERANCE | TAKES_PARTIAL, numeric_tolerance},
        {"fuzzy_string", BOTH, fuzzy_string},
        {"time_decay", NEEDS_LIMIT, time_decay},
        {"coverage_ratio", BOTH, coverage_ratio},
        {"set_overlap", BOTH | TAKES_METHOD, set_overlap},
        {"api_call_efficiency", NEEDS_FIELD | NEEDS_RANGE, api_call_efficiency},
};
enum { PRIMITIVE_COUNT = sizeof primitives / sizeof *primitives };

const struct primitive *primitive_find(const char *name)
{
        for (size_t i = 0; i < PRIMITIVE_COUNT; i++)
                if (strcmp(primitives[i].name, name) == 0)
                        return &primitives[i];
        return NULL;
}

const char *primitive_name(size_t i)
{
        return i < PRIMITIVE_COUNT ? primitives[i].name : NULL;
}
