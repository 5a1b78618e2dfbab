/* Everything an archive has put into the tree so far, by name.
 *
 * Names are compared in folded form, so that two files that are one on some system are noticed.
 * Folders that the archive only implies ("a/b" without "a") are in it too: each row is an inode
 * that will be made. A balanced tree, not a hash table: nobody can choose names that make it
 * slow. Pure. */
#ifndef ASSAY_IMAGES_CATALOG_H
#define ASSAY_IMAGES_CATALOG_H

#include "error.h"

#include <stdint.h>

enum node_kind { NODE_DIRECTORY, NODE_FILE, NODE_SYMLINK };

struct catalog {
        void *nodes;               /* of tsearch() */
        struct node *first, *last; /* all of them, as they came */
        uint64_t count;            /* inodes */
        uint64_t files;            /* regular ones */
        uint64_t at_top;           /* children of the root */
        struct node *last_at_top;
        uint64_t max; /* inodes allowed */
};

void catalog_init(struct catalog *c, uint64_t max);
void catalog_free(struct catalog *c);
#define _cleanup_catalog_ __attribute__((cleanup(catalog_free)))

/* Call `see` with the path of each regular file. */
void catalog_each_file(const struct catalog *c, void (*see)(void *to, const char *path), void *to);

/* Add `path` (normal form, not empty). `ret_known` is the length of the part that was there
 * before: 0, up to a '/', or all of it for a directory that repeats. -1: archive.name_collision,
 * archive.link_escape (below a symlink), archive.too_many_entries. */
int catalog_add(struct catalog *c, const char *path, enum node_kind kind, size_t *ret_known,
        struct error *err);
/* `path` is there, spelled exactly so, as a regular file. */
bool catalog_has_file(const struct catalog *c, const char *path);
/* The spelling of the regular file `name` in any letter case inside the directory `dir` ("" is
 * the root), or NULL. */
const char *catalog_find_file(const struct catalog *c, const char *dir, const char *name);
/* The name of the directory that is all there is at the top, or NULL. */
const char *catalog_common_root(const struct catalog *c);

#endif
