/* Are the images of the store what was loaded? */
#ifndef ASSAY_IMAGE_VERIFY_H
#define ASSAY_IMAGE_VERIFY_H

#include "image/store.h"

struct verify_listener {
        void (*good)(void *to, const char *id);
        /* What is damaged: an image by its id, or a name; and how. */
        void (*damaged)(void *to, const char *what, const char *how);
        void *to;
};

/* Verify one image, or all and their names (NULL): records, and each layer once, which the unpacker
 * compares with its skeleton. With `remove`, what is damaged is taken out of the store, so that the
 * image can be loaded again. Root is given up meanwhile. -1: image.corrupt, when something was; or
 * it could not be found out. */
int verify_images(const char *reference, bool remove, const struct verify_listener *listener,
        struct error *err);

#endif
