/* A directory as a source of entries: what lies in it, each folder before its content, in the order
 * of the bytes of the names, so that the same tree is always the same sequence. */
#ifndef ASSAY_IMAGES_FOLDER_H
#define ASSAY_IMAGES_FOLDER_H

#include "images/entry.h"

#include <nettle/sha2.h>

struct folder_level {
        char **names; /* sorted; owned, with what they point to */
        size_t count, next;
        size_t path_len; /* of the folder */
};

struct folder {
        int root;            /* borrowed */
        uint64_t names, max; /* met so far, and allowed */
        struct folder_level *levels;
        size_t depth;
        char path[4096], target[4096];
        int file; /* the current entry's content */
        uint64_t offset, size;
        struct sha256_ctx digest;
        unsigned char data[64 << 10];
};

int folder_open(struct folder *f, int root, uint64_t max, struct error *err);
void folder_close(struct folder *f);

/* The next entry, valid until the next call. 1, or 0 at the end, or -1. */
int folder_next(struct folder *f, struct entry *ret, struct error *err);
/* The next piece of its content. 1, or 0 at the end, or -1. */
int folder_data(struct folder *f, const void **ret_data, size_t *ret_len, uint64_t *ret_offset,
        struct error *err);
/* At the end: SHA-256 over all entries, as 64 hexadecimal digits. Of each: a letter for what it is
 * (f, x for an executable file, d, l, s for what is none of these), its path and a NUL, 8 bytes for
 * a length, the least first, and the content of the file or the target of the link. */
void folder_digest(struct folder *f, char ret[65]);

#endif
