/* Is something of a task, that submissions must not see, in what their cells get of an image? Under
 * any name, but as it is: what is compressed or changed is not found. */
#ifndef ASSAY_IMAGE_LEAK_H
#define ASSAY_IMAGE_LEAK_H

#include "image/loading.h"

/* A directory of the task, named to the supervisor (channel_trust_tree). */
struct leak_tree {
        const char *name;
        int fd; /* or -EBADF: there is none */
};

struct leak_search {
        struct leak_tree trees[2];
        /* A file of the image has the content of `file` of the tree. */
        int (*found)(void *to, const char *in_image, const char *file, struct error *err);
        void *to;
};

/* Look at each file of `view` (its stack, view.h). */
int leak_find(struct loading *l, const struct image *view, const struct leak_search *search,
        struct error *err);

#endif
