/* What the store knows of an image: what the unpacker said of it when it was loaded
 * (UNPACK_IMAGE_FOUND in images/messages.h), kept as it came, and what follows from it. */
#ifndef ASSAY_IMAGE_RECORD_H
#define ASSAY_IMAGE_RECORD_H

#include "frame.h"
#include "images/digest.h"
#include "images/messages.h"
#include "sandbox/messages.h"

struct image_layer {
        char *member; /* where its blob stands in the file that was loaded */
        uint64_t offset, length;
        char digest[DIGEST_SIZE]; /* of the blob; "": not told */
        char diff_id[DIGEST_SIZE];
};

struct image {
        char id[DIGEST_SIZE], ref_digest[DIGEST_SIZE]; /* the second may be "" */
        char *architecture, *created, *workdir, *user;
        char **names, **entrypoint, **cmd, **env; /* NULL at the end */
        struct image_layer *layers;               /* the lowest first */
        unsigned layer_count;
        /* What was found out when it was loaded: what a cell has, the lowest first, and who it is
         * (IMAGE_NO_USER: USER means nobody). */
        char stack[CELL_MAX_LAYERS][DIGEST_SIZE];
        unsigned stack_count;
        uint32_t uid, gid;
        char home[CELL_MAX_PLACE]; /* its HOME, or "" */
};

#define IMAGE_NO_USER UINT32_MAX

/* Read it; -1: it is not as agreed. To be freed in both cases. */
int image_decode(struct image *ret, struct reader *r);
void image_free(struct image *i);
/* A further name. */
int image_add_name(struct image *i, const char *name, struct error *err);

/* A record as it lies in the store, and back. `said`: what was decoded, and raw documents. */
void record_write(struct buffer *out, const struct image *i, const struct buffer *said);
/* A record that can be read, with the stack of `i`. */
int record_restack(
        struct buffer *out, const struct image *i, const struct buffer *record, struct error *err);
int record_read(struct image *ret, const struct buffer *record, struct error *err);
/* The same of the one called `name` in a part of the store. To be freed in both cases. */
int record_open(struct image *ret, int part, const char *name, struct error *err);

/* A raw document of a record that could be read, and its digest as it was told. 1; 0: it has none
 * of that kind; -1: no memory. */
int record_document(const struct buffer *record, enum unpack_blob kind, struct buffer *ret,
        char ret_digest[DIGEST_SIZE]);

#endif
