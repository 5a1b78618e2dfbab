/* What the images of the store take, and which are in use. */
#ifndef ASSAY_IMAGE_CENSUS_H
#define ASSAY_IMAGE_CENSUS_H

#include "image/store.h"

#include <stddef.h>
#include <time.h>

struct census {
        struct census_layer *layers;
        size_t count;
};

#define CENSUS_INIT                                                                                \
        {                                                                                          \
                0                                                                                  \
        }

/* Look at all images; to be freed in any case. */
int census_take(struct census *c, const struct image_store *s, struct error *err);
void census_free(struct census *c);

struct census_image {
        uint64_t bytes;  /* of all its files */
        uint64_t shared; /* of them, in layers that other images have too */
        bool in_use;     /* by a cell */
        time_t loaded;
};

int census_of(const struct census *c, const struct image_store *s, const char *id,
        struct census_image *ret, struct error *err);

#endif
