/* Workflows: read through assay-score, and settled; see workflow.h. */
#include "workflow.h"

#include "fd.h"

#include <stdlib.h>

/* --- reading -------------------------------------------------------------------------------- */

struct plan {
        struct workflow *workflow;
        const struct task *task;
        struct submission *submission;
};

/* Steps that stand before this one. */
static unsigned *take_steps(struct reader *r, unsigned before, unsigned *ret_count)
{
        const uint32_t count = get_u32(r);
        unsigned *list = count <= before ? calloc(count + 1, sizeof *list) : NULL;

        *ret_count = 0;
        r->bad |= !list;
        for (; list && *ret_count < count && !r->bad; ++*ret_count) {
                list[*ret_count] = get_u32(r);
                r->bad |= list[*ret_count] >= before;
        }
        return list;
}

static void take_input(struct workflow_step *s, struct reader *r)
{
        size_t len;
        const unsigned char *bytes = get_bytes(r, SCORE_MAX_INPUT, &len);

        if (bytes)
                buffer_add(&s->input, bytes, len);
        r->bad |= !buffer_ok(&s->input);
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        const struct plan *p = to;
        const struct task_workflow *t = &p->task->workflow;
        struct workflow *w = p->workflow;
        struct workflow_step *s;
        unsigned tool;

        if (type == RESULT_WARNING) {
                submission_take_warning(p->submission, r);
                return 0;
        }
        if (type != WORKFLOW_STEP)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        s = list_append((void **)&w->steps, &w->count, sizeof *s, SCORE_MAX_STEPS, r);
        if (!s)
                return 0;
        s->input = s->output = s->given = (struct buffer)BUFFER_INIT;
        s->id = scorer_text(r, SCORE_MAX_NAME);
        tool = get_u32(r);
        s->retry_count = get_u32(r);
        s->timeout_us = get_u64(r);
        r->bad |= tool >= t->tool_count || s->retry_count >= SCORE_MAX_ATTEMPTS ||
                  s->timeout_us > limit_info(LIMIT_WALL)->most;
        if (!r->bad)
                s->needs = take_steps(r, w->count - 1, &s->need_count);
        if (!r->bad)
                s->wants = take_steps(r, w->count - 1, &s->want_count);
        take_input(s, r);
        if (r->bad)
                return 0;
        s->tool = &t->tools[tool];
        s->most = t->max_attempts > 0 ? t->max_attempts : 1 + s->retry_count;
        s->attempts = calloc(s->most, sizeof *s->attempts);
        return s->attempts ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int workflow_read(struct workflow *w, const struct task *t, struct submission *s, int document,
        struct channel *c, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_fd_ int request = scorer_request(err);
        struct plan plan = {w, t, s};

        put_u32(&payload, t->workflow.tool_count);
        for (unsigned i = 0; i < t->workflow.tool_count; i++)
                put_text(&payload, t->workflow.tools[i].name);
        if (request < 0 || scorer_put(request, REQUEST_WORKFLOW, &payload, err) < 0 ||
                scorer_put_document(request, DOCUMENT_SUBMISSION, document, SCORE_MAX_WORKFLOW,
                        CODE_WORKFLOW_INVALID, err) < 0 ||
                scorer_end_request(request, err) < 0 ||
                scorer_ask(c, HELPER_WORKFLOW, request, take, &plan, err) < 0)
                return error_add(err, "the workflow");
        return w->count > 0 ? 0
                            : error_set(err, CODE_INTERNAL_FRAME, "the scorer left out the steps");
}

static void forget_attempts(struct workflow_step *s, unsigned from)
{
        while (s->attempt_count > from)
                free(s->attempts[--s->attempt_count].reason);
}

void workflow_free(struct workflow *w)
{
        for (unsigned i = 0; i < w->count; i++) {
                struct workflow_step *s = &w->steps[i];

                forget_attempts(s, 0);
                free(s->attempts);
                free(s->id);
                free(s->needs);
                free(s->wants);
                buffer_free(&s->input);
                buffer_free(&s->output);
                buffer_free(&s->given);
                log_free(&s->printed[0]);
                log_free(&s->printed[1]);
        }
        free(w->steps);
        free(w->quality);
        *w = (struct workflow){0};
}

/* --- what depends on what ------------------------------------------------------------------- */

bool workflow_is_last(const struct workflow *w, const struct workflow_step *s)
{
        for (const struct workflow_step *other = s + 1; other < w->steps + w->count; other++)
                for (unsigned i = 0; i < other->need_count; i++)
                        if (&w->steps[other->needs[i]] == s)
                                return false;
        return true;
}

bool workflow_is_cut_off(const struct workflow *w, const struct workflow_step *s)
{
        for (unsigned i = 0; i < s->need_count; i++) {
                const enum step_status status = w->steps[s->needs[i]].status;

                if (status == STEP_HARD_FAILURE || status == STEP_SKIPPED)
                        return true;
        }
        return false;
}

/* --- settling ------------------------------------------------------------------------------- */

uint64_t workflow_spent(const struct workflow *w, const struct workflow_step *s)
{
        uint64_t spent = 0;

        for (const struct workflow_step *each = w->steps; each <= s; each++)
                for (unsigned i = 0; i < each->attempt_count; i++)
                        spent += each->attempts[i].cost;
        return spent;
}

static void charge(struct workflow *w, struct workflow_step *s, uint64_t max_budget)
{
        unsigned paid = 0;

        while (!w->budget_aborted && paid < s->attempt_count &&
                s->attempts[paid].cost <= max_budget - w->cost)
                w->cost += s->attempts[paid++].cost;
        if (paid == s->attempt_count && !w->budget_aborted && s->status != STEP_WAITING)
                return;
        w->budget_aborted = true;
        s->status = STEP_BUDGET_ABORT;
        forget_attempts(s, paid);
        buffer_clear(&s->output);
}

/* A step begins when the last of those it needs has ended, and takes as long as its attempts. */
static void find_latency(struct workflow *w)
{
        for (unsigned i = 0; i < w->count; i++) {
                struct workflow_step *s = &w->steps[i];

                s->end_us = 0;
                for (unsigned n = 0; s->attempt_count > 0 && n < s->need_count; n++)
                        if (w->steps[s->needs[n]].end_us > s->end_us)
                                s->end_us = w->steps[s->needs[n]].end_us;
                for (unsigned n = 0; n < s->attempt_count; n++)
                        s->end_us += s->attempts[n].us;
                if (s->end_us > w->us)
                        w->us = s->end_us;
        }
}

void workflow_settle(struct workflow *w, uint64_t max_budget)
{
        for (unsigned i = 0; i < w->count; i++) {
                struct workflow_step *s = &w->steps[i];

                if (workflow_is_cut_off(w, s)) {
                        s->status = STEP_SKIPPED;
                        forget_attempts(s, 0);
                        buffer_clear(&s->output);
                } else
                        charge(w, s, max_budget);
        }
        find_latency(w);
        w->ran = true;
}
