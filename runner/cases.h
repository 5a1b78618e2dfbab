/* Cases instead of a suite: each in a cell of the submission, judged out here. */
#ifndef ASSAY_CASES_H
#define ASSAY_CASES_H

#include "submission_cell.h"
#include "task.h"

/* How one came out. */
struct case_result {
        char *name;
        bool passed;
        char part[32];                  /* of its points, 0 to 1, a decimal */
        char *reason;                   /* why it did not pass; NULL: it did */
        uint64_t us;                    /* wall time */
        const struct task_group *group; /* of the task, as its points are */
        const char *points;
        enum task_visibility visibility;
};

struct cases_order {
        const struct task *task;
        const struct submission_cell *submission;
        struct cells *cells;
        /* What a cell for a checker or an interactor of the task is given. */
        void (*checker_cell)(void *to, struct cell_order *ret);
        void *to;
};

struct cases_outcome {
        struct case_result *results; /* in the order of the task */
        unsigned count;
        struct cell_usage usage; /* of the submission's cells */
};

/* Run them all, at most as many at once as the task has processors. */
int cases_run(const struct cases_order *order, struct cases_outcome *ret, struct error *err);
/* Have the score put together: `take` gets a RESULT_SCORE, and a RESULT_BREAKDOWN for each group
 * with a name. */
int cases_score(struct channel *c, const struct cases_outcome *o, scorer_take take, void *to,
        struct error *err);
void cases_free(struct cases_outcome *o);

/* One of them, by the name that results have, with what it reads and what it must print. */
struct case_look {
        char **command; /* borrowed of the task */
        bool has_expected;
        struct buffer input, expected;
};
int cases_look(const struct cases_order *order, const char *name, struct case_look *ret,
        struct error *err);
void case_look_free(struct case_look *l);

#endif
