/* What the parts of cases.h share: cases.c, which runs them, and case_judge.c. */
#ifndef ASSAY_CASES_PARTS_H
#define ASSAY_CASES_PARTS_H

#include "cases.h"

/* How far one has come. */
enum case_state { WAITING, RUNNING, ENDED, COMPARING, JUDGED };

struct one_case {
        const struct task_case *what;
        const struct task_group *group;
        char *in_path; /* of a file that `each` found */
        struct case_result result;
        enum case_state state;
        struct running cell, interactor;
        struct log output[2];
        struct buffer input;
};

struct cases_running {
        const struct cases_order *order;
        struct cases_outcome *outcome;
        struct one_case *ones;
        unsigned count;
        unsigned at_once;
};

/* case_judge.c
 *
 * Decide what came of one that has ended; comparing may be put off (COMPARING). */
int case_judge(struct cases_running *r, struct one_case *o, struct error *err);
/* Compare all that wait for it. */
int cases_compare(struct cases_running *r, struct error *err);
void case_fail(struct one_case *o, const char *part, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* What its cell may use. */
struct limits case_limits(const struct cases_running *r, const struct task_case *c);
/* A text of the task, or the content of a file. */
int case_read_given(const struct cases_running *r, enum case_given given, const char *text,
        const char *path, struct buffer *ret, struct error *err);
/* What it must print, or nothing where its task does not say. */
int case_read_expected(const struct cases_running *r, const struct one_case *o, struct buffer *ret,
        struct error *err);
/* What it printed and read is not needed any more. */
void case_forget(struct one_case *o);

#endif
