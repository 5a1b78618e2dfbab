/* Workflows of a task; see task_workflow.h. */
#include "task_workflow.h"

#include "task_cases.h"

#include <stdlib.h>

#define MOST_COST   (100000ULL * 1000000000)
#define MOST_BUDGET (1000000000ULL * 1000000000)
#define MOST_US     (86400ULL * 1000000)

enum { MOST_STEPS = 1000000 };

static void take_composite(struct task_workflow *w, struct reader *r)
{
        r->bad |= w->given;
        w->given = true;
        w->max_budget = get_u64(r);
        w->max_latency = get_u64(r);
        w->min_steps = get_u32(r);
        w->max_attempts = get_u32(r);
        w->by_suite = get_u8(r);
        r->bad |= w->max_latency > MOST_US || w->max_budget > MOST_BUDGET ||
                  w->min_steps > MOST_STEPS || w->max_attempts > SCORE_MAX_ATTEMPTS;
}

static void take_tool(struct task_workflow *w, struct reader *r)
{
        struct task_tool *t =
                list_append((void **)&w->tools, &w->tool_count, sizeof *t, SCORE_MAX_TOOLS, r);

        if (!t)
                return;
        t->name = scorer_text(r, SCORE_MAX_NAME);
        t->command = texts_take(r, CELL_MAX_ARGUMENTS);
        t->cost = get_u64(r);
        t->timed = get_u8(r);
        t->us = get_u64(r);
        r->bad |= !t->command || !t->command[0] || t->cost > MOST_COST || t->us > MOST_US;
}

void task_workflow_take(struct task_workflow *w, unsigned type, struct reader *r)
{
        if (type == TASK_COMPOSITE)
                take_composite(w, r);
        else
                take_tool(w, r);
}

void task_workflow_free(struct task_workflow *w)
{
        for (unsigned i = 0; i < w->tool_count; i++) {
                free(w->tools[i].name);
                texts_free(w->tools[i].command);
        }
        free(w->tools);
        *w = (struct task_workflow){0};
}

const char *units_text(uint64_t units, unsigned places, char out[UNITS_TEXT_SIZE])
{
        uint64_t one = 1;
        size_t len;

        for (unsigned i = 0; i < places; i++)
                one *= 10;
        snprintf(out, UNITS_TEXT_SIZE, "%llu.%0*llu", (unsigned long long)(units / one),
                (int)places, (unsigned long long)(units % one));
        for (len = strlen(out); out[len - 1] == '0'; len--)
                out[len - 1] = '\0';
        if (out[len - 1] == '.')
                out[len - 1] = '\0';
        return out;
}
