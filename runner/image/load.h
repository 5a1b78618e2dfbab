/* Bringing images into the store. */
#ifndef ASSAY_IMAGE_LOAD_H
#define ASSAY_IMAGE_LOAD_H

#include "image/store.h"

/* Who wants to hear of a load. */
struct load_listener {
        void (*loaded)(void *to, const char *id, const char *const *names); /* is in the store */
        void (*warn)(void *to, const char *text);
        void *to;
};

struct load_options {
        const char *name; /* a further name for the image; NULL: those that the file gives */
        /* Instead of a file: put a `dir:` into the directory `dir`, with the caller's rights. The
         * image gets the name `fetched`. */
        int (*fetch)(void *to, int dir, struct error *err);
        void *fetch_to;
        const char *fetched;
};

/* Load the images of a file or directory, with the caller's rights to open it; root is given up
 * meanwhile. What the store has already is not unpacked again. `path` is NULL when they are to be
 * fetched. */
int load_images(const char *path, const struct load_options *options,
        const struct load_listener *listener, struct error *err);

/* Remove the files of layers that no image has and no cell uses. */
int load_collect_garbage(unsigned *ret_layers, struct error *err);

#endif
