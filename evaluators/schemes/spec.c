/* Specs of dimensions; see spec.h. */
#include "evaluators/schemes/spec.h"

#include <stdarg.h>

enum {
        LEAST_DIMENSIONS = 2,
        MOST_DIMENSIONS = 6, /* beside those of efficiency */
};

/* --- types of its own ----------------------------------------------------------------------- */

static const char *check_name(const char *name)
{
        return name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")]
                       ? "must have only the letters a to z and _"
                       : NULL;
}

/* --- tables --------------------------------------------------------------------------------- */

static const struct choice types[] = {
        {"deterministic", 0}, {"test-suite", 1}, {"custom-script", 2}, {0}};
static const struct choice schemes[] = {{"dimensions", 0}, {0}};
static const struct choice difficulties[] = {
        {"newcomer", DIFFICULTY_NEWCOMER},
        {"contender", DIFFICULTY_CONTENDER},
        {"veteran", DIFFICULTY_VETERAN},
        {"legendary", DIFFICULTY_LEGENDARY},
        {0},
};
static const struct choice sources[] = {
        {"suite", FROM_SUITE},
        {"tests", FROM_TESTS},
        {"judge", FROM_JUDGE},
        {"script", FROM_SCRIPT},
        {"tokens", FROM_TOKENS},
        {"calls", FROM_CALLS},
        {0},
};
static const struct choice methods[] = {{"jaccard", 0}, {"intersection", 1}, {0}};
static const struct choice severities[] = {
        {"error", SEVERITY_ERROR}, {"warning", SEVERITY_WARNING}, {0}};
static const struct choice field_types[] = {
        {"array", JSON_ARRAY},
        {"string", JSON_STRING},
        {"number", JSON_REAL},
        {"boolean", JSON_TRUE},
        {"object", JSON_OBJECT},
        {0},
};

/* Of a dimension, and of the quality of a workflow. */
#define PRIMITIVE_ROWS                                                                             \
        FIELD("primitive", field_text, OPTIONAL, struct dimension, primitive_name, .least = 1,     \
                .most = SCORE_MAX_NAME),                                                           \
                FIELD("field", field_text, OPTIONAL, struct dimension, parameters.field,           \
                        .most = SCORE_MAX_NAME),                                                   \
                FIELD("ground_truth_field", field_text, OPTIONAL, struct dimension,                \
                        parameters.truth_field, .most = SCORE_MAX_NAME),                           \
                FIELD("tolerance", field_number, OPTIONAL, struct dimension,                       \
                        parameters.tolerance),                                                     \
                FIELD("partial", field_boolean, OPTIONAL, struct dimension, parameters.partial),   \
                FIELD("time_limit_secs", field_number, OPTIONAL, struct dimension,                 \
                        parameters.limit),                                                         \
                FIELD("method", field_choice, OPTIONAL, struct dimension, method,                  \
                        .choices = methods),                                                       \
                FIELD("optimal", field_number, OPTIONAL, struct dimension, parameters.optimal),    \
                FIELD("max", field_number, OPTIONAL, struct dimension, parameters.max)

