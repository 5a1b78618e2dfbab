/* What names the parts of a container image, from JSON to checked values: index and manifest of OCI
 * and of Docker, which differ in media types only, and the file of an OCI layout. Pure.
 *
 * Each function reads one document; -1 comes with image.invalid or image.unsupported and the line
 * and column. What was read keeps the tree, to which its texts belong, and borrows the bytes. */
#ifndef ASSAY_IMAGES_IMAGE_JSON_H
#define ASSAY_IMAGES_IMAGE_JSON_H

#include "error.h"
#include "evaluators/json.h"
#include "images/messages.h"

enum {
        IMAGE_MAX_DESCRIPTORS = 1000,   /* of an index, or images of a manifest.json */
        IMAGE_MAX_ARGUMENT = 128 << 10, /* what the kernel takes */
        IMAGE_MAX_NAME = 1024,
};

enum image_media { MEDIA_OTHER, MEDIA_INDEX, MEDIA_MANIFEST, MEDIA_CONFIG, MEDIA_LAYER };

/* What a document says of a blob. Texts are empty where it does not say them. */
struct image_descriptor {
        enum image_media media;
        enum unpack_compression compression; /* of a layer */
        char digest[65];
        uint64_t size;
        const char *os, *architecture, *variant;
        const char *names[2]; /* that annotations give it */
        unsigned name_count;
        bool no_image;   /* an attestation, or something else that travels with images */
        const char *url; /* where it is kept instead, or NULL */
};

struct image_index {
        struct json doc;
        struct image_descriptor *list;
        uint32_t count;
};
int image_index_read(struct image_index *ret, const void *bytes, size_t len, struct error *err);
void image_index_free(struct image_index *i);
#define _cleanup_image_index_ __attribute__((cleanup(image_index_free)))

struct image_manifest {
        struct json doc;
        struct image_descriptor config;
        struct image_descriptor *layers; /* the lowest first */
        uint32_t count;
};
int image_manifest_read(
        struct image_manifest *ret, const void *bytes, size_t len, struct error *err);
void image_manifest_free(struct image_manifest *m);
#define _cleanup_image_manifest_ __attribute__((cleanup(image_manifest_free)))

/* The file `oci-layout` tells the version that we know. */
int image_layout_check(const void *bytes, size_t len, struct error *err);

/* "sha256:" and 64 lower-case hexadecimal digits. */
bool image_digest(const char *text, char ret[65]);
/* The value `v` of `key`, which must be one. */
int image_take_digest(struct json_value v, const char *key, char ret[65], struct error *err);

#endif
