/* The limits in task.json, and the ceilings in operator.json: a key for each limit of a cell, and
 * those that only a task has. */
#ifndef ASSAY_EVALUATORS_TASK_LIMITS_H
#define ASSAY_EVALUATORS_TASK_LIMITS_H

#include "task.h"

/* struct task_limits: an object of limits. Keys with a row in .fields, which is one of the two
 * below, are read by that. */
extern const struct field_type task_limits;
extern const struct fields task_suite_limits, task_submission_limits;

extern const struct field_type task_limit; /* uint64_t: the limit in .argument */

#endif
