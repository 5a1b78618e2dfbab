/* Tasks whose submissions are workflows; see task_workflow.h. */
#include "task_workflow.h"

#include "answer.h"
#include "number.h"
#include "task_keys.h"

#define MOST_COST    100000ULL
#define MOST_BUDGET  1000000000ULL
#define MOST_SECONDS 86400ULL
#define BILLION      1000000000ULL
#define MILLION      1000000ULL

/* --- numbers -------------------------------------------------------------------------------- */

int workflow_units(const char *text, uint64_t scale, uint64_t most, uint64_t *ret)
{
        mpz_t factor;
        mpq_t x;
        int r = -1;

        mpq_init(x);
        mpz_init_set_ui(factor, scale);
        if (number_parse(x, text) == 0 && mpq_sgn(x) >= 0) {
                mpz_mul(mpq_numref(x), mpq_numref(x), factor);
                mpq_canonicalize(x);
                if (mpz_cmp_ui(mpq_denref(x), 1) == 0 && mpz_cmp_ui(mpq_numref(x), most) <= 0) {
                        *ret = mpz_get_ui(mpq_numref(x));
                        r = 0;
                }
        }
        mpz_clear(factor);
        mpq_clear(x);
        return r;
}

/* --- tools ---------------------------------------------------------------------------------- */

static const struct field tool_rows[] = {
        FIELD("command", field_texts, REQUIRED, struct tool, command, .least = 1, .most = 1000),
        FIELD("cost", field_positive, OPTIONAL, struct tool, cost),
        FIELD("seconds", field_positive, OPTIONAL, struct tool, seconds),
};
static const struct fields tool_fields = FIELDS(tool_rows, UNKNOWN_IS_PROBLEM);

const struct field task_tools_forms[] = {
        {.key = "*", .type = &field_object, .fields = &tool_fields},
        {0},
};

static void settle_tool(struct reading *r, const struct spot *s, struct tool *t)
{
        const struct {
                const char *key, *text;
                uint64_t scale, most, *to;
                unsigned places;
        } rows[] = {
                {"cost", t->cost, BILLION, MOST_COST, &t->billionths, 9},
                {"seconds", t->seconds, MILLION, MOST_SECONDS, &t->microseconds, 6},
        };
        struct json_value child;

        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);)
                for (size_t i = 0; i < COUNT(rows); i++) {
                        const struct spot here = spot_below(s, &w, child);

                        if (strcmp(w.key, rows[i].key) == 0 && *rows[i].text &&
                                *rows[i].text != '-' &&
                                workflow_units(rows[i].text, rows[i].scale,
                                        rows[i].most * rows[i].scale, rows[i].to) < 0)
                                reading_problem(r, &here,
                                        "must be at most %llu, with at most %u decimals",
                                        (unsigned long long)rows[i].most, rows[i].places);
                }
}

static bool read_tools(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct task_workflow *w = to;
        const size_t count = json_object_size(s->value.node);
        struct json_value child;

        if (!json_is_object(s->value.node) || count < 1 || count > SCORE_MAX_TOOLS)
                return false;
        w->tools_given = true;
        if (!list_make(&w->tools, count, sizeof(struct tool), r, s))
                return true;
        for (struct json_walk walk = json_walk(s->value); json_next(&walk, &child);) {
                struct tool *tool = &((struct tool *)w->tools.items)[walk.index];
                struct spot below = spot_below(s, &walk, child);

                *tool = (struct tool){.name = walk.key, .cost = "0"};
                if (!*walk.key || strlen(walk.key) > 100 || task_check_line(walk.key))
                        reading_problem(r, &below,
                                "has a name that is not of 1 to 100 bytes without control "
                                "characters");
                field_read(r, f->forms, &below, tool);
                settle_tool(r, &below, tool);
        }
        return true;
}

static void want_tools(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size,
                "an object of 1 to %d tools, such as {\"sum\": {\"command\": [\"/tools/sum\"]}}",
                SCORE_MAX_TOOLS);
}

const struct field_type task_tools = {read_tools, want_tools};

/* --- all together --------------------------------------------------------------------------- */

