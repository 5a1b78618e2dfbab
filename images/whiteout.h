/* Names in layers of images: their normal form, and the marks among them, which speak of what the
 * layers below have. Pure. */
#ifndef ASSAY_IMAGES_WHITEOUT_H
#define ASSAY_IMAGES_WHITEOUT_H

#include "images/name.h"

enum { WHITEOUT_MAX_DEPTH = 1000 };

enum whiteout {
        WHITEOUT_NONE,    /* an ordinary name */
        WHITEOUT_NAME,    /* hides the path */
        WHITEOUT_CONTENT, /* hides what is in the directory of that path */
        WHITEOUT_FOREIGN, /* a note of another file system to itself */
};

/* Take `raw` apart: the path in normal form, empty for the layer's root, without the mark, and what
 * the mark was. -1 with image.layer_invalid. */
int whiteout_read(
        const char *raw, struct path *ret_path, enum whiteout *ret_mark, struct error *err);
/* The same for the name of an earlier entry, where a mark is nothing but a name. */
int whiteout_normalise(const char *raw, struct path *ret, struct error *err);

#endif
