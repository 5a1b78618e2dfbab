/* Judging one entry of a layer: what to make of it. Pure. The rules are not those for submissions
 * (entry.h): programs in images expect what their builders made, so that more is kept. */
#ifndef ASSAY_IMAGES_LAYER_ENTRY_H
#define ASSAY_IMAGES_LAYER_ENTRY_H

#include "images/entry.h"
#include "images/inventory.h"

enum layer_step {
        LAYER_SKIP,
        LAYER_DROP,    /* the same, of what no image may have */
        LAYER_FOLDERS, /* those on the way to the path alone */
        LAYER_OPAQUE,  /* them and the path, whose mode is not told here */
        LAYER_DIRECTORY,
        LAYER_FILE,
        LAYER_SYMLINK,
        LAYER_HARDLINK,
        LAYER_PIPE,
};

struct layer_plan {
        enum layer_step step;
        struct path path;
        struct path source; /* LAYER_HARDLINK: what it is a second name of */
        struct addition place;
};

/* Judge `e` against what `v` holds, and note it there. -1: image.layer_invalid, image.too_large. */
int layer_entry_judge(
        const struct entry *e, struct inventory *v, struct layer_plan *ret, struct error *err);

#endif
