/* What assay-unpack tells the runner: the answer frames of messages.h. */
#ifndef ASSAY_IMAGES_REPORT_H
#define ASSAY_IMAGES_REPORT_H

#include "buffer.h"
#include "error.h"
#include "images/digest.h"
#include "images/messages.h"
#include "images/user.h"

#include <stdint.h>

struct report {
        int fd;
        unsigned warnings; /* also those beyond UNPACK_MAX_WARNINGS, which are counted only */
};

/* What was made, or removed. */
struct outcome {
        uint64_t entries;
        uint64_t bytes;
        uint32_t sections; /* bits by the order of UNPACK_SECTIONS */
        bool has_submission_md;
        char root[256];  /* the common top folder, or empty */
        char digest[65]; /* of a directory; "" of archives, which have bytes to hash */
};

/* The same of a layer of an image. */
struct layer_outcome {
        char digest[DIGEST_SIZE]; /* of its blob */
        char diff_id[DIGEST_SIZE];
        uint64_t entries;
        uint64_t bytes;
};

int report_warning(struct report *r, const char *field, const char *message, struct error *err);
int report_section(struct report *r, unsigned number, const struct buffer *text, struct error *err);
int report_done(struct report *r, const struct outcome *o, struct error *err);
/* A directory of a layer that hides what lies below; "" is the layer's root. */
int report_opaque(struct report *r, const char *path, struct error *err);
/* Bytes of the skeleton of a layer; `anew`: what came before is none of it. */
int report_skeleton(
        struct report *r, bool anew, const unsigned char *bytes, size_t len, struct error *err);
int report_layer_done(struct report *r, const struct layer_outcome *o, struct error *err);
/* A raw document of an image, in as many frames as it needs. */
int report_blob(struct report *r, enum unpack_blob kind, const char *digest,
        const struct buffer *bytes, struct error *err);
/* The payload of UNPACK_IMAGE_FOUND. */
int report_image(struct report *r, const struct buffer *image, struct error *err);
int report_images_done(struct report *r, uint32_t images, struct error *err);
int report_user(struct report *r, const struct user *user, struct error *err);
/* A file of a directory; one of a tree with the content of a wanted one. */
int report_file(
        struct report *r, const char *path, uint64_t size, const char *digest, struct error *err);
int report_found(struct report *r, uint32_t which, const char *path, struct error *err);
int report_error(struct report *r, const struct error *what, struct error *err);

#endif
