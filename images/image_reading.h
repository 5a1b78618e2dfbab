/* A file with container images while it is read: its documents, each compared with the digest by
 * which it was named, and what of it was asked for. For the readers of each kind of file. */
#ifndef ASSAY_IMAGES_IMAGE_READING_H
#define ASSAY_IMAGES_IMAGE_READING_H

#include "images/bundle.h"
#include "images/image.h"

enum {
        IMAGE_MAX_MANIFEST = 4 << 20,
        IMAGE_MAX_CONFIG = 8 << 20,
};

struct image_reading {
        const struct image_request *request;
        struct report *report;
        struct bundle bundle;
        const char *folder; /* in which the blobs are */
        uint64_t documents; /* bytes of those read */
        uint32_t found;
        struct buffer held; /* what the file has instead, for the message */
};

/* Read a document of at most `max` bytes: what lies at `p`; a member; a blob, which has the size
 * and the digest of its descriptor. */
int image_read_place(struct image_reading *r, const struct place *p, uint64_t max,
        struct buffer *out, struct error *err);
int image_read_document(struct image_reading *r, const char *member, uint64_t max,
        struct buffer *out, struct error *err);
int image_read_blob(struct image_reading *r, const struct image_descriptor *d, uint64_t max,
        struct buffer *out, struct error *err);

void image_hash(const struct buffer *b, char ret[65]);
int image_check_digest(
        const struct buffer *b, const char *digest, const char *member, struct error *err);

/* The member that is the blob with this digest. */
struct member_name {
        char text[sizeof "blobs/sha256/" + 64];
};
struct member_name image_blob_name(const struct image_reading *r, const char *digest);

/* Whether the request means an image of these names, or of this platform. */
bool image_is_wanted(const struct image_reading *r, const char *const *names, uint32_t count);
bool image_is_for(const struct image_reading *r, const char *os, const char *architecture);
/* Note an image that is not asked for. */
void image_hold(struct image_reading *r, const char *const *names, uint32_t count, const char *os,
        const char *architecture);

/* The readers: tell every image of the file that is asked for. */
int image_read_oci(struct image_reading *r, struct error *err);
int image_read_dir(struct image_reading *r, struct error *err);
int image_read_docker(struct image_reading *r, struct error *err);

#endif
