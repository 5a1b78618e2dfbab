/* From a file with images to the store; see load.h. Everything is read by the unpacker: once for
 * what the images say of themselves, then once for each layer that is not there. */
#include "image/loading.h"

#include "fd.h"
#include "image/reference.h"
#include "images/messages.h"
#include "input.h"
#include "interrupt.h"
#include "privilege.h"
#include "text.h"
#include "workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DOCUMENTS_MAX = 16 << 20 };

static const uint64_t expanded_max = 64ULL << 30;

void loading_question(struct helper_question *ret, int input, int tree, unsigned request,
        const struct buffer *payload, helper_take take, void *to)
{
        *ret = (struct helper_question){
                .which = HELPER_UNPACK,
                .mode = HELPER_LAYER,
                .input = input,
                .tree = tree,
                .request = request,
                .payload = payload,
                .error_type = UNPACK_ERROR,
                .blamed = 1U << CLASS_INFRA,
                .too_slow = CODE_IMAGE_TOO_LARGE,
                .patience = 3600,
                .most = UNPACK_MAX_SKELETON + (128 << 20),
                .take = take,
                .to = to,
        };
}

int loading_ask(struct loading *l, int input, int tree, unsigned request,
        const struct buffer *payload, helper_take take, void *to, struct error *err)
{
        struct helper_question q;

        loading_question(&q, input, tree, request, payload, take, to);
        return helper_ask(l->channel, &q, err);
}

void loading_warn(const struct loading *l, struct reader *r)
{
        char *field = get_new_text(r, UNPACK_MAX_PATH);
        char *message = get_new_text(r, UNPACK_MAX_PATH);
        char raw[1024], text[sizeof raw];

        if (message) {
                snprintf(raw, sizeof raw, "%s%s%s", field, *field ? ": " : "", message);
                text_escape(text, sizeof text, raw, strlen(raw));
                l->listener->warn(l->listener->to, text);
        }
        free(field);
        free(message);
}

/* --- what the file says --------------------------------------------------------------------- */

