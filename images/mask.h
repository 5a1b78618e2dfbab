/* Hiding what layers show: as a further layer, made of whiteouts. */
#ifndef ASSAY_IMAGES_MASK_H
#define ASSAY_IMAGES_MASK_H

#include "images/merged.h"

struct hiding {
        char *path;
        bool itself; /* and where it leads to, if it is a link; else what is in that directory */
};

/* Write a layer, as tar, that hides these paths when it lies on the others. `ret_hidden`: names
 * hidden; with none, there is nothing to lay on the others. */
int mask_write(const struct merged *m, const struct hiding *paths, size_t count, int file,
        uint64_t *ret_hidden, struct error *err);

#endif
