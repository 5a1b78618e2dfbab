/* What the parts of mounts.h share: mounts.c, mounts_host.c and mounts_image.c. */
#ifndef ASSAY_MOUNTS_PARTS_H
#define ASSAY_MOUNTS_PARTS_H

#include "mounts.h"

#include <sys/stat.h>

/* What becomes the root: `host`, or the image from the store. */
int mounts_add_host(const struct mounts_for *who, struct mounts *m, struct error *err);
int mounts_add_image(const struct mounts_for *who, struct mounts *m, struct error *err);

enum overlay {
        OVERLAY_VIEW,            /* read-only, with an empty second layer: the kernel wants two */
        OVERLAY_ANYONE,          /* the same, made by somebody who may not pass file modes */
        OVERLAY_WRITABLE,        /* with a layer that takes what the cell writes */
        OVERLAY_WRITABLE_BY_ALL, /* and whose top anyone may write to */
};

/* Directories in the cell's tmpfs, for layers of overlays that are the cell's own and for what must
 * be attached; /proc will cover them if that tmpfs is its root. 0 (or a descriptor of it, with a
 * path that names it), or -1 with errno. */
int mounts_make_place(struct mounts *m, char *ret, size_t size);
int mounts_make_layer(struct mounts *m, char *ret_path, size_t size);

/* Kernels before 6.15 take as a layer only what is attached in this process's mount namespace:
 * then the supervisor has one of its own, and each cell's root stands at /run/assay/root in it
 * until its mounts are made. */
bool mounts_attach_layers(void);
/* Keep a mount that is to be a layer. It is itself detached, or attached there. */
int mounts_keep_layer(struct mounts *m, int layer);
/* The path of a descriptor's file in this process's own mount namespace: a descriptor opened in
 * another one can be neither layer nor bound. So the path is opened again, and must be the same. */
int mounts_reopen(int tree, int *ret_fd, struct error *err);
/* A copy of the mount at `tree`, its ids mapped as a user namespace does. -1 where the file system
 * or the kernel cannot do that. */
int mounts_map_ids(int tree, int users, uint64_t attributes, unsigned copied, unsigned mapped);

/* An overlay over `lower`; -1 with errno. */
int mounts_overlay(
        const struct mounts_for *who, struct mounts *m, const char *lower, enum overlay kind);
/* A read-only view of a directory, owned by the cell's root as far as `owner` (NULL: nobody) owns
 * it. It is an overlay and not a bind, so that its inodes are this cell's alone: locks, leases and
 * inotify on a shared inode would let cells talk. */
int mounts_make_view(const struct mounts_for *who, struct mounts *m, int tree,
        const struct stat *owner, enum overlay kind);

bool mounts_has_tree(const struct mounts *m, const char *place);
void mounts_add_tree(struct mounts *m, const char *place, int mount);

#endif
