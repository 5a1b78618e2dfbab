/* The layers of an image as a cell has them, one on the other; see loading.h. A directory that
 * replaces one of lower layers gets a further layer below its own, a mask, which hides what they
 * have in it: overlays have a mark for that, but only for who is root. */
#include "image/loading.h"

#include "fd.h"
#include "images/messages.h"

#include <fcntl.h>
#include <unistd.h>

static const uint64_t layer_entries_max = 1000000, layer_bytes_max = 64ULL << 30;

/* --- one layer ------------------------------------------------------------------------------ */

struct layer_answer {
        const struct loading *loading;
        char digest[DIGEST_SIZE], diff_id[DIGEST_SIZE];
        struct buffer opaque; /* paths, each with its NUL */
};

static int take_layer(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct layer_answer *a = to;
        char path[UNPACK_MAX_PATH + 1];

        switch (type) {
        case UNPACK_OPAQUE:
                get_text(r, path, sizeof path);
                buffer_add(&a->opaque, path, strlen(path) + 1);
                return 0;
        case UNPACK_WARNING:
                loading_warn(a->loading, r);
                return 0;
        case UNPACK_LAYER_DONE:
                get_text(r, a->digest, sizeof a->digest);
                get_text(r, a->diff_id, sizeof a->diff_id);
                get_u64(r);
                get_u64(r);
                return 1;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        }
}

static int unpack_layer(struct loading *l, int input, const struct image_layer *layer, int tree,
        struct layer_answer *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u64(&payload, layer->offset);
        put_u64(&payload, layer->length);
        put_text(&payload, layer->member);
        put_u64(&payload, layer_entries_max);
        put_u64(&payload, layer_bytes_max);
        if (loading_ask(l, input, tree, UNPACK_LAYER, &payload, take_layer, ret, err) < 0)
                return -1;
        if ((*layer->digest && strcmp(layer->digest, ret->digest) != 0) ||
                (*layer->diff_id && strcmp(layer->diff_id, ret->diff_id) != 0))
                return error_set(err, CODE_IMAGE_DIGEST,
                        "a layer is not the one that the image names: %.12s is %.12s",
                        layer->diff_id, ret->diff_id);
        return is_digest(ret->diff_id)
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent no digest");
}

/* Unpack it from `input` into the store, where it is not there yet. */
static int load_layer(struct loading *l, int input, const struct image_layer *layer,
        char ret_diff_id[DIGEST_SIZE], struct error *err)
{
        struct layer_answer answer = {.loading = l, .opaque = BUFFER_INIT};
        struct store_layer new;
        int r = store_begin_layer(&l->store, &new, err);

        if (r == 0)
                r = unpack_layer(l, input, layer, new.tree, &answer, err);
        if (r == 0)
                r = store_keep_layer(&l->store, &new, answer.diff_id, &answer.opaque, err);
        if (new.place >= 0)
                loading_remove_layer(l, &new); /* a failed one, or one that came there meanwhile */
        buffer_free(&answer.opaque);
        memcpy(ret_diff_id, answer.diff_id, DIGEST_SIZE);
        return r < 0 ? -1 : 0;
}

static int load_layers(struct loading *l, const struct image *i, struct error *err)
{
        char diff_id[DIGEST_SIZE];

        for (unsigned n = 0; n < i->layer_count; n++) {
                struct image_layer layer = i->layers[n];

                if (!l->is_directory)
                        layer.member = (char[]){""};
                if (!store_has_layer(&l->store, layer.diff_id) &&
                        load_layer(l, l->input, &layer, diff_id, err) < 0)
                        return error_add(err, "layer %u of %u", n + 1, i->layer_count);
        }
        return 0;
}

/* --- masks ---------------------------------------------------------------------------------- */

static void put_stack(struct buffer *payload, const struct image *i)
{
        put_u32(payload, i->stack_count);
        for (unsigned n = 0; n < i->stack_count; n++)
                put_text(payload, i->stack[n]);
}

static void put_opaque(struct buffer *payload, const struct buffer *opaque)
{
        const char *paths = buffer_text(opaque), *end = paths + opaque->len;
        uint32_t count = 0;

        for (const char *path = paths; path < end; path += strlen(path) + 1)
                count++;
        put_u32(payload, count);
        for (const char *path = paths; path < end; path += strlen(path) + 1) {
                put_u8(payload, 0);
                put_text(payload, path);
        }
}

static int take_hidden(void *to, unsigned type, struct reader *r, struct error *err)
{
        uint64_t *hidden = to;

        if (type != UNPACK_DONE)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        *hidden = get_u64(r);
        *r = reader_of(NULL, 0);
        return 1;
}

