/* Removing everything below a directory. */
#ifndef ASSAY_IMAGES_REMOVE_H
#define ASSAY_IMAGES_REMOVE_H

#include "error.h"

#include <stdint.h>

/* Empty the directory `root`, which stays. Follows no link and never leaves the tree; takes
 * memory in the order of its depth, and three descriptors at most. */
int remove_below(int root, uint64_t *ret_removed, struct error *err);

#endif
