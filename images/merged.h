/* What layers of the store show together, as overlay merges them. */
#ifndef ASSAY_IMAGES_MERGED_H
#define ASSAY_IMAGES_MERGED_H

#include "images/name.h"

#include <sys/stat.h>

struct merged {
        int trees[UNPACK_MAX_STACK]; /* the lowest first */
        unsigned count;
        uint64_t followed; /* names that were looked for in a layer for the sake of merged_follow()
                            */
};

/* What stands at a path: that of the topmost layer which has it, and of a directory the layers that
 * add to it. */
struct merged_item {
        struct stat st;
        unsigned top;
        bool in[UNPACK_MAX_STACK];
};

/* Open the layers `names`, directories below `store`; to be closed in any case. */
int merged_open(struct merged *m, int store, char *const *names, unsigned count, struct error *err);
void merged_close(struct merged *m);

/* Each way down begins with the root. From the directory `item` to the name that `path` now ends
 * with: 1; 0: there is nothing; -1. No link is followed. */
int merged_root(const struct merged *m, struct merged_item *ret, struct error *err);
int merged_down(
        const struct merged *m, const char *path, struct merged_item *item, struct error *err);
/* The same of a whole path, in normal form. */
int merged_look(
        const struct merged *m, const char *path, struct merged_item *ret, struct error *err);
/* Links may lead to links: all calls together end with image.unsupported when they looked for some
 * million names. The same of a path as a process in the image would name it, which links lead to
 * another place: `ret_path`. With `last`, also when its last name is one. */
int merged_follow(struct merged *m, const char *path, bool last, struct path *ret_path,
        struct merged_item *ret, struct error *err);
/* Open a regular file that was found. */
int merged_open_file(const struct merged *m, const struct path *path,
        const struct merged_item *item, struct error *err);
/* The names in a directory that was found, sorted, each with its NUL. */
int merged_list(const struct merged *m, const char *path, const struct merged_item *item,
        struct buffer *ret_names, size_t *ret_count, struct error *err);

#endif
