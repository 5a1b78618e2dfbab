/* The bytes of a file, uncompressed: gzip, bzip2, xz, zstd, or as they are, told by the first
 * bytes. Parts that follow each other are one stream, as for the tools that make such files.
 * Checksums are verified, windows are bounded. */
#ifndef ASSAY_IMAGES_DECOMPRESS_H
#define ASSAY_IMAGES_DECOMPRESS_H

#include "error.h"
#include "images/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct decompressor;

/* Start at the beginning of the file `fd`, which is borrowed. NULL on failure. */
struct decompressor *decompress_open(int fd, struct error *err);
/* A part of a file, of `length` bytes, or up to its end (UINT64_MAX): the blob of an image. It is
 * hashed while it is read. That it is all there, and nothing else behind what is compressed, is
 * demanded; windows are smaller. */
struct blob {
        int fd; /* borrowed */
        uint64_t offset, length;
};
struct decompressor *decompress_open_blob(const struct blob *b, struct error *err);
void decompress_close(struct decompressor *d);

/* The next piece, valid until the next call: its length, or 0 at the end, or -1. */
ssize_t decompress_next(struct decompressor *d, const unsigned char **ret, struct error *err);

/* The same piece again: it has the first 512 bytes, as far as there are so many. */
ssize_t decompress_peek(struct decompressor *d, const unsigned char **ret, struct error *err);

/* Do these bytes begin compressed data? */
bool decompress_begins(const unsigned char *bytes, size_t len);
/* What it is compressed with, or NULL. */
const char *decompress_name(const struct decompressor *d);
/* Of a blob read to its end: SHA-256 of its bytes, and of what was compressed in them. */
void decompress_digests(
        struct decompressor *d, char ret_digest[DIGEST_SIZE], char ret_plain[DIGEST_SIZE]);
/* Behind the compressed data was something else, which was left out. */
bool decompress_left_some(const struct decompressor *d);

#endif
