/* Making files, folders and links in the directory to fill. Paths are in normal form and judged
 * (entry.h); still every one is opened beneath the root without following links. */
#ifndef ASSAY_IMAGES_TREE_H
#define ASSAY_IMAGES_TREE_H

#include "images/name.h"

#include <sys/stat.h>

struct tree {
        int root;                /* borrowed */
        int folder;              /* the folder used last, or -EBADF */
        struct path folder_path; /* its path; entries of one folder mostly come together */
};
#define TREE_INIT(fd)                                                                              \
        {                                                                                          \
                .root = (fd), .folder = -EBADF                                                     \
        }

void tree_close(struct tree *t);

/* Make the folders on the way to `path`, whose first `known` bytes exist already; with `itself`,
 * `path` is the last of them. */
int tree_make_folders(
        struct tree *t, const char *path, size_t known, bool itself, struct error *err);
/* A new file, opened for writing; the caller closes it. */
int tree_make_file(struct tree *t, const char *path, mode_t mode, struct error *err);
int tree_make_symlink(struct tree *t, const char *path, const char *target, struct error *err);
/* A file made earlier, opened for reading; the caller closes it. */
int tree_open_file(struct tree *t, const char *path, struct error *err);
/* Remove what is no folder. */
int tree_remove(struct tree *t, const char *path, struct error *err);

/* What layers of images have beside that. A folder by itself, in one that is there: */
int tree_make_folder(struct tree *t, const char *path, mode_t mode, struct error *err);
/* A second name of a file or link made earlier. */
int tree_make_link(struct tree *t, const char *source, const char *path, struct error *err);
int tree_make_pipe(struct tree *t, const char *path, mode_t mode, struct error *err);
/* What hides a name of the layers below from those who see this one above them. */
int tree_make_whiteout(struct tree *t, const char *path, struct error *err);
int tree_set_mode(struct tree *t, const char *path, mode_t mode, struct error *err);
/* The next two of a link itself, not of what it leads to. */
int tree_set_time(
        struct tree *t, const char *path, const struct timespec *mtime, struct error *err);
/* 1; 0: that id cannot be given here; -1. */
int tree_set_owner(struct tree *t, const char *path, uid_t uid, gid_t gid, struct error *err);

/* Write at a place of a file of ours. -1 with the reason (full disk, file size limit). */
int tree_write(
        int fd, const void *data, size_t len, uint64_t offset, const char *path, struct error *err);

#endif
