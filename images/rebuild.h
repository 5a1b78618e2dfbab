/* The tar of a layer once more, from its directory and its skeleton (skeleton.h). */
#ifndef ASSAY_IMAGES_REBUILD_H
#define ASSAY_IMAGES_REBUILD_H

#include "images/decompress.h"
#include "images/name.h"

struct rebuild {
        int tree; /* borrowed */
        struct decompressor *skeleton;
        int skeleton_file;
        const unsigned char *at; /* what is left of its last piece */
        size_t left;
        bool began, ended;
        uint64_t text; /* bytes to come of a record with text */
        int file;      /* that the content comes from, or -EBADF */
        uint64_t file_left;
        uint64_t file_crc, crc; /* as it was, and so far */
        struct path path;       /* of the file */
        struct sha256_ctx digest;
        uint64_t bytes;
        unsigned char data[128 << 10];
};

/* Begin with the file `skeleton`, which is taken over also when that fails. To be closed in any
 * case. */
int rebuild_open(struct rebuild *r, int tree, int skeleton, struct error *err);
void rebuild_close(struct rebuild *r);
/* The next bytes, valid until the next call: their number, 0 at the end, or -1: image.corrupt names
 * a file that is not what it was. */
ssize_t rebuild_next(struct rebuild *r, const unsigned char **ret, struct error *err);
/* At the end: SHA-256 of all bytes. */
void rebuild_digest(struct rebuild *r, char ret[DIGEST_SIZE]);

#endif
