/* A task described for people; see description.h. Bytes of the task are escaped. */
#include "report/description.h"

#include "evaluators/contract.h"
#include "evaluators/rating.h"
#include "quantity.h"
#include "submission.h"
#include "text.h"

static void add_escaped(struct buffer *out, const char *text)
{
        char safe[2 * SCORE_MAX_TEXT];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_text(out, safe);
}

/* A description keeps its lines. */
static void add_lines(struct buffer *out, const char *text)
{
        while (*text) {
                const size_t len = strcspn(text, "\n");
                char safe[2 * SCORE_MAX_TEXT];

                text_escape(safe, sizeof safe, text, len);
                buffer_add_format(out, "%s\n", safe);
                text += len + (text[len] == '\n');
        }
}

static void text_group(void *to, const struct task_group *g, bool visible, unsigned count)
{
        struct buffer *out = to;

        buffer_add_text(out, "  ");
        if (*g->name)
                add_escaped(out, g->name);
        else
                buffer_add_text(out, "tests");
        buffer_add_format(
                out, ": %u %s%s", count, count == 1 ? "case" : "cases", visible ? "" : ", hidden");
        if (*g->points)
                buffer_add_format(out, ", %s points", g->points);
        buffer_add_char(out, '\n');
}

static void text_case(void *to, const char *name, const char *points)
{
        struct buffer *out = to;

        buffer_add_text(out, "    ");
        add_escaped(out, name);
        buffer_add_format(out, " (%s)\n", points);
}

static void text_group_end(void *to)
{
        (void)to;
}

static void text_match(struct buffer *out, const struct task *t)
{
        const struct rating_opponent *opponent = &rating_opponents[t->difficulty];
        char time[32];

        if (t->match_ms == 0 || t->match_ms > UINT64_MAX / 1000)
                return;
        quantity_format_duration(time, sizeof time, 1000 * t->match_ms);
        buffer_add_format(out, "  a match takes at most %s, against %d (%s)\n", time,
                opponent->rating, opponent->name);
}

static void text_scoring(struct buffer *out, const struct task *t)
{
        if (t->scheme == SCHEME_DIMENSIONS) {
                buffer_add_text(
                        out, "\nScore: 0 to 1000, by dimensions; 700 wins, 400 is a draw\n");
                text_match(out, t);
                return;
        }
        if (t->scheme == SCHEME_COMPOSITE) {
                buffer_add_format(out,
                        "\nScore: 0 to 1, of success, cost, latency and reliability; passes at "
                        "%s\n",
                        t->pass);
                return;
        }
        buffer_add_text(out, "\nScore: 0 to 100");
        if (t->mode == MODE_HYBRID)
                buffer_add_format(out, ", tests %u %%, judge %u %%", t->test_weight, t->llm_weight);
        else
                buffer_add_text(out, t->mode == MODE_LLM ? ", by a judge" : ", by tests");
        if (t->pass_from_suite)
                buffer_add_text(out, "; the tests say what passes\n");
        else
                buffer_add_format(out, "; passes at %s\n", t->pass);
        for (unsigned i = 0; i < t->criterion_count; i++) {
                const struct criterion *c = &t->criteria[i];

                buffer_add_format(out, "  %3u  ", c->weight);
                add_escaped(out, c->name);
                buffer_add_text(out, c->source == SOURCE_LLM ? " (judge)" : " (tests)");
                if (*c->description) {
                        buffer_add_text(out, ": ");
                        add_escaped(out, c->description);
                }
                buffer_add_char(out, '\n');
        }
}