void workflow_read_scoring(struct reading *r, const struct spot *s, struct task_workflow *ret)
{
        const struct spot quality = {
                .up = s, .key = "quality", .value = json_locate(r->doc, "scoring.quality", NULL)};

        ret->given = true;
        composite_spec_read(r, s, &ret->spec);
        if (json_object_get(s->value.node, "tools"))
                reading_problem_at(r, "scoring.tools", "belongs beside `scoring`, not into it");
        if (!json_object_get(s->value.node, "quality")) {
                reading_problem_at(r, "scoring.quality",
                        "is missing; it must be {\"primitive\": …} or {\"source\": \"suite\"}");
                return;
        }
        r->prefix = "scoring.";
        quality_read(r, &quality, &ret->quality);
        r->prefix = "";
}

/* One below 0 is a budget of nothing: the part of the score that it decides is 0 in any case. */
static void check_budget(struct reading *r, struct task_workflow *w)
{
        if (*w->spec.max_budget && *w->spec.max_budget != '-' &&
                workflow_units(w->spec.max_budget, BILLION, MOST_BUDGET * BILLION, &w->billionths) <
                        0)
                reading_problem_at(r, "scoring.max_budget",
                        "must be at most %llu, with at most 9 decimals", MOST_BUDGET);
}

void workflow_check(struct reading *r, struct task_workflow *w)
{
        static const char *const excluded[] = {"cases", "build", "result"};

        if (!w->given) {
                if (w->tools_given)
                        reading_problem_at(
                                r, "tools", "belongs to \"scheme\": \"composite\", workflows");
                return;
        }
        if (!reading_has(r, "tools"))
                reading_problem_at(
                        r, "tools", "is missing; the scheme composite needs what workflows call");
        check_budget(r, w);
        for (size_t i = 0; i < COUNT(excluded); i++)
                if (reading_has(r, excluded[i]) &&
                        (strcmp(excluded[i], "result") != 0 || w->quality.source != FROM_SUITE))
                        reading_problem_at(r, excluded[i], "does not go with the scheme composite");
        if (reading_has(r, "suite") && w->quality.source != FROM_SUITE)
                reading_warning_at(
                        r, "suite", "is not used: scoring.quality has not the source \"suite\"");
}

static void put_tool(struct buffer *out, const struct tool *t)
{
        size_t at = answer_begin(out, TASK_TOOL);

        put_text(out, t->name);
        put_texts(out, &t->command);
        put_u64(out, t->billionths);
        put_u8(out, *t->seconds != '\0');
        put_u64(out, t->microseconds);
        answer_end(out, at);
}

/* For people: what counts is computed from the digits. */
static uint64_t max_latency(const struct task_workflow *w)
{
        uint64_t us = MOST_SECONDS * MILLION;
        mpq_t latency;

        mpq_init(latency);
        composite_max_latency(&w->spec, latency);
        mpz_mul_ui(mpq_numref(latency), mpq_numref(latency), MILLION);
        mpz_fdiv_q(mpq_numref(latency), mpq_numref(latency), mpq_denref(latency));
        if (mpq_sgn(latency) <= 0)
                us = 0;
        else if (mpz_cmp_ui(mpq_numref(latency), us) < 0)
                us = mpz_get_ui(mpq_numref(latency));
        mpq_clear(latency);
        return us;
}

void workflow_put(const struct task_workflow *w, struct buffer *out)
{
        const struct tool *tools = w->tools.items;
        size_t at;

        if (!w->given)
                return;
        at = answer_begin(out, TASK_COMPOSITE);
        put_u64(out, w->billionths);
        put_u64(out, max_latency(w));
        put_u32(out, (uint32_t)w->spec.min_steps);
        put_u32(out, (uint32_t)w->spec.max_attempts);
        put_u8(out, w->quality.source == FROM_SUITE);
        answer_end(out, at);
        for (size_t i = 0; i < w->tools.count; i++)
                put_tool(out, &tools[i]);
}

void workflow_free(struct task_workflow *w)
{
        struct tool *tools = w->tools.items;

        for (size_t i = 0; i < w->tools.count; i++)
                list_free(&tools[i].command);
        list_free(&w->tools);
        list_free(&w->quality.tests);
}
