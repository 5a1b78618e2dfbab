/* The one way to open something in a tree that someone else wrote.
 *
 * A path is followed from a directory descriptor and never leaves it: no "..", no absolute path,
 * no symlink, no magic link, no other mount, at any component. Done by openat2; on kernels
 * without it, by a walk that opens each component itself. */
#ifndef ASSAY_BENEATH_H
#define ASSAY_BENEATH_H

#include <fcntl.h>
#include <stdbool.h>

/* Open `path` beneath `dir` with `flags` and `mode` as in openat(); O_CLOEXEC and O_NOCTTY are
 * added. Returns the descriptor, or -1 with errno: EXDEV (leaves the tree, or another mount),
 * ELOOP (a symlink), or what openat() gives. */
int beneath_open(int dir, const char *path, int flags, mode_t mode);
/* A descriptor for the path alone (O_PATH) of a place in a tree that we mounted things into: other
 * mounts may lie on the way, links may not. */
int beneath_enter(int dir, const char *path);
/* The first without openat2. */
int beneath_open_by_walk(int dir, const char *path, int flags, mode_t mode);

/* A place inside a cell: absolute, no empty, "." or ".." component. */
bool beneath_is_place(const char *path);

#endif
