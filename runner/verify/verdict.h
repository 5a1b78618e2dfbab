/* What grading the solutions says of a task. Pure. */
#ifndef ASSAY_VERIFY_VERDICT_H
#define ASSAY_VERIFY_VERDICT_H

#include "verify/solutions.h"

struct verdict_of_task {
        char **warnings; /* NULL at the end, or NULL */
        unsigned warning_count;
        unsigned met, unmet;
        bool infra; /* a solution was not met because of this machine */
};

/* Judge every solution, each graded `rounds` times, then the task. -1: out of memory. */
int verdict_reach(
        struct solutions *s, unsigned rounds, struct verdict_of_task *ret, struct error *err);
void verdict_of_task_free(struct verdict_of_task *v);

#endif