static int take_image(struct loading *l, struct reader *r, struct error *err)
{
        struct reader copy = *r;
        struct buffer *said;

        if (l->count == LOADING_MAX_IMAGES)
                return error_set(err, CODE_IMAGE_INVALID, "the file holds more than %d images",
                        LOADING_MAX_IMAGES);
        said = &l->found[l->count].said;
        *said = (struct buffer)BUFFER_INIT;
        l->count++;
        if (image_decode(&l->found[l->count - 1].image, r) < 0)
                return 0; /* refused for what is bad in it */
        buffer_add(said, copy.at, copy.left);
        buffer_add(said, l->documents.data, l->documents.len);
        buffer_clear(&l->documents);
        return buffer_ok(said) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
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
                loading_warn(l, r);
                return 0;
        case UNPACK_IMAGES_DONE:
                return get_u32(r) == l->count && l->count > 0 ? 1 : -1;
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

static int ask_file(struct loading *l, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct image_store_layer unused;
        int r;

        put_text(&payload, architecture);
        put_text(&payload, "");
        r = image_store_begin_layer(&l->store, &unused, err);
        if (r == 0)
                r = loading_ask(
                        l, l->input, unused.tree, UNPACK_IMAGE, &payload, take_said, l, err);
        image_store_abandon_layer(&l->store, &unused);
        return r;
}

static int take_expanded(void *to, unsigned type, struct reader *r, struct error *err)
{
        (void)to;
        if (type != UNPACK_DONE)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        *r = reader_of(NULL, 0);
        return 1;
}

/* What is compressed as a whole becomes a file on the disk, since it is read more than once. */
static int expand(struct loading *l, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int file;

        put_u64(&payload, expanded_max);
        if (image_store_begin_layer(&l->store, &l->expanded, err) < 0 ||
                loading_ask(l, l->input, l->expanded.tree, UNPACK_EXPAND, &payload, take_expanded,
                        NULL, err) < 0)
                return -1;
        file = openat(l->expanded.tree, UNPACK_EXPANDED_FILE,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the decompressed file");
        fd_close(l->input);
        l->input = file;
        return 0;
}

static int read_file(struct loading *l, struct error *err)
{
        if (!l->is_directory && input_keep(&l->input, l->store.incoming, err) < 0)
                return -1;
        if (ask_file(l, err) == 0)
                return 0;
        if (err->code != CODE_IMAGE_COMPRESSED || expand(l, err) < 0)
                return -1;
        return ask_file(l, err);
}

/* --- an image ------------------------------------------------------------------------------- */

bool loading_remove_layer(struct loading *l, struct image_store_layer *layer)
{
        bool empty = layer->tree < 0 ||
                     workspace_empty(layer->tree, HELPER_LAYER, l->channel, NULL) == 0;

        image_store_abandon_layer(&l->store, layer);
        return empty;
}

static bool has_ref_digest(const struct image_store *s, const char *id)
{
        struct image image;
        bool has = record_open(&image, s->images, id, NULL) == 0 && *image.ref_digest &&
                   stack_is_there(s, &image);

        image_free(&image);
        return has;
}

static int keep_image(
        struct loading *l, const struct image *i, const struct buffer *said, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;

        /* Some files do not tell the digest that others pin the image by: it stays. */
        if (!*i->ref_digest && has_ref_digest(&l->store, i->id))
                return 0;
        record_write(&record, i, said);
        if (!buffer_ok(&record))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return image_store_put_record(&l->store, l->store.images, i->id, &record, err);
}

/* A name with a digest stands for what has it, whoever gives it. */
static int check_name(const struct image *i, const char *name, struct error *err)
{
        const char *digest = reference_digest(name);

        if (digest && strcmp(digest, i->ref_digest) != 0)
                return error_set(err, CODE_IMAGE_INVALID,
                        "%.200s: a name with the digest of another image", name);
        return image_store_check_name(name, err);
}

static int load_image(
        struct loading *l, struct image *i, const struct buffer *said, struct error *err)
{
        int r;

        for (char **name = i->names; *name; name++)
                if (check_name(i, *name, err) < 0)
                        return -1;
        if (stack_make(l, i, err) < 0)
                return -1;
        image_store_lock_names(&l->store);
        r = keep_image(l, i, said, err);
        for (char **name = i->names; r == 0 && *name; name++)
                r = image_store_put_name(&l->store, *name, i->id, err);
        image_store_unlock_names(&l->store);
        return r;
}

/* --- what is not needed any more ------------------------------------------------------------ */

/* What loads that were killed left behind. Only for who is alone. */
static void sweep(struct loading *l)
{
        int fd = openat(l->store.incoming, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        struct image_store_layer left;

        if (!dir) {
                fd_close(fd);
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                if (image_store_open_left(&l->store, entry->d_name, &left))
                        loading_remove_layer(l, &left);
                else if (entry->d_name[0] != '.')
                        unlinkat(l->store.incoming, entry->d_name, 0);
        closedir(dir);
}

struct garbage {
        struct loading *loading;
        struct buffer used; /* the layers of all images, each a digest with its NUL */
        unsigned removed;
};

static int note_stack(struct garbage *g, int part, const char *name, struct error *err)
{
        struct image image;
        int r = record_open(&image, part, name, err);

        if (r == 0)
                buffer_add(&g->used, image.stack, image.stack_count * sizeof *image.stack);
        image_free(&image);
        return r < 0 && !image_store_has_record(part, name) ? 0 : r;
}

static int note_image(void *to, const char *id, struct error *err)
{
        struct garbage *g = to;

        return note_stack(g, g->loading->store.images, id, err);
}

/* Of an image that is gone, or of another version: it would be made anew. */
static bool is_left_over(const struct image_store *s, const char *key)
{
        struct image image;
        bool left = record_open(&image, s->views, key, NULL) < 0 ||
                    !image_store_has_record(s->images, image.id);

        image_free(&image);
        return left;
}

static int note_view(void *to, const char *key, struct error *err)
{
        struct garbage *g = to;
        const struct image_store *s = &g->loading->store;

        return is_left_over(s, key) ? image_store_remove_record(s->views, key, err)
                                    : note_stack(g, s->views, key, err);
}

static int remove_unused(void *to, const char *diff_id, struct error *err)
{
        struct garbage *g = to;
        struct image_store_layer layer;

        if (!buffer_ok(&g->used))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (size_t at = 0; at < g->used.len; at += DIGEST_SIZE)
                if (memcmp(g->used.data + at, diff_id, DIGEST_SIZE) == 0)
                        return 0;
        if (interrupt_came())
                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        if (image_store_take_out_layer(&g->loading->store, diff_id, &layer))
                g->removed += loading_remove_layer(g->loading, &layer);
        return 0;
}

static int collect_garbage(struct loading *l, unsigned *ret_layers, struct error *err)
{
        struct garbage g = {.loading = l, .used = BUFFER_INIT};
        int r;

        if (!image_store_be_alone(&l->store))
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: images are being loaded; try again later");
        sweep(l);
        r = image_store_each(l->store.images, note_image, &g, err);
        if (r == 0)
                r = image_store_each(l->store.views, note_view, &g, err);
        if (r == 0)
                r = image_store_each(l->store.layers, remove_unused, &g, err);
        buffer_free(&g.used);
        *ret_layers = g.removed;
        return r;
}

/* --- all ------------------------------------------------------------------------------------ */

int loading_open(struct loading *l, struct error *err)
{
        uid_t uid;
        gid_t gid;

        l->store = (struct image_store)IMAGE_STORE_INIT;
        l->own = (struct channel)CHANNEL_INIT;
        l->channel = &l->own;
        l->pulled = (struct image_store_layer)IMAGE_STORE_LAYER_INIT;
        l->expanded = (struct image_store_layer)IMAGE_STORE_LAYER_INIT;
        interrupt_hold();
        umask(022);
        privilege_ids(&uid, &gid);
        if (channel_open(l->channel, err) < 0 || image_store_open(&l->store, err) < 0)
                return -1;
        image_store_take_in_left(&l->store);
        return geteuid() == 0 ? channel_name_owner(l->channel, uid, err) : 0;
}

void loading_close(struct loading *l)
{
        channel_close(&l->own);
        image_store_close(&l->store);
}

/* Names that do not come from the file. */
static int add_names(struct loading *l, const struct load_options *o, struct error *err)
{
        struct image *i = &l->found[0].image;

        if (o->name && l->count > 1)
                return error_set(err, CODE_USAGE, "--name: the file holds %u images", l->count);
        if (o->fetched && image_add_name(i, o->fetched, err) < 0)
                return -1;
        return o->name ? image_add_name(i, o->name, err) : 0;
}

static int load_all(struct loading *l, const struct load_options *options, struct error *err)
{
        if (image_store_be_alone(&l->store))
                sweep(l);
        image_store_be_among_others(&l->store);
        if (read_file(l, err) < 0 || add_names(l, options, err) < 0)
                return -1;
        for (unsigned n = 0; n < l->count; n++) {
                struct image *i = &l->found[n].image;

                if (load_image(l, i, &l->found[n].said, err) < 0)
                        return -1;
                l->listener->loaded(l->listener->to, i->id, (const char *const *)i->names);
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
                return channel_trust_tree(l->channel, l->input, err);
        return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)
                       ? 0
                       : error_set(err, CODE_IMAGE_NOT_FOUND, "%s: not a file or directory", path);
}

static int fetch_input(struct loading *l, const struct load_options *o, struct error *err)
{
        int r = image_store_begin_pull(&l->store, &l->pulled, err);

        if (r == 0)
                r = o->fetch(o->fetch_to, l->pulled.place, err);
        if (*l->pulled.name &&
                image_store_take_in_pull(&l->store, &l->pulled, r < 0 ? NULL : err) < 0)
                r = -1;
        if (r < 0)
                return -1;
        l->is_directory = true;
        l->input = openat(l->pulled.place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return l->input < 0 ? error_errno(err, CODE_INFRA_STATE, errno, "a pull") : 0;
}

/* Before anything is fetched: could they be given? */
static int check_names(const struct load_options *o, struct error *err)
{
        if (o->name && image_store_check_name(o->name, err) < 0)
                return -1;
        return o->fetched ? image_store_check_name(o->fetched, err) : 0;
}

int load_images(const char *path, const struct load_options *options,
        const struct load_listener *listener, struct error *err)
{
        struct loading *l = calloc(1, sizeof *l);
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        l->input = -EBADF;
        l->listener = listener;
        r = loading_open(l, err);
        if (r == 0)
                r = check_names(options, err);
        if (r == 0)
                r = path ? open_input(l, path, err) : fetch_input(l, options, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = load_all(l, options, err);
        for (unsigned n = 0; n < l->count; n++) {
                image_free(&l->found[n].image);
                buffer_free(&l->found[n].said);
        }
        buffer_free(&l->documents);
        image_store_abandon_layer(&l->store, &l->pulled);
        if (l->expanded.place >= 0)
                loading_remove_layer(l, &l->expanded);
        loading_close(l);
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
        r = loading_open(l, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = collect_garbage(l, ret_layers, err);
        loading_close(l);
        free(l);
        return r;
}
