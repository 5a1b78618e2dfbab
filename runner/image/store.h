/* The images on this machine, below the state directory:
 *
 *   STATE/images/layers/DIFF_ID/tree/   a layer's files, the unpacker's. DIFF_ID is the SHA-256 of
 *                                       the layer's tar, 64 hexadecimal digits
 *   STATE/images/layers/DIFF_ID/skeleton   what else is in that tar (images/skeleton.h)
 *   STATE/images/layers/DIFF_ID/opaque     its opaque directories, where there are any
 *   STATE/images/images/ID              a record (record.h). ID is that of the configuration
 *   STATE/images/views/KEY              a record too: of what submissions see of an image (view.h)
 *   STATE/images/names/NAME             a link to the ID that a name stands for; / is written %2F
 *   STATE/images/incoming/              what is being made
 *   STATE/pulls/                        what is being fetched: the caller's own, because a program
 *                                       with the caller's rights writes there by path. What is
 *                                       there goes on to `incoming`
 *
 * All but the trees and the last is the runner's. Whatever stands under a final name is complete
 * and on the disk: it comes there by one rename. A name that is only looked at needs no right to
 * write. */
#ifndef ASSAY_IMAGE_STORE_H
#define ASSAY_IMAGE_STORE_H

#include "buffer.h"
#include "error.h"
#include "images/digest.h"

#include <time.h>

enum {
        IMAGE_STORE_NAME_MAX = 200,
        IMAGE_STORE_MAX_FILE = 32 << 20, /* bytes of a record, or of a list of opaque directories */
};

struct image_store {
        int layers, images, views, names, incoming;
        int pulls; /* when it was asked for */
};

#define IMAGE_STORE_INIT                                                                           \
        {                                                                                          \
                .layers = -EBADF, .images = -EBADF, .views = -EBADF, .names = -EBADF,              \
                .incoming = -EBADF, .pulls = -EBADF                                                \
        }

/* Open the store, made where it is not there, as the runner's: with the caller's rights, before
 * root is given up. */
int image_store_open(struct image_store *s, struct error *err);
/* The same in two steps: the directory of the whole store with the caller's rights; later what is
 * in it, when root is given up. */
int image_store_open_root(struct error *err);
int image_store_open_in(struct image_store *s, int root, struct error *err);
void image_store_close(struct image_store *s);

/* Who makes layers and images in the store works beside others who do; who removes is alone. Kept
 * until the store is closed. false: others are at work. */
bool image_store_be_alone(const struct image_store *s);
void image_store_be_among_others(const struct image_store *s);
/* Only one at a time gives an image its names or takes them away: else who takes the last one could
 * remove the image that gets another meanwhile. */
void image_store_lock_names(const struct image_store *s);
void image_store_unlock_names(const struct image_store *s);

/* A layer that is being made: its directory in `incoming`, and the tree to fill. */
struct image_store_layer {
        int place, tree;
        char name[40];
};

#define IMAGE_STORE_LAYER_INIT                                                                     \
        {                                                                                          \
                .place = -EBADF, .tree = -EBADF                                                    \
        }

/* What a runner may still write to its file system. -1: it does not tell. */
int image_store_free_bytes(const struct image_store *s, uint64_t *ret);

/* Is it there? */
bool image_store_has_layer(const struct image_store *s, const char *diff_id);
/* The files of a layer that is there: a descriptor of the directory, which keeps the layer from
 * being removed, or -1. */
int image_store_open_layer(const struct image_store *s, const char *diff_id, struct error *err);
/* Who makes a layer locks it, so that of several loads one does the work: a descriptor, or -1;
 * EWOULDBLOCK: another one makes it. */
int image_store_lock_layer(struct image_store *s, const char *diff_id);
void image_store_unlock_layer(struct image_store *s, const char *diff_id, int *lock);
/* An empty layer; to be ended by one of the other two. */
int image_store_begin_layer(
        struct image_store *s, struct image_store_layer *ret, struct error *err);
