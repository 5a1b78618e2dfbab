/* The little that a verb must know of a task before it has its submissions graded, while it keeps
 * the caller's rights: another process reads the task. */
#ifndef ASSAY_TASK_FACTS_H
#define ASSAY_TASK_FACTS_H

#include "policy.h"

struct task_facts {
        char *name;
        enum task_mode mode;
        enum task_scheme scheme;
        uint64_t match_ms; /* that a match may take; 0: not said */
        enum task_difficulty difficulty;
        bool network;
        bool may_pull;   /* the operator has nothing against it */
        char **required; /* paths of files, NULL at the end */
        char **images;   /* which it needs of the store, the same */
};

/* Problems of task.json are printed on standard error, a line each. */
int task_facts_read(
        struct task_facts *ret, const char *path, const char *policy, struct error *err);
void task_facts_free(struct task_facts *f);
/* Fetch the images that the task needs and this machine lacks. 1, or 0: the operator allows no
 * registries. */
int task_pull(const char *path, const char *policy, struct error *err);

#endif