static const struct field dimension_rows[] = {
        FIELD("name", field_text, REQUIRED, struct dimension, name, .least = 1, .most = 30,
                .check = check_name),
        FIELD("weight", field_decimal, REQUIRED, struct dimension, weight, .most = 1),
        FIELD("label", field_text, OPTIONAL, struct dimension, label, .most = SCORE_MAX_NAME),
        FIELD("description", field_text, OPTIONAL, struct dimension, description,
                .most = SCORE_MAX_TEXT),
        FIELD("color", field_text, OPTIONAL, struct dimension, colour, .most = SCORE_MAX_NAME),
        FIELD("source", field_choice, OPTIONAL, struct dimension, source, .choices = sources),
        PRIMITIVE_ROWS,
        FIELD("criterion", field_text, OPTIONAL, struct dimension, criterion, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("key", field_text, OPTIONAL, struct dimension, key, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("tests", field_texts, OPTIONAL, struct dimension, tests, .least = 1, .most = 1000),
};
static const struct dimension dimension_default = {
        .name = "", .source = NOT_GIVEN, .method = NOT_GIVEN, .parameters.limit_ms = 1000};
static const struct fields dimension_fields = {
        dimension_rows, COUNT(dimension_rows), UNKNOWN_IS_PROBLEM, &dimension_default};

static const struct choice quality_sources[] = {{"suite", FROM_SUITE}, {0}};
static const struct field quality_rows[] = {
        FIELD("source", field_choice, OPTIONAL, struct dimension, source,
                .choices = quality_sources),
        PRIMITIVE_ROWS,
};
const struct fields quality_fields = FIELDS(quality_rows, UNKNOWN_IS_PROBLEM);

static const struct field constraint_rows[] = {
        FIELD("token_budget", field_number, OPTIONAL, struct constraints, token_budget),
        FIELD("max_llm_calls", field_number, OPTIONAL, struct constraints, max_llm_calls),
        FIELD("max_tool_calls", field_number, OPTIONAL, struct constraints, max_tool_calls),
};
static const struct fields constraint_fields = FIELDS(constraint_rows, UNKNOWN_IS_PROBLEM);

static const struct field rule_rows[] = {
        FIELD("field", field_text, REQUIRED, struct format_rule, field, .most = SCORE_MAX_NAME),
        FIELD("type", field_choice, REQUIRED, struct format_rule, type, .choices = field_types),
        FIELD("severity", field_choice, REQUIRED, struct format_rule, severity,
                .choices = severities),
        FIELD("dimension", field_text, OPTIONAL, struct format_rule, dimension, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("message", field_text, OPTIONAL, struct format_rule, message, .most = SCORE_MAX_TEXT),
        FIELD("min_items", field_whole, OPTIONAL, struct format_rule, min_items, .most = 1000000),
        FIELD("max_items", field_whole, OPTIONAL, struct format_rule, max_items, .most = 1000000),
};
static const struct format_rule rule_default = {
        .field = "", .dimension = "", .message = "", .max_items = UINT64_MAX};
static const struct fields rule_fields = {
        rule_rows, COUNT(rule_rows), UNKNOWN_IS_PROBLEM, &rule_default};

static const struct field spec_rows[] = {
        FIELD("type", field_choice, OPTIONAL, struct spec, type, .choices = types),
        FIELD("scheme", field_choice, OPTIONAL, struct spec, scheme, .choices = schemes),
        FIELD("time_limit", field_duration, OPTIONAL, struct spec, time_limit),
        FIELD("difficulty", field_choice, OPTIONAL, struct spec, difficulty,
                .choices = difficulties),
        FIELD("dimensions", field_list, REQUIRED, struct spec, dimensions,
                .least = LEAST_DIMENSIONS, .most = SPEC_MOST_DIMENSIONS,
                .fields = &dimension_fields, .item_size = sizeof(struct dimension)),
        FIELD("constraints", field_object, OPTIONAL, struct spec, constraints,
                .fields = &constraint_fields),
        FIELD("format", field_list, OPTIONAL, struct spec, format, .most = 100,
                .fields = &rule_fields, .item_size = sizeof(struct format_rule)),
};
const struct fields spec_fields = FIELDS(spec_rows, UNKNOWN_IS_PROBLEM);

/* --- how dimensions look -------------------------------------------------------------------- */

static const struct {
        const char *name;
        struct dimension_look look;
        bool efficiency;
} known[] = {
        {"correctness",
                {"Correctness", "Accuracy of the primary answer or identification", "Emerald"},
                false},
        {"completeness",
                {"Completeness", "Coverage of all required targets, actions, or parts", "Gold"},
                false},
        {"precision", {"Precision", "Fraction of reported findings that are genuine", "Coral"},
                false},
        {"methodology",
                {"Methodology", "Quality of reasoning, investigation, and reporting", "Purple"},
                false},
        {"speed", {"Speed", "Time efficiency relative to the time limit", "Sky"}, false},
        {"code_quality",
                {"Code Quality", "Quality of generated, modified, or optimized code", "Coral"},
                false},
        {"analysis", {"Analysis", "Depth of evidence gathering and source investigation", "Gold"},
                false},
        {"token_efficiency", {"Token Efficiency", "Token usage relative to the budget", ""}, true},
        {"call_efficiency", {"Call Efficiency", "Calls relative to the limits", ""}, true},
};

static size_t find_known(const struct dimension *d)
{
        size_t i = 0;

        while (i < COUNT(known) && strcmp(known[i].name, d->name) != 0)
                i++;
        return i;
}

struct dimension_look dimension_look(const struct dimension *d)
{
        const size_t i = find_known(d);
        struct dimension_look look = {d->name, "", ""};

        if (i < COUNT(known))
                look = known[i].look;
        if (d->label)
                look.label = d->label;
        if (d->description)
                look.description = d->description;
        if (d->colour)
                look.colour = d->colour;
        return look;
}

bool dimension_is_efficiency(const struct dimension *d)
{
        const size_t i = find_known(d);

        return i < COUNT(known) && known[i].efficiency;
}

/* --- checks --------------------------------------------------------------------------------- */

struct checking {
        bool in_evaluation;
        struct reading *r;
        struct spec *spec;
        struct dimension *d;
        size_t index;
        const char *path; /* of it; NULL: dimensions[index] */
};

__attribute__((format(printf, 3, 4))) static void complain(
        const struct checking *c, const char *key, const char *format, ...)
{
        char path[64 + SCORE_MAX_NAME], where[64], text[300];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        snprintf(where, sizeof where, "dimensions[%zu]", c->index);
        snprintf(path, sizeof path, "%s%s%s", c->path ? c->path : where, *key ? "." : "", key);
        reading_problem_at(c->r, path, "%s", text);
}

/* The sign of a number, or 2 where there is none. */
static int sign_of(const char *text)
{
        int sign = 2;
        mpq_t x;

        mpq_init(x);
        if (*text && number_parse(x, text) == 0)
                sign = mpq_sgn(x);
        mpq_clear(x);
        return sign;
}

static bool is_less(const char *a, const char *b)
{
        mpq_t x, y;
        bool less;

        mpq_inits(x, y, NULL);
        number_parse(x, a);
        number_parse(y, b);
        less = mpq_cmp(x, y) < 0;
        mpq_clears(x, y, NULL);
        return less;
}

/* Keys that mean something to one kind of primitive only. */
static void check_keys(const struct checking *c, unsigned takes)
{
        const struct parameters *p = &c->d->parameters;
        const struct {
                const char *key;
                bool given;
                unsigned needed, taken;
        } rows[] = {
                {"field", p->field, NEEDS_FIELD, NEEDS_FIELD},
                {"ground_truth_field", p->truth_field, NEEDS_TRUTH, NEEDS_TRUTH},
                {"tolerance", *p->tolerance, 0, TAKES_TOLERANCE},
                {"partial", p->partial, 0, TAKES_PARTIAL},
                {"method", c->d->method != NOT_GIVEN, 0, TAKES_METHOD},
                {"time_limit_secs", *p->limit, 0, NEEDS_LIMIT},
                {"optimal", *p->optimal, NEEDS_RANGE, NEEDS_RANGE},
                {"max", *p->max, NEEDS_RANGE, NEEDS_RANGE},
        };

        for (size_t i = 0; i < COUNT(rows); i++)
                if (!rows[i].given && (takes & rows[i].needed))
                        complain(c, rows[i].key, "is missing; %s needs it", c->d->primitive_name);
                else if (rows[i].given && !(takes & rows[i].taken))
                        complain(c, rows[i].key, "is nothing that %s takes",
                                c->d->primitive ? c->d->primitive_name : "its source");
}

static void check_limit(const struct checking *c)
{
        struct parameters *p = &c->d->parameters;

        if (!*p->limit) {
                memcpy(p->limit, c->spec->time_limit.amount, sizeof p->limit);
                p->limit_ms = c->spec->time_limit.ms;
        }
        if (!*p->limit)
                complain(c, "time_limit_secs", "is missing, and the spec has no time_limit either");
        else if (sign_of(p->limit) <= 0)
                complain(c, "time_limit_secs", "must be above 0");
}

static void check_primitive(const struct checking *c)
{
        struct parameters *p = &c->d->parameters;
        const struct primitive *primitive = c->d->primitive;

        check_keys(c, primitive->takes);
        if (sign_of(p->tolerance) < 0)
                complain(c, "tolerance", "must not be below 0");
        if (primitive->takes & NEEDS_LIMIT)
                check_limit(c);
        if (sign_of(p->optimal) < 0)
                complain(c, "optimal", "must not be below 0");
        if (*p->optimal && *p->max && !is_less(p->optimal, p->max))
                complain(c, "max", "must be above `optimal`");
        p->intersection = c->d->method == 1;
}

static void check_constraint(const struct checking *c, const char *key, const char *value)
{
        if (!*value)
                complain(c, "source", "needs constraints.%s", key);
}

static void check_source(const struct checking *c)
{
        const struct dimension *d = c->d;

        check_keys(c, 0);
        if (d->source == FROM_TOKENS)
                check_constraint(c, "token_budget", c->spec->constraints.token_budget);
        else if (d->source == FROM_CALLS)
                check_constraint(c, "max_llm_calls", c->spec->constraints.max_llm_calls);
        else if (!c->in_evaluation)
                complain(c, "source",
                        "needs an evaluation; here only primitives, tokens and calls can be "
                        "scored");
        if (d->source == FROM_TESTS && d->tests.count == 0)
                complain(c, "tests", "is missing; the source \"tests\" needs it");
        if (d->source == FROM_JUDGE && !d->criterion)
                complain(c, "criterion", "is missing; the source \"judge\" needs it");
        if (d->source != FROM_TESTS && d->tests.count > 0)
                complain(c, "tests", "belongs to the source \"tests\"");
        if (d->source != FROM_JUDGE && d->criterion)
                complain(c, "criterion", "belongs to the source \"judge\"");
        if (d->source != FROM_SCRIPT && d->key)
                complain(c, "key", "belongs to the source \"script\"");
}

static void check_efficiency(const struct checking *c)
{
        const bool tokens = strcmp(c->d->name, "token_efficiency") == 0;

        if (c->d->source != (tokens ? FROM_TOKENS : FROM_CALLS))
                complain(c, "", "%s must have the source \"%s\"", c->d->name,
                        tokens ? "tokens" : "calls");
}

static const char *name_at(const void *unused, size_t i)
{
        (void)unused;
        return primitive_name(i);
}

static size_t count_primitives(void)
{
        size_t count = 0;

        while (primitive_name(count))
                count++;
        return count;
}

static void check_origin(const struct checking *c)
{
        struct dimension *d = c->d;
        const char *near;

        if (d->primitive_name && d->source != NOT_GIVEN) {
                complain(c, "source", "and primitive exclude each other");
                return;
        }
        if (!d->primitive_name) {
                if (d->source == NOT_GIVEN)
                        complain(c, "", "needs a primitive or a source");
                else
                        check_source(c);
                return;
        }
        if (d->criterion || d->key || d->tests.count > 0)
                complain(c, "", "has a criterion, key or tests, which belong to sources");
        d->primitive = primitive_find(d->primitive_name);
        near = d->primitive ? NULL : suggest(d->primitive_name, name_at, NULL, count_primitives());
        if (d->primitive) {
                d->source = FROM_PRIMITIVE;
                check_primitive(c);
        } else if (near)
                complain(c, "primitive", "is none; did you mean \"%s\"?", near);
        else
                complain(c, "primitive", "is none");
}

static void check_unique(const struct checking *c)
{
        const struct dimension *all = c->spec->dimensions.items;

        for (size_t i = 0; i < c->index; i++)
                if (*c->d->name && strcmp(all[i].name, c->d->name) == 0) {
                        complain(c, "name", "is the name of dimensions[%zu] already", i);
                        return;
                }
}

static void check_weights(struct reading *r, const struct spec *s)
{
        const struct dimension *d = s->dimensions.items;
        mpq_t sum, weight;
        char text[SCORE_MAX_NAME];
        bool known_all = s->dimensions.count > 0;

        mpq_inits(sum, weight, NULL);
        for (size_t i = 0; i < s->dimensions.count; i++) {
                known_all = known_all && number_parse(weight, d[i].weight) == 0;
                mpq_add(sum, sum, weight);
        }
        gmp_snprintf(text, sizeof text, "%Qd", sum);
        if (known_all && mpq_cmp_ui(sum, 1, 1) != 0)
                reading_problem_at(
                        r, "dimensions", "has weights that add up to %.100s, not 1", text);
        mpq_clears(sum, weight, NULL);
}

static void check_number(struct reading *r, const struct spec *s)
{
        const struct dimension *d = s->dimensions.items;
        size_t count = 0;

        for (size_t i = 0; i < s->dimensions.count; i++)
                count += !dimension_is_efficiency(&d[i]);
        if (s->dimensions.count > 0 && (count < LEAST_DIMENSIONS || count > MOST_DIMENSIONS))
                reading_problem_at(r, "dimensions",
                        "must have 2 to 6 dimensions beside those of efficiency, not %zu", count);
}

/* A type says where scores come from: of each, sources that it needs one of, and those it must not
 * have. */
static void check_type(struct reading *r, const struct spec *s)
{
        enum { SUITE = 1 << FROM_SUITE | 1 << FROM_TESTS, SCRIPT = 1 << FROM_SCRIPT };
        static const struct {
                const char *name;
                unsigned needs, excludes;
        } rows[] = {
                {"deterministic", 0, SUITE | SCRIPT | 1 << FROM_JUDGE},
                {"test-suite", SUITE, SCRIPT},
                {"custom-script", SCRIPT, 0},
        };
        const struct dimension *d = s->dimensions.items;
        unsigned has = 0;

        for (size_t i = 0; i < s->dimensions.count; i++)
                if (d[i].source != NOT_GIVEN)
                        has |= 1U << d[i].source;
        if (s->type == NOT_GIVEN)
                return;
        if (has & rows[s->type].excludes)
                reading_problem_at(r, "type", "\"%s\" does not go with the source of a dimension",
                        rows[s->type].name);
        else if (rows[s->type].needs && !(has & rows[s->type].needs))
                reading_problem_at(r, "type", "\"%s\" needs a dimension with such a source",
                        rows[s->type].name);
}

static void check_constraints(struct reading *r, const struct constraints *c)
{
        const struct {
                const char *path, *value;
        } rows[] = {
                {"constraints.token_budget", c->token_budget},
                {"constraints.max_llm_calls", c->max_llm_calls},
                {"constraints.max_tool_calls", c->max_tool_calls},
        };

        for (size_t i = 0; i < COUNT(rows); i++)
                if (sign_of(rows[i].value) <= 0)
                        reading_problem_at(r, rows[i].path, "must be above 0");
}

static bool has_dimension(const struct spec *s, const char *name)
{
        const struct dimension *d = s->dimensions.items;

        for (size_t i = 0; i < s->dimensions.count; i++)
                if (strcmp(d[i].name, name) == 0)
                        return true;
        return false;
}

static void check_rule(struct reading *r, const struct spec *s, size_t i)
{
        const struct format_rule *rule = &((const struct format_rule *)s->format.items)[i];
        char path[64];

        snprintf(path, sizeof path, "format[%zu].dimension", i);
        if (rule->severity == SEVERITY_ERROR && !*rule->dimension)
                reading_problem_at(r, path, "is missing; severity error makes one 0");
        else if (*rule->dimension && !has_dimension(s, rule->dimension))
                reading_problem_at(r, path, "is no dimension of this spec");
        snprintf(path, sizeof path, "format[%zu].min_items", i);
        if (rule->type != JSON_ARRAY && (rule->min_items > 0 || rule->max_items != UINT64_MAX))
                reading_problem_at(r, path, "and max_items are for arrays");
        else if (rule->min_items > rule->max_items)
                reading_problem_at(r, path, "must not be above max_items");
}

static void check(struct reading *r, bool in_evaluation, struct spec *s)
{
        struct dimension *d = s->dimensions.items;

        check_number(r, s);
        check_weights(r, s);
        check_constraints(r, &s->constraints);
        if (sign_of(s->time_limit.amount) <= 0)
                reading_problem_at(r, "time_limit", "must be above 0");
        for (size_t i = 0; i < s->dimensions.count; i++) {
                const struct checking c = {in_evaluation, r, s, &d[i], i, NULL};

                check_unique(&c);
                check_origin(&c);
                if (dimension_is_efficiency(&d[i]))
                        check_efficiency(&c);
        }
        check_type(r, s);
        for (size_t i = 0; i < s->format.count; i++)
                check_rule(r, s, i);
}

void spec_read_at(struct reading *r, const struct spot *s, bool in_evaluation, struct spec *ret)
{
        const struct field whole = {.type = &field_object, .fields = &spec_fields};

        *ret = (struct spec){.type = NOT_GIVEN, .difficulty = DIFFICULTY_CONTENDER};
        field_read(r, &whole, s, ret);
        check(r, in_evaluation, ret);
}

void quality_read(struct reading *r, const struct spot *s, struct dimension *ret)
{
        const struct field whole = {.type = &field_object, .fields = &quality_fields};
        struct spec nothing = {0};
        const struct checking c = {true, r, &nothing, ret, 0, "quality"};

        *ret = dimension_default;
        field_read(r, &whole, s, ret);
        if (json_is_object(s->value.node))
                check_origin(&c);
}

bool spec_is_task(const struct json *doc)
{
        const char *schema = json_string_value(json_object_get(doc->root, "schema"));

        return schema && strcmp(schema, "assay.task/1") == 0;
}

/* By itself, or the `scoring` of a task. */
void spec_read(struct reading *r, bool in_evaluation, struct spec *ret)
{
        const struct spot root = {.value = json_root(r->doc)};
        struct spot scoring = {.up = &root, .key = "scoring"};

        if (!spec_is_task(r->doc)) {
                spec_read_at(r, &root, in_evaluation, ret);
                return;
        }
        scoring.value = json_locate(r->doc, "scoring", NULL);
        r->prefix = "scoring.";
        spec_read_at(r, &scoring, in_evaluation, ret);
        r->prefix = "";
}

void spec_free(struct spec *s)
{
        struct dimension *d = s->dimensions.items;

        for (size_t i = 0; i < s->dimensions.count; i++)
                list_free(&d[i].tests);
        list_free(&s->dimensions);
        list_free(&s->format);
}

bool spec_needs_time(const struct spec *s)
{
        const struct dimension *d = s->dimensions.items;

        for (size_t i = 0; i < s->dimensions.count; i++)
                if (d[i].primitive && d[i].primitive->takes & NEEDS_LIMIT)
                        return true;
        return false;
}
