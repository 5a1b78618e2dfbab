/* What the operator of a machine lets tasks do: /etc/assay/operator.json, or the file that
 * --policy names. Without one a task is trusted. The file is read by assay-score, and what it says
 * is held here, against what the same program said of a task: a task cannot change it. */
#ifndef ASSAY_POLICY_H
#define ASSAY_POLICY_H

#include "task.h"

struct policy {
        int file;                 /* -EBADF: there is none */
        char sha256[DIGEST_SIZE]; /* of it, once it was applied */
        bool network, host_image, pull;
        struct {
                bool given;
                uint64_t value;
        } ceilings[CELL_KIND_COUNT][LIMIT_COUNT];
        uint64_t total_memory, max_entries, max_unpacked, max_archive; /* 0: any */
        struct {
                char *name, **command;
        } judges[SCORE_MAX_JUDGES];
        unsigned judge_count;
};

#define POLICY_INIT                                                                                \
        {                                                                                          \
                .file = -EBADF                                                                     \
        }

/* `path` NULL: the machine's, if it has one. Needs the caller's rights; reads nothing. */
int policy_open(struct policy *p, const char *path, struct error *err);
bool policy_is_there(const struct policy *p);
/* May something run in the machine's own programs? */
bool policy_allows_host(const struct policy *p);
/* Read it, and hold a task to it: what the task leaves open becomes what the operator allows, what
 * it asks for beyond that is a problem of the task, and the judge it names is the operator's. -1
 * with task.not_permitted: there are problems. */
int policy_apply(struct policy *p, struct task *t, struct channel *c, struct error *err);
/* No limit is above the ceiling of such cells any more. */
void policy_lower(const struct policy *p, enum cell_kind kind, struct limits *l);
void policy_free(struct policy *p);

/* For verbs that want nothing but a task, held to the policy that `policy` names: with a supervisor
 * of its own, and without root afterwards. */
int policy_read_task(
        struct task *t, struct policy *p, const char *path, const char *policy, struct error *err);

#endif