static void text_files(struct buffer *out, const struct task *t)
{
        char size[32];

        quantity_format_bytes(size, sizeof size, t->max_archive);
        buffer_add_format(out, "\nSubmission: at most %s packed, ", size);
        quantity_format_bytes(size, sizeof size, t->max_unpacked);
        buffer_add_format(
                out, "%s and %llu entries unpacked\n", size, (unsigned long long)t->max_entries);
        for (unsigned i = 0; i < t->required_count; i++) {
                buffer_add_text(out, "  needs ");
                add_escaped(out, t->required[i].path);
                quantity_format_bytes(size, sizeof size, t->required[i].max_size);
                if (t->required[i].max_size > 0)
                        buffer_add_format(out, ", at most %s", size);
                buffer_add_char(out, '\n');
        }
        for (unsigned i = 0; i < t->pattern_count; i++) {
                buffer_add_format(out, "  needs %llu or more of ",
                        (unsigned long long)t->patterns[i].min_files);
                add_escaped(out, t->patterns[i].glob);
                buffer_add_char(out, '\n');
        }
        buffer_add_text(out, "  SUBMISSION.md with the sections ");
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                buffer_add_format(out, "%s%s", i > 0 ? ", " : "", submission_section(i));
        buffer_add_char(out, '\n');
}

static void text_limits(struct buffer *out, const struct limits *l, const char *of)
{
        buffer_add_format(out, "  limits of %s:", of);
        for (unsigned i = 0; i < DESCRIPTION_LIMITS; i++) {
                char value[32];

                limit_format(description_limits[i], l->value[description_limits[i]], value,
                        sizeof value);
                buffer_add_format(out, "%s %s %s", i > 0 ? "," : "",
                        limit_info(description_limits[i])->name, value);
        }
}

static void text_workflow(struct buffer *out, const struct task *t)
{
        const struct task_workflow *w = &t->workflow;
        char text[UNITS_TEXT_SIZE];

        if (!w->given)
                return;
        buffer_add_format(out, "\nWorkflow, in workflow.json: costs at most %s",
                units_text(w->max_budget, COST_PLACES, text));
        buffer_add_format(
                out, " and takes at most %s s", units_text(w->max_latency, SECONDS_PLACES, text));
        if (w->min_steps > 0)
                buffer_add_format(out, ", counts as %u steps or more", w->min_steps);
        if (w->max_attempts > 0)
                buffer_add_format(out, ", each step has %u attempts", w->max_attempts);
        buffer_add_char(out, '\n');
        for (unsigned i = 0; i < w->tool_count; i++) {
                buffer_add_text(out, "  tool ");
                add_escaped(out, w->tools[i].name);
                buffer_add_format(
                        out, ": cost %s", units_text(w->tools[i].cost, COST_PLACES, text));
                if (w->tools[i].timed)
                        buffer_add_format(
                                out, ", %s s", units_text(w->tools[i].us, SECONDS_PLACES, text));
                buffer_add_char(out, '\n');
        }
        text_limits(out, description_limits_of(t), "each attempt");
        buffer_add_text(out, ", no network\n");
}

static void text_running(struct buffer *out, const struct task *t)
{
        const struct limits *l = description_limits_of(t);

        if (!description_has_suite(t))
                return;
        buffer_add_format(out, "\nRuns in %s, contract %s: the submission is %s\n", t->image,
                contracts[t->contract].name, contracts[t->contract].submission[0].place);
        if (t->build != BUILD_NONE)
                buffer_add_format(out, "  it is built first%s\n",
                        t->build == BUILD_REJECT ? "; what does not build is rejected" : "");
        text_limits(out, l, description_has_own_cells(t) ? "each run of it" : "all tests together");
        buffer_add_format(
                out, ", %snetwork\n", t->network && !description_has_own_cells(t) ? "" : "no ");
}

int description_text(const struct task *t, struct buffer *out, struct error *err)
{
        const struct case_listener listener = {text_group, text_case, text_group_end, out};

        add_escaped(out, *t->title ? t->title : t->name);
        buffer_add_format(out, "\n");
        if (*t->description) {
                buffer_add_char(out, '\n');
                add_lines(out, t->description);
        }
        text_scoring(out, t);
        text_files(out, t);
        text_running(out, t);
        text_workflow(out, t);
        if (t->cases.count > 0)
                buffer_add_text(out, "\nTests, and what they are worth:\n");
        if (description_cases(t, &listener, err) < 0)
                return -1;
        if (*t->due)
                buffer_add_format(out, "\nDue: %s\n", t->due);
        return 0;
}
