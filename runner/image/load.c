/* From a file with images to the store; see load.h. Everything is read by the unpacker: once for
 * what the images say of themselves, then once for each layer that is not there. */
#include "image/load.h"

#include "beneath.h"
#include "fd.h"
#include "helper.h"
#include "image/record.h"
#include "images/messages.h"
#include "input.h"
#include "interrupt.h"
#include "privilege.h"
#include "workspace.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGES_MAX = 64, DOCUMENTS_MAX = 16 << 20 };

static const uint64_t layer_entries_max = 1000000, layer_bytes_max = 64ULL << 30;

struct loading {
        struct store store;
        struct channel channel;
        int input;
        bool is_directory; /* with a file for each blob */
        struct {
                struct image image;
                struct buffer record;
        } found[IMAGES_MAX];
        unsigned count;
        struct buffer documents; /* raw, of the image that comes next */
};

static const struct helper_question *ask(struct helper_question *q, const struct loading *l,
        int tree, enum unpack_message request, const struct buffer *payload, helper_take take,
        void *to)
{
        *q = (struct helper_question){
                .which = HELPER_UNPACK,
                .mode = HELPER_LAYER,
                .input = l->input,
                .tree = tree,
                .request = request,
                .payload = payload,
                .error_type = UNPACK_ERROR,
                .blamed = CLASS_INFRA,
                .too_slow = CODE_IMAGE_TOO_LARGE,
                .patience = 3600,
                .take = take,
                .to = to,
        };
        return q;
}

/* --- what the file says --------------------------------------------------------------------- */

