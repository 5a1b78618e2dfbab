/* Verifying images; see verify.h. */
#include "image/verify.h"

#include "fd.h"
#include "image/loading.h"
#include "images/messages.h"
#include "interrupt.h"
#include "privilege.h"

#include <fcntl.h>
#include <unistd.h>

/* A layer that was looked at. */
struct verified {
        char diff_id[DIGEST_SIZE];
        char how[sizeof((struct error *)0)->text]; /* it is damaged, or "" */
};

struct verifying {
        struct loading *loading;
        const struct verify_listener *listener;
        int part; /* of the store: its images, or its views */
        struct image_store_layer work;
        struct buffer layers; /* of struct verified */
        bool remove;
        unsigned damaged;
};

static void say_damaged(struct verifying *v, const char *what, const char *how)
{
        v->damaged++;
        v->listener->damaged(v->listener->to, what, how);
}

/* --- a layer -------------------------------------------------------------------------------- */

static int compare_opaque(
        const struct verifying *v, const struct layer_answer *answer, struct error *err)
{
        _cleanup_buffer_ struct buffer kept = BUFFER_INIT;

        if (image_store_get_opaque(&v->loading->store, answer->diff_id, &kept, err) < 0)
                return -1;
        return kept.len == answer->opaque.len &&
                               memcmp(kept.data, answer->opaque.data, kept.len) == 0
                       ? 0
                       : error_set(err, CODE_IMAGE_CORRUPT,
                                 "the list of its opaque directories is another one");
}

static int ask_about(struct verifying *v, const char *diff_id, struct error *err)
{
        struct loading *l = v->loading;
        struct layer_answer answer = {.loading = l, .opaque = BUFFER_INIT, .skeleton = -EBADF};
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int r;

        put_text(&payload, diff_id);
        put_u64(&payload, LAYER_MAX_ENTRIES);
        r = loading_ask(l, l->store.layers, v->work.tree, UNPACK_VERIFY, &payload,
                layer_answer_take, &answer, err);
        if (r == 0 && strcmp(answer.diff_id, diff_id) != 0)
                r = error_set(
                        err, CODE_IMAGE_CORRUPT, "its tar has the digest %.12s", answer.diff_id);
        if (r == 0)
                r = compare_opaque(v, &answer, err);
        buffer_free(&answer.opaque);
        return r;
}

/* Alone, or it stays: cells may use it. */
static int remove_layer(struct verifying *v, const char *diff_id, struct error *err)
{
        struct loading *l = v->loading;
        struct image_store_layer layer;

        if (!image_store_has_layer(&l->store, diff_id))
                return 0;
        if (!image_store_take_out_layer(&l->store, diff_id, &layer))
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: the damaged layer %.12s is in use; try again later",
                        diff_id);
        loading_remove_layer(l, &layer);
        return 0;
}

static const struct verified *find_layer(const struct verifying *v, const char *diff_id)
{
        const struct verified *layer = (const struct verified *)v->layers.data;

        for (size_t n = v->layers.len / sizeof *layer; n > 0; n--, layer++)
                if (strcmp(layer->diff_id, diff_id) == 0)
                        return layer;
        return NULL;
}

/* `ret_how` is valid until the next call. */
static int verify_layer(
        struct verifying *v, const char *diff_id, const char **ret_how, struct error *err)
{
        const struct verified *known = find_layer(v, diff_id);
        struct verified new = {0};

        if (!known) {
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                memcpy(new.diff_id, diff_id, DIGEST_SIZE);
                if (!image_store_has_layer(&v->loading->store, diff_id))
                        snprintf(new.how, sizeof new.how, "is missing");
                else if (ask_about(v, diff_id, err) < 0) {
                        if (err->code != CODE_IMAGE_CORRUPT)
                                return error_add(err, "layer %.12s", diff_id);
                        memcpy(new.how, err->text, sizeof new.how);
                        if (v->remove && remove_layer(v, diff_id, err) < 0)
                                return -1;
                }
                buffer_add(&v->layers, &new, sizeof new);
                if (!buffer_ok(&v->layers))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                known = find_layer(v, diff_id);
        }
        *ret_how = known->how;
        return 0;
}

/* --- an image, or a view of one --------------------------------------------------------------- */

static bool of_view(const struct verifying *v)
{
        return v->part == v->loading->store.views;
}

static int remove_record(struct verifying *v, const char *name, struct error *err)
{
        return v->remove ? image_store_remove_record(v->part, name, err) : 0;
}

