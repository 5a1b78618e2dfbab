/* What a worker knows of the tasks that it unpacked (snapshot.h): each was read as a whole once,
 * and for a job of it only what its files are is compared with what they were then. Needs the
 * caller's rights. */
#ifndef ASSAY_KNOWN_TASK_H
#define ASSAY_KNOWN_TASK_H

#include "snapshot.h"
#include "watcher.h"

struct known_task {
        char sha256[DIGEST_SIZE]; /* "": it is none */
        struct task_state state;  /* when that was its digest */
        struct buffer document;   /* what the scorer says of task.json; empty: ask it */
        bool pulled;              /* its images are here */
};

enum { KNOWN_TASKS = 64 };

struct known_tasks {
        struct known_task all[KNOWN_TASKS];
        unsigned next; /* to be forgotten */
};

/* The task of that digest, unpacked by snapshot_find() where it is not there yet; its path. -1 with
 * with infra.task_changed: somebody changed it. */
int known_task_find(struct known_tasks *k, const char *sha256, snapshot_fetch fetch, void *to,
        char ret_path[PATH_MAX], struct known_task **ret, struct error *err);
/* Its images are here, where it is still known. */
void known_task_pulled(struct known_tasks *k, const char *sha256);
/* Is it still what it was? */
void known_task_look(const char *sha256, const struct task_state *was, struct watched *ret);
void known_tasks_free(struct known_tasks *k);

#endif
