/* A workflow of a submission: what it asks the tools of its task to do, and what came of it. */
#ifndef ASSAY_WORKFLOW_H
#define ASSAY_WORKFLOW_H

#include "report/json.h"
#include "submission.h"
#include "submission_cell.h"
#include "task.h"

enum step_status {
        STEP_WAITING,
        STEP_COMPLETED,
        STEP_HARD_FAILURE, /* its attempts were used up */
        STEP_SKIPPED,      /* what it depends on failed */
        STEP_BUDGET_ABORT,
        STEP_STATUS_COUNT,
};
enum attempt_status { ATTEMPT_OK, ATTEMPT_ERROR, ATTEMPT_TIMEOUT, ATTEMPT_STATUS_COUNT };

struct attempt {
        enum attempt_status status;
        uint64_t us, cost;
        char *reason; /* why it is not ok; NULL: it is */
};

struct workflow_step {
        char *id;
        const struct task_tool *tool;
        unsigned retry_count;
        unsigned most;       /* attempts */
        uint64_t timeout_us; /* 0: none */
        unsigned *needs, need_count;
        unsigned *wants, want_count; /* whose outputs its input refers to */
        struct buffer input;

        enum step_status status;
        struct attempt *attempts;
        unsigned attempt_count;
        uint64_t end_us;      /* since the workflow began, once all steps have ended */
        struct buffer output; /* the tokens of a value, once it is completed */

        /* while it runs */
        bool running;
        struct buffer given; /* its input with what it refers to */
        struct running cell;
        struct log printed[2];
};

/* Its steps stand in the order in which they are charged: each behind those it depends on. */
struct workflow {
        struct workflow_step *steps;
        unsigned count;

        /* once it has run */
        bool ran, budget_aborted;
        uint64_t cost, us;
        struct cell_usage usage; /* of the tools */
        char *quality;           /* a decimal, 0 to 1 */
};

/* workflow.c
 *
 * Read the document (borrowed). -1 with workflow.invalid: it says where. Warnings become those of
 * the submission. To be freed in any case. */
int workflow_read(struct workflow *w, const struct task *t, struct submission *s, int document,
        struct channel *c, struct error *err);
void workflow_free(struct workflow *w);
/* Does no other step depend on it? */
bool workflow_is_last(const struct workflow *w, const struct workflow_step *s);
/* Did something that it depends on fail? */
bool workflow_is_cut_off(const struct workflow *w, const struct workflow_step *s);
/* What all attempts of this step and of those before it have cost so far. */
uint64_t workflow_spent(const struct workflow *w, const struct workflow_step *s);
/* Now that nothing runs any more: charge the attempts in order, and say what came of each step, and
 * how long it took. Steps may have run that, charged in this order, were not to be had: they are
 * taken back, so that it does not matter which of two that ran at once was faster. */
void workflow_settle(struct workflow *w, uint64_t max_budget);

/* workflow_run.c */
struct workflow_order {
        const struct task *task;
        struct cells *cells;
        /* What a cell for a tool is given, but for its limits. */
        void (*tool_cell)(void *to, struct cell_order *ret);
        void *to;
};
/* Run the steps, at most as many at once as the task has processors, and settle. */
int workflow_run(const struct workflow_order *order, struct workflow *w, struct error *err);

/* workflow_record.c */
const char *workflow_step_status(const struct workflow_step *s);
/* assay.execution/1 */
void workflow_record(
        const struct workflow *w, const struct task *t, struct json_writer *to, const char *key);
/* The output of the workflow: that of the last step, or of several an object of them; null where
 * none of them is completed. */
void workflow_output(const struct workflow *w, struct json_writer *to);
/* The outputs of the steps that one refers to: an object. */
void workflow_outputs_for(
        const struct workflow *w, const struct workflow_step *s, struct json_writer *to);

#endif