/* A document of the record is what its digest says; that of the configuration is the image's id. */
static int check_document(
        const struct buffer *record, const char *id, enum unpack_blob kind, struct error *err)
{
        _cleanup_buffer_ struct buffer document = BUFFER_INIT;
        char told[DIGEST_SIZE], is[DIGEST_SIZE];
        struct sha256_ctx context;
        int found = record_document(record, kind, &document, told);

        if (found < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        sha256_init(&context);
        sha256_update(&context, document.len, document.data);
        digest_text(&context, is);
        if (found > 0 ? strcmp(is, told) != 0 : kind == UNPACK_BLOB_CONFIG)
                return error_set(err, CODE_IMAGE_CORRUPT, "a document of its record is damaged");
        if (kind == UNPACK_BLOB_CONFIG && strcmp(is, id) != 0)
                return error_set(err, CODE_IMAGE_CORRUPT, "its record is that of another image");
        return 0;
}

static int read_record(struct verifying *v, const char *name, struct image *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        const char *id = name;

        *ret = (struct image){0};
        if (image_store_get_record(v->part, name, &record, err) < 0)
                return -1;
        if (record_read(ret, &record, err) < 0) {
                err->code = CODE_IMAGE_CORRUPT;
                return -1;
        }
        if (of_view(v))
                id = ret->id;
        for (int kind = UNPACK_BLOB_MANIFEST; kind <= UNPACK_BLOB_INDEX; kind++)
                if (check_document(&record, id, (enum unpack_blob)kind, err) < 0)
                        return -1;
        return 0;
}

static int verify_layers(
        struct verifying *v, const char *name, const struct image *i, struct error *err)
{
        bool good = true;

        for (unsigned n = 0; n < i->stack_count; n++) {
                const char *how = "";
                char text[sizeof err->text + 32];

                if (verify_layer(v, i->stack[n], &how, err) < 0)
                        return -1;
                if (!*how)
                        continue;
                good = false;
                snprintf(text, sizeof text, "layer %.12s: %s", i->stack[n], how);
                say_damaged(v, name, text);
        }
        if (good && !of_view(v))
                v->listener->good(v->listener->to, name);
        return 0;
}

static int verify_record(void *to, const char *name, struct error *err)
{
        struct verifying *v = to;
        char shown[DIGEST_SIZE + 8];
        struct image image;
        int r = read_record(v, name, &image, err);

        snprintf(shown, sizeof shown, "%s%s", of_view(v) ? "view " : "", name);
        if (r == 0)
                r = verify_layers(v, shown, &image, err);
        else if (err->code == CODE_IMAGE_CORRUPT) {
                say_damaged(v, shown, err->text);
                r = remove_record(v, name, err);
        } else if (!image_store_has_record(v->part, name))
                r = 0;
        image_free(&image);
        return r;
}

static int verify_each(struct verifying *v, int part, struct error *err)
{
        v->part = part;
        return image_store_each(part, verify_record, v, err);
}

/* --- names ---------------------------------------------------------------------------------- */

struct naming {
        struct verifying *v;
        struct error *err;
};

static int verify_name(void *to, const char *name, const char *id)
{
        struct naming *n = to;
        struct image_store *s = &n->v->loading->store;

        if (image_store_has_record(s->images, id))
                return 0;
        say_damaged(n->v, name, "names an image that is not there");
        return n->v->remove && image_store_remove_name(s, name, n->err) < 0 ? -1 : 0;
}

static int verify_names(struct verifying *v, struct error *err)
{
        struct naming n = {v, err};

        return image_store_each_name(&v->loading->store, verify_name, &n, err);
}

/* --- all ------------------------------------------------------------------------------------ */

static int verify_all(struct verifying *v, const char *reference, struct error *err)
{
        struct image_store *s = &v->loading->store;
        char id[DIGEST_SIZE];
        int r;

        if (v->remove && !image_store_be_alone(s))
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: images are being loaded; try again later");
        if (!v->remove)
                image_store_be_among_others(s);
        if (reference && image_store_find(s, reference, id, NULL, err) < 0)
                return -1;
        r = image_store_begin_layer(s, &v->work, err);
        v->part = s->images;
        if (r == 0 && reference)
                r = verify_record(v, id, err);
        else if (r == 0 && verify_each(v, s->images, err) == 0 &&
                 verify_each(v, s->views, err) == 0)
                r = verify_names(v, err);
        else
                r = -1;
        loading_remove_layer(v->loading, &v->work);
        if (r == 0 && v->damaged > 0)
                r = error_set(err, CODE_IMAGE_CORRUPT, "%u %s in the image store", v->damaged,
                        v->damaged == 1 ? "damage" : "damages");
        return r;
}

int verify_images(const char *reference, bool remove, const struct verify_listener *listener,
        struct error *err)
{
        struct loading *l = calloc(1, sizeof *l);
        struct verifying v = {.loading = l,
                .listener = listener,
                .work = IMAGE_STORE_LAYER_INIT,
                .layers = BUFFER_INIT,
                .remove = remove};
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = loading_open(l, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = verify_all(&v, reference, err);
        loading_close(l);
        buffer_free(&v.layers);
        free(l);
        return r;
}
