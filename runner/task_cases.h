/* The cases of a task, as task.json says them; see evaluators/task_cases.h. */
#ifndef ASSAY_TASK_CASES_H
#define ASSAY_TASK_CASES_H

#include "scorer.h"

struct task_case {
        bool each; /* one for each file that `in` matches */
        char *name;
        char **command; /* NULL at the end, as all lists here */
        enum case_given in_given, out_given;
        char *in, *out; /* a text, or a path below the task */
        unsigned exit;
        uint64_t timeout_us; /* 0: the limits of submissions */
        enum comparison comparison;
        char *abs, *rel, *pattern;
        enum checker_protocol protocol;
        char **checker, **interactor; /* empty: there is none */
        char *points;
};

struct task_group {
        char *name, *points; /* "": those of its cases */
        enum case_aggregate aggregate;
        bool stop_on_failure;
        enum task_visibility visibility; /* its count: the task's */
        char **requires;
        struct task_case *cases;
        unsigned case_count;
};

struct task_cases {
        struct task_group *groups;
        unsigned count;
};

/* TASK_GROUP and TASK_CASE. */
void task_cases_take(struct task_cases *c, unsigned type, struct reader *r);
void task_cases_free(struct task_cases *c);

/* Append a zeroed row to a list and return it; NULL, and the reader is bad, when it is full. */
void *list_append(void **list, unsigned *count, size_t size, unsigned most, struct reader *r);
/* A new list of at most `most` texts, NULL at the end. */
char **texts_take(struct reader *r, uint32_t most);
void texts_free(char **list);
/* The wall time that its own timeout means, in microseconds; 0: it has none. */
uint64_t task_case_wall(const struct task_case *c);

#endif
