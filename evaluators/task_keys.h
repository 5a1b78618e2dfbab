/* The keys of task.json that are not regular: their types, and what texts must look like. */
#ifndef ASSAY_EVALUATORS_TASK_KEYS_H
#define ASSAY_EVALUATORS_TASK_KEYS_H

#include "task.h"

#define TASK_MAX_SIZE (1ULL << 40) /* no task means more bytes than that */

/* Types, each with its .forms. */
extern const struct field_type task_pass;             /* struct scoring */
extern const struct field_type task_judge;            /* struct task */
extern const struct field_type task_env;              /* struct json_value */
extern const struct field_type task_submission_image; /* struct submission_image */
extern const struct field task_pass_forms[], task_judge_forms[], task_env_forms[],
        task_submission_image_forms[];

extern const struct choice task_visibilities[];

/* Checks of texts: NULL, or "must …". */
const char *task_check_line(const char *text); /* no control character */
const char *task_check_name(const char *text); /* nor '/' */
const char *task_check_image(const char *text);
const char *task_check_time(const char *text); /* RFC 3339, such as 2026-12-01T00:00:00Z */
const char *task_check_test_pattern(const char *glob);
const char *task_check_pattern(const char *glob);  /* of such paths */
const char *task_check_relative(const char *path); /* a plain path in a submission */

const char *task_check_place(const char *path); /* absolute, in an image */

#endif
