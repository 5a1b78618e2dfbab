/* A task as one file, for a store to keep and a worker to unpack: all that its digest is over, and
 * nothing else. Needs the caller's rights. */
#ifndef ASSAY_SNAPSHOT_H
#define ASSAY_SNAPSHOT_H

#include "task.h"

#include <limits.h>

/* Write it to a file without a name, in memory. */
int snapshot_make(const struct task *t, int *ret_fd, struct error *err);
/* Make what it holds in an empty directory: whatever the file has in it, nothing is made or
 * followed outside of it. */
int snapshot_unpack(int fd, int directory, struct error *err);
/* The task of that digest below the state directory, for anybody to use; `fetch` is called for its
 * snapshot where it is not there yet. `ret` is its path. */
typedef int (*snapshot_fetch)(void *to, const char *sha256, int fd, struct error *err);
int snapshot_find(
        const char *sha256, snapshot_fetch fetch, void *to, char ret[PATH_MAX], struct error *err);

#endif