static int take_image(struct loading *l, struct reader *r, struct error *err)
{
        struct reader copy = *r;

        if (l->count == IMAGES_MAX)
                return error_set(
                        err, CODE_IMAGE_INVALID, "the file holds more than %d images", IMAGES_MAX);
        l->count++;
        if (image_decode(&l->found[l->count - 1].image, r) < 0)
                return 0; /* refused for what is bad in it */
        record_write(&l->found[l->count - 1].record, copy.at, copy.left, &l->documents);
        buffer_clear(&l->documents);
        return buffer_ok(&l->found[l->count - 1].record)
                       ? 0
                       : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int take_said(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct loading *l = to;

        switch (type) {
        case UNPACK_BLOB:
                if (l->documents.len + r->left > DOCUMENTS_MAX)
                        return error_set(err, CODE_IMAGE_INVALID, "its documents are too large");
                buffer_add(&l->documents, r->at, r->left);
                *r = reader_of(NULL, 0);
                return 0;
        case UNPACK_IMAGE_FOUND:
                return take_image(l, r, err);
        case UNPACK_WARNING:
                *r = reader_of(NULL, 0);
                return 0;
        case UNPACK_IMAGES_DONE:
                return get_u32(r) == l->count ? 1 : -1;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        }
}

/* As images call it. */
#ifdef __aarch64__
static const char architecture[] = "arm64";
#else
static const char architecture[] = "amd64";
#endif

static int read_file(struct loading *l, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct store_layer unused;
        struct helper_question q;
        int r;

        put_text(&payload, architecture);
        put_text(&payload, "");
        r = store_begin_layer(&l->store, &unused, err);
        if (r == 0)
                r = helper_ask(&l->channel,
                        ask(&q, l, unused.tree, UNPACK_IMAGE, &payload, take_said, l), err);
        store_abandon_layer(&l->store, &unused);
        return r;
}

/* --- its layers ----------------------------------------------------------------------------- */

struct layer_answer {
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
                *r = reader_of(NULL, 0);
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

static int unpack_layer(struct loading *l, const struct image_layer *layer, int tree,
        struct layer_answer *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct helper_question q;

        put_u64(&payload, layer->offset);
        put_u64(&payload, layer->length);
        put_text(&payload, l->is_directory ? layer->member : "");
        put_u64(&payload, layer_entries_max);
        put_u64(&payload, layer_bytes_max);
        if (helper_ask(&l->channel, ask(&q, l, tree, UNPACK_LAYER, &payload, take_layer, ret),
                    err) < 0)
                return -1;
        if ((*layer->digest && strcmp(layer->digest, ret->digest) != 0) ||
                strcmp(layer->diff_id, ret->diff_id) != 0)
                return error_set(err, CODE_IMAGE_DIGEST,
                        "a layer is not the one that the image names: %.12s is %.12s",
                        layer->diff_id, ret->diff_id);
        return 0;
}

/* false: something is left of it, for the next who tidies up. */
static bool remove_layer(struct loading *l, struct store_layer *layer)
{
        bool empty = layer->tree < 0 ||
                     workspace_empty(layer->tree, HELPER_LAYER, &l->channel, NULL) == 0;

        store_abandon_layer(&l->store, layer);
        return empty;
}

static int load_layer(struct loading *l, const struct image_layer *layer, struct error *err)
{
        struct layer_answer answer = {.opaque = BUFFER_INIT};
        struct store_layer new;
        int r = store_begin_layer(&l->store, &new, err);

        if (r == 0)
                r = unpack_layer(l, layer, new.tree, &answer, err);
        if (r == 0)
                r = store_keep_layer(&l->store, &new, layer->diff_id, &answer.opaque, err);
        if (new.place >= 0)
                remove_layer(l, &new); /* a failed one, or one that somebody else has loaded */
        buffer_free(&answer.opaque);
        return r < 0 ? -1 : 0;
}

/* An opaque directory hides what lower layers have in it. Overlays are not told so yet: where there
 * is something to hide, the image is refused. */
static int check_opaque(struct loading *l, const struct image *i, unsigned n, struct error *err)
{
        _cleanup_buffer_ struct buffer opaque = BUFFER_INIT;
        int r = store_get_opaque(&l->store, i->layers[n].diff_id, &opaque, err);

        for (const char *path = buffer_text(&opaque), *end = path + opaque.len;
                r == 0 && path < end; path += strlen(path) + 1)
                for (unsigned below = 0; r == 0 && below < n; below++) {
                        if (interrupt_came())
                                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                        _cleanup_fd_ int tree =
                                store_open_layer(&l->store, i->layers[below].diff_id, err);
                        _cleanup_fd_ int hidden = tree < 0 ? -1
                                                           : beneath_open(tree, *path ? path : ".",
                                                                     O_PATH | O_DIRECTORY, 0);

                        if (tree < 0)
                                r = -1;
                        else if (hidden >= 0 || errno == EACCES)
                                r = error_set(err, CODE_IMAGE_UNSUPPORTED,
                                        "layer %u replaces the whole directory %.200s", n + 1,
                                        *path ? path : "/");
                }
        return r;
}

static int load_image(struct loading *l, const struct image *i, const struct buffer *record,
        const struct load_options *options, struct error *err)
{
        if (i->layer_count == 0 || i->layer_count > CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "an image with %u layers: there must be 1 to %d", i->layer_count,
                        CELL_MAX_LAYERS);
        for (char **name = i->names; *name; name++)
                if (store_check_name(*name, err) < 0)
                        return -1;
        for (unsigned n = 0; n < i->layer_count; n++)
                if (!store_has_layer(&l->store, i->layers[n].diff_id) &&
                        load_layer(l, &i->layers[n], err) < 0)
                        return error_add(err, "layer %u of %u", n + 1, i->layer_count);
        for (unsigned n = 1; n < i->layer_count; n++)
                if (check_opaque(l, i, n, err) < 0)
                        return -1;
        if (store_put_image(&l->store, i->id, record, err) < 0)
                return -1;
        for (char **name = i->names; *name; name++)
                if (store_put_name(&l->store, *name, i->id, err) < 0)
                        return -1;
        return options->name ? store_put_name(&l->store, options->name, i->id, err) : 0;
}

/* --- what is not needed any more ------------------------------------------------------------ */

/* What loads that were killed left behind. Only for who is alone. */
static void sweep(struct loading *l)
{
        int fd = openat(l->store.incoming, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        struct store_layer left;

        if (!dir) {
                fd_close(fd);
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                if (store_open_left(&l->store, entry->d_name, &left))
                        remove_layer(l, &left);
                else if (entry->d_name[0] != '.')
                        unlinkat(l->store.incoming, entry->d_name, 0);
        closedir(dir);
}

struct garbage {
        struct loading *loading;
        struct buffer used; /* the layers of all images, each a digest with its NUL */
        unsigned removed;
};

static int note_image(void *to, const char *id, struct error *err)
{
        struct garbage *g = to;
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        struct image image;
        int r = store_get_image(&g->loading->store, id, &record, err);

        if (r < 0)
                return -1;
        r = record_read(&image, &record, err);
        for (unsigned n = 0; r == 0 && n < image.layer_count; n++)
                buffer_add(&g->used, image.layers[n].diff_id, DIGEST_SIZE);
        image_free(&image);
        return r;
}

static int remove_unused(void *to, const char *diff_id, struct error *err)
{
        struct garbage *g = to;
        struct store_layer layer;

        if (!buffer_ok(&g->used))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (size_t at = 0; at < g->used.len; at += DIGEST_SIZE)
                if (memcmp(g->used.data + at, diff_id, DIGEST_SIZE) == 0)
                        return 0;
        if (interrupt_came())
                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        if (store_take_out_layer(&g->loading->store, diff_id, &layer))
                g->removed += remove_layer(g->loading, &layer);
        return 0;
}

static int collect_garbage(struct loading *l, unsigned *ret_layers, struct error *err)
{
        struct garbage g = {.loading = l, .used = BUFFER_INIT};
        int r;

        if (!store_be_alone(&l->store))
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: images are being loaded; try again later");
        sweep(l);
        r = store_each(l->store.images, note_image, &g, err);
        if (r == 0)
                r = store_each(l->store.layers, remove_unused, &g, err);
        buffer_free(&g.used);
        *ret_layers = g.removed;
        return r;
}

/* --- all ------------------------------------------------------------------------------------ */

static int open_store(struct loading *l, struct error *err)
{
        uid_t uid;
        gid_t gid;

        l->store = (struct store)STORE_INIT;
        l->channel = (struct channel)CHANNEL_INIT;
        interrupt_hold();
        umask(022);
        privilege_ids(&uid, &gid);
        if (channel_open(&l->channel, err) < 0 || store_open(&l->store, err) < 0)
                return -1;
        return geteuid() == 0 ? channel_name_owner(&l->channel, uid, err) : 0;
}

static int load_all(struct loading *l, const struct load_options *options, load_see see, void *to,
        struct error *err)
{
        if (store_be_alone(&l->store))
                sweep(l);
        store_be_among_others(&l->store);
        if (read_file(l, err) < 0)
                return -1;
        if (options->name && l->count > 1)
                return error_set(err, CODE_USAGE, "--name: the file holds %u images", l->count);
        for (unsigned n = 0; n < l->count; n++) {
                const struct image *i = &l->found[n].image;

                if (load_image(l, i, &l->found[n].record, options, err) < 0)
                        return -1;
                see(to, i->id, (const char *const *)i->names);
        }
        return 0;
}

static int open_input(struct loading *l, const char *path, struct error *err)
{
        struct stat st;

        l->input = input_open(path);
        if (l->input < 0 || fstat(l->input, &st) < 0)
                return error_errno(err, CODE_IMAGE_NOT_FOUND, errno, "%s", path);
        l->is_directory = S_ISDIR(st.st_mode);
        if (l->is_directory)
                return channel_trust_tree(&l->channel, l->input, err);
        return S_ISREG(st.st_mode)
                       ? 0
                       : error_set(err, CODE_IMAGE_NOT_FOUND, "%s: not a file or directory", path);
}

int load_images(const char *path, const struct load_options *options, load_see see, void *to,
        struct error *err)
{
        struct loading *l = calloc(1, sizeof *l);
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        l->input = -EBADF;
        r = open_store(l, err);
        if (r == 0 && options->name)
                r = store_check_name(options->name, err);
        if (r == 0)
                r = open_input(l, path, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = load_all(l, options, see, to, err);
        for (unsigned n = 0; n < l->count; n++) {
                image_free(&l->found[n].image);
                buffer_free(&l->found[n].record);
        }
        buffer_free(&l->documents);
        channel_close(&l->channel);
        store_close(&l->store);
        fd_close(l->input);
        free(l);
        return r;
}

int load_collect_garbage(unsigned *ret_layers, struct error *err)
{
        struct loading *l = calloc(1, sizeof *l);
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = open_store(l, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = collect_garbage(l, ret_layers, err);
        channel_close(&l->channel);
        store_close(&l->store);
        free(l);
        return r;
}
