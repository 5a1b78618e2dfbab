/* What a task of the scheme "composite" says: the limits of a workflow, how good its output is, and
 * the tools that it may use. */
#ifndef ASSAY_EVALUATORS_TASK_WORKFLOW_H
#define ASSAY_EVALUATORS_TASK_WORKFLOW_H

#include "schemes/composite.h"
#include "schemes/spec.h"

#include "buffer.h"

/* The runner counts in whole numbers: billionths of what things cost, microseconds. */
struct tool {
        const char *name;
        struct list command;                                    /* of const char * */
        char cost[NUMBER_TEXT_SIZE], seconds[NUMBER_TEXT_SIZE]; /* the second may be "" */
        uint64_t billionths, microseconds;
};

struct task_workflow {
        bool given; /* the scheme is composite */
        struct composite_spec spec;
        struct dimension quality;
        bool tools_given;
        struct list tools;   /* of struct tool */
        uint64_t billionths; /* of the budget */
};

extern const struct field_type task_tools;
extern const struct field task_tools_forms[]; /* struct task_workflow: `tools` */

/* The `scoring` of such a task. */
void workflow_read_scoring(struct reading *r, const struct spot *s, struct task_workflow *ret);
void workflow_check(struct reading *r, struct task_workflow *w);
void workflow_put(const struct task_workflow *w, struct buffer *out);
void workflow_free(struct task_workflow *w);

/* The decimal times `scale` as a whole number of at most `most`; -1: it is none. */
int workflow_units(const char *text, uint64_t scale, uint64_t most, uint64_t *ret);

#endif
