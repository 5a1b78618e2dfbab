/* The manifest.json of a docker-archive: which images it has, and in which members they are. From
 * JSON to checked values. Pure. */
#ifndef ASSAY_IMAGES_DOCKER_MANIFEST_H
#define ASSAY_IMAGES_DOCKER_MANIFEST_H

#include "images/document.h"

enum { IMAGE_MAX_NAMES = 256 };

/* An image of a docker-archive; member names are in normal form. */
struct docker_image {
        const char *config;
        struct document_texts tags, layers;
};
struct docker_manifest {
        struct json doc;
        struct docker_image *list;
        uint32_t count;
};
/* -1: image.invalid, with line and column. It borrows the bytes. */
int docker_manifest_read(
        struct docker_manifest *ret, const void *bytes, size_t len, struct error *err);
void docker_manifest_free(struct docker_manifest *m);
#define _cleanup_docker_manifest_ __attribute__((cleanup(docker_manifest_free)))

#endif
