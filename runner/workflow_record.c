/* What came of a workflow, as JSON; see workflow.h. */
#include "workflow.h"

#include "value.h"

enum { MOST_OUTPUTS = 1 << 20 }; /* bytes of all in a record */

static const char *const step_statuses[STEP_STATUS_COUNT] = {
        "waiting", "completed", "hard_failure", "skipped", "budget_abort"};
static const char *const attempt_statuses[ATTEMPT_STATUS_COUNT] = {"ok", "error", "timeout"};

const char *workflow_step_status(const struct workflow_step *s)
{
        return step_statuses[s->status];
}

static void add_units(struct json_writer *to, const char *key, uint64_t units, unsigned places)
{
        char text[UNITS_TEXT_SIZE];

        json_decimal(to, key, units_text(units, places, text));
}

static void add_attempt(struct json_writer *to, const struct attempt *a)
{
        json_open_object(to, NULL);
        json_text(to, "status", attempt_statuses[a->status]);
        add_units(to, "seconds", a->us, SECONDS_PLACES);
        add_units(to, "cost", a->cost, COST_PLACES);
        if (a->reason)
                json_text(to, "error", a->reason);
        json_close(to);
}

/* Outputs beyond what a record may hold are counted. */
static void add_step(struct json_writer *to, const struct workflow_step *s, size_t *left)
{
        json_open_object(to, NULL);
        json_text(to, "id", s->id);
        json_text(to, "tool", s->tool->name);
        json_text(to, "status", step_statuses[s->status]);
        json_number(to, "retry_count", s->retry_count);
        json_open_array(to, "attempts");
        for (unsigned i = 0; i < s->attempt_count; i++)
                add_attempt(to, &s->attempts[i]);
        json_close(to);
        if (s->status == STEP_COMPLETED && s->output.len <= *left) {
                *left -= s->output.len;
                value_write(to, "output", &s->output);
        } else if (s->status == STEP_COMPLETED) {
                _cleanup_buffer_ struct buffer text = BUFFER_INIT;

                value_text(&s->output, &text);
                json_number(to, "output_bytes", text.len);
        }
        json_close(to);
}

void workflow_record(
        const struct workflow *w, const struct task *t, struct json_writer *to, const char *key)
{
        const unsigned least = t->workflow.min_steps;
        size_t left = MOST_OUTPUTS;

        json_open_object(to, key);
        json_text(to, "schema", "assay.execution/1");
        json_open_array(to, "steps");
        for (unsigned i = 0; i < w->count; i++)
                add_step(to, &w->steps[i], &left);
        json_close(to);
        json_number(to, "total_steps", w->count > least ? w->count : least);
        add_units(to, "actual_seconds", w->us, SECONDS_PLACES);
        add_units(to, "actual_cost", w->cost, COST_PLACES);
        json_bool(to, "budget_aborted", w->budget_aborted);
        json_decimal(to, "output_quality", w->quality ? w->quality : "");
        json_close(to);
}

void workflow_output(const struct workflow *w, struct json_writer *to)
{
        const struct workflow_step *only = NULL;
        unsigned last = 0, completed = 0;

        for (unsigned i = 0; i < w->count; i++)
                if (workflow_is_last(w, &w->steps[i])) {
                        last++;
                        completed += w->steps[i].status == STEP_COMPLETED;
                        only = &w->steps[i];
                }
        if (completed == 0) {
                json_add_null(to, NULL);
                return;
        }
        if (last == 1) {
                value_write(to, NULL, &only->output);
                return;
        }
        json_open_object(to, NULL);
        for (unsigned i = 0; i < w->count; i++)
                if (workflow_is_last(w, &w->steps[i]) && w->steps[i].status == STEP_COMPLETED)
                        value_write(to, w->steps[i].id, &w->steps[i].output);
        json_close(to);
}

void workflow_outputs_for(
        const struct workflow *w, const struct workflow_step *s, struct json_writer *to)
{
        json_open_object(to, NULL);
        for (unsigned i = 0; i < s->want_count; i++)
                value_write(to, w->steps[s->wants[i]].id, &w->steps[s->wants[i]].output);
        json_close(to);
}
