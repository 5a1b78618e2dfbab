/* An image of the store as a cell needs it. */
#ifndef ASSAY_IMAGE_CELL_H
#define ASSAY_IMAGE_CELL_H

#include "channel.h"
#include "image/view.h"

struct image_cell {
        struct image image;
        int layers[CELL_MAX_LAYERS]; /* open: none can be removed meanwhile */
        unsigned layer_count;
        uint32_t uid, gid;
        const char *workdir;
        const char **env; /* of the image, NULL at the end; with HOME, for its own user */
        char home[CELL_MAX_PLACE + 8];
};

/* Find the image that `reference` means, and open its layers, with the caller's rights: those of a
 * view that was made of it, unless that is NULL. Without `with_user` its USER is not looked at. To
 * be closed in any case. */
int image_open(struct image_cell *ret, const char *reference, const struct view *view,
        bool with_user, struct error *err);
/* The same in a store whose directory was opened before (image_store_open_root). */
int image_open_in(struct image_cell *ret, int store, const char *reference, const struct view *view,
        bool with_user, struct error *err);
void image_close(struct image_cell *i);

#endif
