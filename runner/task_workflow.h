/* What task.json says of workflows; see evaluators/task_workflow.h. Costs are whole billionths,
 * times microseconds. */
#ifndef ASSAY_TASK_WORKFLOW_H
#define ASSAY_TASK_WORKFLOW_H

#include "scorer.h"

struct task_tool {
        char *name;
        char **command;
        uint64_t cost; /* of each attempt */
        bool timed;    /* `us` stands for what is measured */
        uint64_t us;
};

struct task_workflow {
        bool given; /* the scheme is composite */
        uint64_t max_budget;
        uint64_t max_latency;  /* for people: what counts is assay-score's */
        unsigned min_steps;    /* 0: as many as the workflow has */
        unsigned max_attempts; /* of each step; 0: 1 + its retry_count */
        bool by_suite;         /* how good the output is */
        struct task_tool *tools;
        unsigned tool_count;
};

/* TASK_COMPOSITE and TASK_TOOL. */
void task_workflow_take(struct task_workflow *w, unsigned type, struct reader *r);
void task_workflow_free(struct task_workflow *w);

/* A whole number of some unit of which `places` decimals make one: 20000000 billionths are "0.02".
 */
enum { UNITS_TEXT_SIZE = 32, COST_PLACES = 9, SECONDS_PLACES = 6 };
const char *units_text(uint64_t units, unsigned places, char out[UNITS_TEXT_SIZE]);

#endif