/* The file for its skeleton. */
int image_store_make_skeleton(const struct image_store_layer *l, struct error *err);
/* Give it its final name, with the paths (each with its NUL) of its opaque directories: at most
 * IMAGE_STORE_MAX_FILE bytes. It may have come there meanwhile: then this one must be emptied and
 * abandoned. 1: it has its name; 0: it was there; -1. */
int image_store_keep_layer(struct image_store *s, struct image_store_layer *l, const char *diff_id,
        uint64_t bytes, const struct buffer *opaque, struct error *err);
/* Of its files, as told when it was kept. */
uint64_t image_store_layer_bytes(const struct image_store *s, const char *diff_id);
/* A cell has it. */
bool image_store_layer_in_use(const struct image_store *s, const char *diff_id);
int image_store_get_opaque(
        const struct image_store *s, const char *diff_id, struct buffer *ret, struct error *err);
/* Remove one whose tree is empty. */
void image_store_abandon_layer(struct image_store *s, struct image_store_layer *l);

/* A directory for what is fetched, without a tree, locked while it is open; with the caller's
 * rights. To be taken in, also when it failed, and then abandoned. */
int image_store_begin_pull(struct image_store *s, struct image_store_layer *ret, struct error *err);
/* From `pulls` to `incoming`, as the runner's: with the caller's rights. */
int image_store_take_in_pull(struct image_store *s, struct image_store_layer *l, struct error *err);
/* The same of those whose maker is gone. */
void image_store_take_in_left(struct image_store *s);

/* Alone: take over the directory `name` in `incoming`, whose maker is gone. */
bool image_store_open_left(struct image_store *s, const char *name, struct image_store_layer *ret);
/* Alone: take a layer that no cell uses out of the store, to be emptied and abandoned. */
bool image_store_take_out_layer(
        struct image_store *s, const char *diff_id, struct image_store_layer *ret);
/* Each layer (or image, or view) that is there. */
int image_store_each(int part, int (*see)(void *to, const char *digest, struct error *err),
        void *to, struct error *err);

/* Records, of s->images or s->views. One that is put replaces what was there. */
int image_store_put_record(struct image_store *s, int part, const char *name,
        const struct buffer *record, struct error *err);
int image_store_get_record(
        int part, const char *name, struct buffer *ret_record, struct error *err);
/* Who lists them may find one removed meanwhile. */
bool image_store_has_record(int part, const char *name);
int image_store_remove_record(int part, const char *name, struct error *err);
/* A name for an image; it replaces what was there. */
int image_store_put_name(
        struct image_store *s, const char *name, const char *id, struct error *err);
/* Can it be one? What reads like an id cannot: it would stand for another image. */
int image_store_check_name(const char *name, struct error *err);
/* Take a name away; the image stays until nothing names it. 1, or 0: there is none. */
int image_store_remove_name(struct image_store *s, const char *name, struct error *err);

/* The image that a reference means: a name (`:latest` where it has no tag), an id, with or without
 * `sha256:`, or at least 8 digits of one; `…@sha256:DIGEST` means what was pulled or loaded under
 * that digest, whatever its name. `ret_name`, unless NULL: the name in full, or "". */
int image_store_find(const struct image_store *s, const char *reference, char ret_id[DIGEST_SIZE],
        char ret_name[IMAGE_STORE_NAME_MAX + 1], struct error *err);
/* When it was loaded last. */
time_t image_store_image_time(const struct image_store *s, const char *id);
/* Each name, in the order of their bytes. `see` returns -1 to end it. */
int image_store_each_name(const struct image_store *s,
        int (*see)(void *to, const char *name, const char *id), void *to, struct error *err);

bool is_digest(const char *text);
/* For who works on it: -1, with infra.state and what errno means. */
int image_store_failed(const char *what, struct error *err);

#endif
