/* What the cells of submissions get of an image: its lowest layers, without what only the suite may
 * know. Made once, as a mask that lies on those layers, and kept in the store as a record of the
 * image with another stack: no path is looked for when a cell starts. */
#ifndef ASSAY_IMAGE_VIEW_H
#define ASSAY_IMAGE_VIEW_H

#include "image/loading.h"

struct view {
        const char *image;       /* a reference */
        unsigned layers;         /* the lowest, as `assay image inspect` lists them; 0: all */
        const char *const *hide; /* places that are wanted hidden */
        unsigned hide_count;
        const char *const *own; /* places that are hidden anyway, NULL at the end */
        char *const *command;   /* what the suite runs, beside the image's own; or NULL */
};

/* Under which name a view of the image `id` is in the store. */
void view_key(const struct view *v, const char *id, char ret[DIGEST_SIZE]);
/* Make it, if it is not there or is wanted anew. `ret`: the image, with the view's stack; to be
 * freed in any case. While it is made, places to hide that the image does not have are warned of.
 */
int view_make(
        struct loading *l, const struct view *v, bool anew, struct image *ret, struct error *err);
/* By the supervisor of an evaluation, which was told who owns the store (channel_name_owner), in
 * the store whose directory is `store`. */
int view_make_in(struct channel *c, int store, const struct view *v, struct error *err);
/* For a caller who has the rights of root still, and keeps them: another process makes it. */
int view_make_aside(const struct view *v, struct error *err);

#endif
