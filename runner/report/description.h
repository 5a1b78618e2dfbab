/* What a submitter may know of a task. Of hidden tests no more than their number; of no test its
 * input, its command or its answer. */
#ifndef ASSAY_REPORT_DESCRIPTION_H
#define ASSAY_REPORT_DESCRIPTION_H

#include "task.h"

/* For people, and assay.task.description/1. -1: the files of cases cannot be listed. */
int description_text(const struct task *t, struct buffer *out, struct error *err);
int description_json(const struct task *t, struct buffer *out, struct error *err);

/* --- parts of both */

/* The limits of a cell that runs a submission which are told, and their values. */
enum { DESCRIPTION_LIMITS = 7 };
extern const enum limit description_limits[DESCRIPTION_LIMITS];
const struct limits *description_limits_of(const struct task *t);

bool description_has_suite(const struct task *t);
/* Does code of the submission run in cells of its own? Else, if at all, in the suite's. */
bool description_has_own_cells(const struct task *t);

/* What shows them: `name` is NULL where only `count` are counted. */
struct case_listener {
        void (*group)(void *to, const struct task_group *g, bool visible, unsigned count);
        void (*one)(void *to, const char *name, const char *points);
        void (*group_end)(void *to);
        void *to;
};
int description_cases(const struct task *t, const struct case_listener *l, struct error *err);

#endif
