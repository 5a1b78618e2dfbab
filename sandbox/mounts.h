/* The mounts that make up what a cell sees. They are made detached, where nobody can reach them: as
 * root by the supervisor in the host's namespace (only there may it make device nodes, and overlays
 * whose layers are not the cell's); as an ordinary user by the cell's first process, as root of its
 * own user namespace. view.h has the root that they are fitted into. */
#ifndef ASSAY_MOUNTS_H
#define ASSAY_MOUNTS_H

#include "ids.h"
#include "request.h"

enum { MOUNTS_MAX = CELL_MAX_MOUNTS + 16 };

/* What is always there first: of the rest most pages are never touched. */
struct mounts {
        int root;            /* tmpfs: all that the cell may write, and with `host` the root */
        int image;           /* the root of a cell that has an image, or -EBADF */
        int result;          /* tmpfs for the result, or -EBADF */
        int kept;            /* with CELL_KEEP: the first PLACE_COPY, else -EBADF */
        int proc, terminals; /* what only the cell's own namespaces can give */
        int host;            /* of the layers, the view of the host's root; -EBADF: none */
        uint64_t host_mount; /* that it shows */
        unsigned tree_count, layer_count, next_place;
        struct {
                int mount;
                char place[CELL_MAX_PLACE]; /* without the leading slash */
        } trees[MOUNTS_MAX];
        int layers[2 * MOUNTS_MAX + CELL_MAX_LAYERS]; /* mounts that only overlays need */
};

/* Where, in the tmpfs, the cell's own files over an image are. */
#define MOUNTS_OWN_FILES "own"

/* In memory that is zero. */
void mounts_init(struct mounts *m);

/* What a maker is and whom it makes mounts for. */
struct mounts_for {
        const struct cell_request *request;
        struct ids ids; /* of the cell, as the maker's user namespace names them */
        bool root;      /* the maker is root of the host */
        pid_t first;    /* as root: the cell's first process, whose user namespace maps its ids */
};

/* Views of /usr and its like, and what the request asks for, into `m`, whose root is there. On
 * failure what was made is kept in `m` for mounts_free(). */
int mounts_make(struct mounts *m, const struct mounts_for *who, struct error *err);
/* Close what only the first process needs, once the first process has them. Not earlier: to let go
 * of a detached mount makes the kernel wait for every processor. */
void mounts_close_trees(struct mounts *m);
/* As root: a copy of the mount at `tree` in which what the directory's owner owns belongs to `id`.
 * -1 where the file system or the kernel cannot do that. */
int mounts_give(int tree, uid_t id);
/* The same as it is, to be read only. */
int mounts_show(int tree);
/* Is nothing left of what the cell may write? */
bool mounts_full(const struct mounts *m);
/* Bytes of it that are files now. */
uint64_t mounts_used(const struct mounts *m);
void mounts_free(struct mounts *m);

#endif