static int push(struct image *i, const char *diff_id, struct error *err)
{
        if (i->stack_count == CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "it needs more than %d layers",
                        CELL_MAX_LAYERS);
        memcpy(i->stack[i->stack_count++], diff_id, DIGEST_SIZE);
        return 0;
}

/* As the unpacker wrote it into `tree`. */
static int load_mask(struct loading *l, struct image *i, int tree, struct error *err)
{
        const struct image_layer whole = {.member = (char[]){""}, .length = UINT64_MAX};
        char diff_id[DIGEST_SIZE];
        _cleanup_fd_ int file =
                openat(tree, UNPACK_MASK_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (file < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the image store: a mask");
        return load_layer(l, file, &whole, diff_id, err) < 0 ? -1 : push(i, diff_id, err);
}

/* What must lie below layer `diff_id` for the sake of its opaque directories. */
static int push_mask(struct loading *l, struct image *i, const char *diff_id, struct error *err)
{
        _cleanup_buffer_ struct buffer opaque = BUFFER_INIT, payload = BUFFER_INIT;
        struct store_layer work;
        uint64_t hidden = 0;
        int r = store_get_opaque(&l->store, diff_id, &opaque, err);

        if (r < 0 || opaque.len == 0 || i->stack_count == 0)
                return r;
        put_stack(&payload, i);
        put_opaque(&payload, &opaque);
        if (payload.len > UNPACK_MAX_REQUEST)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "layer %.12s replaces too many directories", diff_id);
        r = store_begin_layer(&l->store, &work, err);
        if (r == 0)
                r = loading_ask(l, l->store.layers, work.tree, UNPACK_MASK, &payload, take_hidden,
                        &hidden, err);
        if (r == 0 && hidden > 0)
                r = load_mask(l, i, work.tree, err);
        loading_remove_layer(l, &work);
        return r;
}

/* Builders repeat a layer that changes nothing; an overlay takes no directory twice. The highest
 * one decides what is seen. */
static bool comes_again(const struct image *i, unsigned n)
{
        for (unsigned above = n + 1; above < i->layer_count; above++)
                if (strcmp(i->layers[above].diff_id, i->layers[n].diff_id) == 0)
                        return true;
        return false;
}

static int push_all(struct loading *l, struct image *i, struct error *err)
{
        for (unsigned n = 0; n < i->layer_count; n++)
                if (!comes_again(i, n) && (push_mask(l, i, i->layers[n].diff_id, err) < 0 ||
                                                  push(i, i->layers[n].diff_id, err) < 0))
                        return -1;
        return 0;
}

/* --- USER ----------------------------------------------------------------------------------- */

static int take_user(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct image *i = to;

        if (type != UNPACK_USER_FOUND)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        i->uid = get_u32(r);
        i->gid = get_u32(r);
        return 1;
}

/* An image whose USER means nobody can be loaded, and run as somebody else. */
static int find_user(struct loading *l, struct image *i, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct store_layer unused;
        int r;

        if (!*i->user)
                return 0;
        put_stack(&payload, i);
        put_text(&payload, i->user);
        r = store_begin_layer(&l->store, &unused, err);
        if (r == 0)
                r = loading_ask(
                        l, l->store.layers, unused.tree, UNPACK_USER, &payload, take_user, i, err);
        store_abandon_layer(&l->store, &unused);
        if (r == 0 || err->code != CODE_IMAGE_UNSUPPORTED)
                return r;
        i->uid = i->gid = IMAGE_NO_USER;
        l->listener->warn(l->listener->to, err->text);
        return 0;
}

/* -------------------------------------------------------------------------------------------- */

/* It was loaded before: what was found out then holds. */
static bool is_there(struct loading *l, struct image *i)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        struct image before = {0};
        struct error unused;
        bool there = store_get_image(&l->store, i->id, &record, &unused) == 0 &&
                     record_read(&before, &record, &unused) == 0;

        for (unsigned n = 0; there && n < before.stack_count; n++)
                there = store_has_layer(&l->store, before.stack[n]);
        if (there) {
                memcpy(i->stack, before.stack, sizeof i->stack);
                i->stack_count = before.stack_count;
                i->uid = before.uid;
                i->gid = before.gid;
        }
        image_free(&before);
        return there;
}

int stack_make(struct loading *l, struct image *i, struct error *err)
{
        if (i->layer_count == 0 || i->layer_count > CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "an image with %u layers: there must be 1 to %d", i->layer_count,
                        CELL_MAX_LAYERS);
        if (is_there(l, i))
                return 0;
        if (load_layers(l, i, err) < 0 || push_all(l, i, err) < 0 || find_user(l, i, err) < 0)
                return -1;
        return 0;
}
