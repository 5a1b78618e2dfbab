/* What those share who ask the unpacker about layers: load.c, stack.c, verify.c and export.c. */
#ifndef ASSAY_IMAGE_LOADING_H
#define ASSAY_IMAGE_LOADING_H

#include "channel.h"
#include "helper.h"
#include "image/load.h"
#include "image/record.h"
#include "image/store.h"

enum { LOADING_MAX_IMAGES = 64 };

struct loading {
        const struct load_listener *listener;
        struct image_store store;
        struct channel *channel; /* `own`, unless an evaluation lends its */
        struct channel own;
        int input;
        bool is_directory;                 /* with a file for each blob */
        struct image_store_layer pulled;   /* that directory, when it was fetched */
        struct image_store_layer expanded; /* where a file that was compressed lies decompressed */
        struct {
                struct image image;
                struct buffer said; /* as the unpacker said it, and its documents */
        } found[LOADING_MAX_IMAGES];
        unsigned count;
        struct buffer documents; /* raw, of the image that comes next */
};

/* Open the store, and start the supervisor, with the caller's rights. To be closed in any case. */
int loading_open(struct loading *l, struct error *err);
void loading_close(struct loading *l);
/* A question to the unpacker about `input`, or to fill `tree`. */
void loading_question(struct helper_question *ret, int input, int tree, unsigned request,
        const struct buffer *payload, helper_take take, void *to);
int loading_ask(struct loading *l, int input, int tree, unsigned request,
        const struct buffer *payload, helper_take take, void *to, struct error *err);
/* UNPACK_WARNING, to the listener. */
void loading_warn(const struct loading *l, struct reader *r);
/* Remove a layer that is not to be. false: something is left of it, for who tidies up next. */
bool loading_remove_layer(struct loading *l, struct image_store_layer *layer);

/* stack.c: what the unpacker says of a layer. */
struct layer_answer {
        const struct loading *loading;
        char digest[DIGEST_SIZE], diff_id[DIGEST_SIZE];
        uint64_t bytes;
        struct buffer opaque; /* paths, each with its NUL */
        int skeleton;         /* the file that it goes to, or -EBADF */
};
int layer_answer_take(void *to, unsigned type, struct reader *r, struct error *err);
/* The most names that a layer may have. */
#define LAYER_MAX_ENTRIES 1000000

/* stack.c: bring the layers of an image into the store, and find out what a cell is to have of
 * them: `i->stack`, uid and gid. */
int stack_make(struct loading *l, struct image *i, struct error *err);
/* Its parts: all layers, which are in the store; a mask that hides what `hiding` says, as
 * UNPACK_MASK has it behind the layers; is all of `i->stack` in the store? */
int stack_push_layers(struct loading *l, struct image *i, struct error *err);
int stack_push_mask(
        struct loading *l, struct image *i, const struct buffer *hiding, struct error *err);
bool stack_is_there(const struct image_store *s, const struct image *i);
/* `i->stack` as requests have it. */
void stack_put(struct buffer *payload, const struct image *i);

#endif
