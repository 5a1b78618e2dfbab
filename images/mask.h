/* Hiding what layers show: as a further layer, made of whiteouts. */
#ifndef ASSAY_IMAGES_MASK_H
#define ASSAY_IMAGES_MASK_H

#include "images/report.h"
#include "images/script.h"

struct hiding {
        char *path;
        enum unpack_hide kind;
};

/* What to hide: paths, and the scripts of a command. */
struct mask_request {
        struct hiding *paths; /* owned, with what they hold, as all here */
        size_t count;
        struct command command;
};

/* Write a layer, as tar, that hides these when it lies on the others. `ret_hidden`: names hidden;
 * with none, there is nothing to lay on the others. */
int mask_write(struct merged *m, const struct mask_request *q, int file, struct report *report,
        uint64_t *ret_hidden, struct error *err);

#endif
