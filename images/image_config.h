/* The config of a container image, which OCI and Docker write alike: what runs in it, and which
 * layers it has. From JSON to checked values. Pure. */
#ifndef ASSAY_IMAGES_IMAGE_CONFIG_H
#define ASSAY_IMAGES_IMAGE_CONFIG_H

#include "images/document.h"

enum {
        IMAGE_MAX_ARGUMENTS = 4096,
        IMAGE_MAX_COMMAND = 512 << 10, /* entrypoint, cmd and env together: what a cell takes */
};

struct image_config {
        struct json doc;
        const char *os, *architecture, *created, *workdir, *user;
        struct document_texts entrypoint, cmd, env;
        uint32_t dropped; /* entries of Env that are no NAME=VALUE */
        char (*diff_ids)[65];
        uint32_t count; /* of them */
};
/* -1: image.invalid or image.unsupported, with line and column. It borrows the bytes. */
int image_config_read(struct image_config *ret, const void *bytes, size_t len, struct error *err);
void image_config_free(struct image_config *c);
#define _cleanup_image_config_ __attribute__((cleanup(image_config_free)))

#endif
