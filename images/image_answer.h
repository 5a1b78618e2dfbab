/* An image on its way into an answer: what its manifest and its config say, and where its layers
 * lie. */
#ifndef ASSAY_IMAGES_IMAGE_ANSWER_H
#define ASSAY_IMAGES_IMAGE_ANSWER_H

#include "images/image_config.h"
#include "images/image_reading.h"

struct image {
        const char *const *names;
        uint32_t name_count;
        const char *ref_digest;
        char manifest_digest[65]; /* or "" */
        char index_digest[65];
        char id[65];
        struct buffer manifest, config_bytes;
        struct buffer index; /* that was asked for, or nothing */
        struct image_config config;
        struct buffer layers; /* as the answer has them */
};
#define IMAGE_INIT                                                                                 \
        {                                                                                          \
                .ref_digest = "", .manifest = BUFFER_INIT, .config_bytes = BUFFER_INIT,            \
                .index = BUFFER_INIT, .layers = BUFFER_INIT                                        \
        }

void image_free(struct image *i);
#define _cleanup_image_ __attribute__((cleanup(image_free)))

/* Read the config that was found in `member`, of an image with so many layers. 1, or 0 when it is
 * for another machine. */
int image_understand_config(struct image_reading *r, struct image *i, const char *member,
        uint32_t layers, struct error *err);
/* Add a layer, in the order of the diff_ids; `digest` may be "". */
void image_put_layer(struct image *i, const char *member, const struct place *p, const char *digest,
        uint32_t number, enum unpack_compression compression);
/* Report the image and its documents. */
int image_tell(struct image_reading *r, const struct image *i, struct error *err);

/* All of that, of an image whose manifest, of OCI, was read from `member` (image_oci.c). 1, or 0
 * when it is for another machine. */
int image_tell_by_manifest(
        struct image_reading *r, struct image *i, const char *member, struct error *err);

#endif
