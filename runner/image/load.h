/* Bringing images into the store. */
#ifndef ASSAY_IMAGE_LOAD_H
#define ASSAY_IMAGE_LOAD_H

#include "image/store.h"

/* Called for each image that is now in the store. */
typedef void (*load_see)(void *to, const char *id, const char *const *names);

struct load_options {
        const char *name; /* a further name for the image; NULL: those that the file gives */
};

/* Load the images of a file or directory, with the caller's rights to open it; root is given up
 * meanwhile. What the store has already is not unpacked again. */
int load_images(const char *path, const struct load_options *options, load_see see, void *to,
        struct error *err);

/* Remove the files of layers that no image has and no cell uses. */
int load_collect_garbage(unsigned *ret_layers, struct error *err);

#endif
