/* The file system that a cell sees.
 *
 * Three steps, so that the privileged part is small. mounts_make() makes every mount detached,
 * where nobody can reach it: as root the supervisor does it in the host's namespace (only there may
 * it make device nodes, and overlays whose layers are not the cell's); as an ordinary user the
 * cell's first process does it, as root of its own user namespace. mounts_fit() and
 * mounts_leave_host() are always called by that first process: they fit the mounts together and
 * leave the host's root behind. */
#ifndef ASSAY_MOUNTS_H
#define ASSAY_MOUNTS_H

#include "ids.h"
#include "request.h"

enum { MOUNTS_MAX = CELL_MAX_MOUNTS + 16 };

struct mounts {
        int root;            /* tmpfs: the root, and all that the cell may write */
        int result;          /* tmpfs for the result, or -EBADF */
        int proc, terminals; /* what only the cell's own namespaces can give */
        struct {
                int mount;
                char place[CELL_MAX_PLACE]; /* without the leading slash */
        } trees[MOUNTS_MAX];
        unsigned tree_count;
        int layers[2 * MOUNTS_MAX]; /* mounts that only overlays need */
        unsigned layer_count;
};

#define MOUNTS_INIT                                                                                \
        {                                                                                          \
                .root = -EBADF, .result = -EBADF, .proc = -EBADF, .terminals = -EBADF              \
        }

/* What a maker is and whom it makes mounts for. */
struct mounts_for {
        const struct cell_request *request;
        struct ids ids; /* of the cell, as the maker's user namespace names them */
        bool root;      /* the maker is root of the host */
        pid_t first;    /* as root: the cell's first process, whose user namespace maps its ids */
};

/* The root and what lies in it: mounts_begin() and mounts_make() by the maker, mounts_fill() by the
 * first process, between them or at the same time as the second. On failure what was made is kept
 * in `m` for mounts_free(). */
int mounts_begin(struct mounts *m, const struct mounts_for *who, struct error *err);
int mounts_fill(const struct mounts *m, struct error *err);
/* By the first process, when it has its namespaces: its /proc and terminals. */
int mounts_begin_inside(struct mounts *m, struct error *err);
int mounts_make(struct mounts *m, const struct mounts_for *who, struct error *err);
int mounts_fit(struct mounts *m, const struct cell_request *request, bool root, struct error *err);
int mounts_leave_host(const struct mounts *m, struct error *err);
/* Close what only the first process needs, once the first process has them. Not earlier: to let go
 * of a detached mount makes the kernel wait for every processor. */
void mounts_close_trees(struct mounts *m);
/* Is nothing left of what the cell may write? */
bool mounts_full(const struct mounts *m);
void mounts_free(struct mounts *m);

#endif
