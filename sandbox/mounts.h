/* The file system that a cell sees.
 *
 * Two steps, so that the privileged part is small. mounts_make() makes every mount detached, where
 * nobody can reach it: as root the supervisor does it in the host's namespace (only there may it
 * make device nodes, and overlays whose layers are not the cell's); as an ordinary user the cell's
 * first process does it, as root of its own user namespace. mounts_enter() is always called by
 * that first process: it fits the mounts together and leaves the host's root behind. */
#ifndef ASSAY_MOUNTS_H
#define ASSAY_MOUNTS_H

#include "ids.h"
#include "request.h"

enum { MOUNTS_MAX = CELL_MAX_MOUNTS + 8 };

struct mounts {
        int root;   /* tmpfs: the root, and all that the cell may write */
        int result; /* tmpfs for the result, or -EBADF */
        struct {
                int mount;
                char place[CELL_MAX_PLACE]; /* without the leading slash */
        } trees[MOUNTS_MAX];
        unsigned tree_count;
};

#define MOUNTS_INIT                                                                                \
        {                                                                                          \
                .root = -EBADF, .result = -EBADF                                                   \
        }

/* `ids` are those of the cell as this process's user namespace names them. On failure what was
 * made is kept in `m` for mounts_free(). */
int mounts_make(struct mounts *m, const struct cell_request *request, const struct ids *ids,
        bool root, struct error *err);
int mounts_fit(
        struct mounts *m, const struct cell_request *request, bool root, struct error *err);
int mounts_leave_host(const struct mounts *m, struct error *err);
void mounts_free(struct mounts *m);

#endif
