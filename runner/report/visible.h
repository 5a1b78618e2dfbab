/* What a submitter may see now: `visibility` of a task and its groups. */
#ifndef ASSAY_REPORT_VISIBLE_H
#define ASSAY_REPORT_VISIBLE_H

#include "evaluation.h"

/* `after_published` waits for somebody who publishes: nobody does here. */
bool visible_at(enum task_visibility v, const char *due, time_t now);
/* The seconds since 1970 of a time as RFC 3339 writes it; -1: it is none. */
time_t visible_time(const char *text);

/* Does this report show that? One for the operator shows all. */
bool visible_test(const struct evaluation *e, const struct test_result *t);
bool visible_output(const struct evaluation *e);

#endif
