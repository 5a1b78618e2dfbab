/* From a layer of an image to a directory that an overlay file system can have below. */
#ifndef ASSAY_IMAGES_LAYER_H
#define ASSAY_IMAGES_LAYER_H

#include "images/report.h"

struct layer_request {
        uint64_t offset, length; /* of the layer's blob in the input file; UINT64_MAX: to its end */
        char *member;            /* its path, where the input is a directory; owned */
        uint64_t max_entries;
        uint64_t max_unpacked;
};

/* Unpack the layer in `input` below the directory `root`, which is empty, and hash it. Directories
 * that hide what lies below them and warnings go to `report`. -1: it is refused (or we failed); the
 * tree may be there in part.
 *
 * A whiteout is a device 0:0, an opaque directory is only reported: how it is marked depends on who
 * mounts it. All belongs to the caller; set-id bits, devices and all attributes but those of users
 * are left out. The umask must be 0. */
int layer_unpack(int input, int root, const struct layer_request *request, struct report *report,
        struct layer_outcome *ret, struct error *err);

#endif
