/* assay.task.description/1; see description.h. */
#include "report/description.h"

#include "evaluators/contract.h"
#include "evaluators/rating.h"
#include "report/json.h"
#include "submission.h"

static const char *const modes[MODE_COUNT] = {"llm", "container", "hybrid", "answer", "workflow"};
static const struct {
        const char *name;
        unsigned scale;
} schemes[SCHEME_COUNT] = {
        [SCHEME_BLEND] = {"blend", 100},
        [SCHEME_DIMENSIONS] = {"dimensions", 1000},
        [SCHEME_COMPOSITE] = {"composite", 1},
};

static void json_group(void *to, const struct task_group *g, bool visible, unsigned count)
{
        struct json_writer *w = to;

        json_open_object(w, NULL);
        json_text(w, "name", g->name);
        json_bool(w, "visible", visible);
        json_number(w, "count", count);
        json_decimal(w, "points", g->points);
        json_open_array(w, "cases");
}

static void json_case(void *to, const char *name, const char *points)
{
        struct json_writer *w = to;

        json_open_object(w, NULL);
        json_text(w, "name", name);
        json_decimal(w, "points", points);
        json_close(w);
}

static void json_group_end(void *to)
{
        json_close(to);
        json_close(to);
}

static void json_scoring(struct json_writer *w, const struct task *t)
{
        json_text(w, "scheme", schemes[t->scheme].name);
        json_number(w, "scale", schemes[t->scheme].scale);
        if (t->match_ms > 0) {
                json_open_object(w, "match");
                json_number(w, "time_limit_ms", t->match_ms);
                json_text(w, "difficulty", rating_opponents[t->difficulty].name);
                json_number(w, "opponent_elo", (uint64_t)rating_opponents[t->difficulty].rating);
                json_close(w);
        }
        if (t->scheme == SCHEME_DIMENSIONS)
                return;
        if (t->pass_from_suite)
                json_text(w, "pass", "suite");
        else
                json_decimal(w, "pass", t->pass);
        if (t->mode == MODE_HYBRID) {
                json_open_object(w, "weights");
                json_number(w, "test", t->test_weight);
                json_number(w, "llm", t->llm_weight);
                json_close(w);
        }
        if (t->scheme == SCHEME_COMPOSITE)
                return;
        json_open_array(w, "rubric");
        for (unsigned i = 0; i < t->criterion_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "name", t->criteria[i].name);
                json_text(w, "description", t->criteria[i].description);
                json_number(w, "weight", t->criteria[i].weight);
                json_text(w, "source", t->criteria[i].source == SOURCE_LLM ? "llm" : "test");
                json_close(w);
        }
        json_close(w);
}

static void json_files(struct json_writer *w, const struct task *t)
{
        json_open_object(w, "submission");
        json_number(w, "max_archive", t->max_archive);
        json_number(w, "max_unpacked", t->max_unpacked);
        json_number(w, "max_entries", t->max_entries);
        json_open_array(w, "required_files");
        for (unsigned i = 0; i < t->required_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "path", t->required[i].path);
                if (t->required[i].max_size > 0)
                        json_number(w, "max_size", t->required[i].max_size);
                json_close(w);
        }
        json_close(w);
        json_open_array(w, "required_patterns");
        for (unsigned i = 0; i < t->pattern_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "glob", t->patterns[i].glob);
                json_number(w, "min_files", t->patterns[i].min_files);
                json_close(w);
        }
        json_close(w);
        json_open_array(w, "sections");
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                json_text(w, NULL, submission_section(i));
        json_close(w);
        json_close(w);
}

static void json_limits(struct json_writer *w, const struct limits *l)
{
        json_open_object(w, "limits");
        for (unsigned i = 0; i < DESCRIPTION_LIMITS; i++) {
                char value[32];

                limit_format(description_limits[i], l->value[description_limits[i]], value,
                        sizeof value);
                json_text(w, limit_info(description_limits[i])->name, value);
        }
        json_close(w);
}

static void json_workflow(struct json_writer *w, const struct task *t)
{
        const struct task_workflow *f = &t->workflow;
        char text[UNITS_TEXT_SIZE];

        if (!f->given)
                return;
        json_open_object(w, "workflow");
        json_decimal(w, "max_budget", units_text(f->max_budget, COST_PLACES, text));
        json_decimal(w, "max_latency", units_text(f->max_latency, SECONDS_PLACES, text));
        json_number(w, "min_steps", f->min_steps);
        if (f->max_attempts > 0)
                json_number(w, "max_attempts", f->max_attempts);
        else
                json_add_null(w, "max_attempts");
        json_text(w, "quality", f->by_suite ? "suite" : "primitive");
        json_open_array(w, "tools");
        for (unsigned i = 0; i < f->tool_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "name", f->tools[i].name);
                json_decimal(w, "cost", units_text(f->tools[i].cost, COST_PLACES, text));
                if (f->tools[i].timed)
                        json_decimal(
                                w, "seconds", units_text(f->tools[i].us, SECONDS_PLACES, text));
                json_close(w);
        }
        json_close(w);
        json_text(w, "limits_of", "each attempt");
        json_limits(w, description_limits_of(t));
        json_close(w);
}

static void json_running(struct json_writer *w, const struct task *t)
{
        if (!description_has_suite(t))
                return;
        json_text(w, "image", t->image);
        json_text(w, "contract", contracts[t->contract].name);
        json_text(w, "place", contracts[t->contract].submission[0].place);
        json_bool(w, "build", t->build != BUILD_NONE);
        json_bool(w, "network", t->network && !description_has_own_cells(t));
        json_text(w, "limits_of", description_has_own_cells(t) ? "each run" : "all tests");
        json_limits(w, description_limits_of(t));
}

int description_json(const struct task *t, struct buffer *out, struct error *err)
{
        struct json_writer w = {.out = out};
        const struct case_listener listener = {json_group, json_case, json_group_end, &w};

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.task.description/1");
        json_text(&w, "name", t->name);
        json_text(&w, "title", t->title);
        json_text(&w, "description", t->description);
        json_text(&w, "mode", modes[t->mode]);
        json_scoring(&w, t);
        json_files(&w, t);
        json_running(&w, t);
        json_workflow(&w, t);
        json_open_array(&w, "groups");
        if (description_cases(t, &listener, err) < 0)
                return -1;
        json_close(&w);
        if (*t->due)
                json_text(&w, "due", t->due);
        else
                json_add_null(&w, "due");
        json_close(&w);
        buffer_add_char(out, '\n');
        return 0;
}
