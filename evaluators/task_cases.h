/* The cases of a task: groups, each with cases of its own and a template for files (`each`). Read
 * and checked here, expanded by the runner, which sees the files. */
#ifndef ASSAY_EVALUATORS_TASK_CASES_H
#define ASSAY_EVALUATORS_TASK_CASES_H

#include "fields.h"
#include "number.h"

struct comparing {
        unsigned how; /* enum comparison */
        char abs[NUMBER_TEXT_SIZE], rel[NUMBER_TEXT_SIZE];
        const char *pattern;
        struct list checker; /* of const char *; none: no checker */
        unsigned protocol;   /* enum checker_protocol */
};

struct test_case {
        const char *name;                          /* NULL in `each` */
        struct list command;                       /* of const char * */
        const char *in, *in_file, *out, *out_file; /* NULL: not given */
        uint64_t exit;
        uint64_t timeout_us; /* 0: not given */
        struct comparing compare;
        struct list interactor; /* of const char * */
        char points[NUMBER_TEXT_SIZE];
};

struct case_group {
        const char *name;
        char points[NUMBER_TEXT_SIZE]; /* "": those of its cases */
        unsigned aggregate;            /* enum case_aggregate */
        struct list requires;          /* of const char * */
        bool stop_on_failure, has_each;
        unsigned visibility; /* enum task_visibility, or NOT_GIVEN */
        struct test_case each;
        struct list cases; /* of struct test_case */
};

struct cases {
        bool given;
        struct list groups; /* of struct case_group */
};

/* struct cases: an array of cases, which is one group, or an object with `groups`. */
extern const struct field_type task_cases;
extern const struct field task_cases_forms[];

void cases_check(struct reading *r, const struct cases *c);
void cases_put(const struct cases *c, struct buffer *out);
void cases_free(struct cases *c);

#endif
