/* Exporting images; see export.h. The unpacker writes the tar of each layer (UNPACK_TAR) into a
 * directory of the store, from where it is copied: so the store needs room for one of them. */
#include "image/export.h"

#include "fd.h"
#include "image/loading.h"
#include "images/messages.h"
#include "images/tar_write.h"
#include "interrupt.h"
#include "output.h"
#include "privilege.h"
#include "report/json.h"

#include <fcntl.h>
#include <unistd.h>

#define MEDIA "application/vnd.oci.image."

struct exporting {
        struct loading *loading;
        struct image image;
        struct buffer config;
        struct tar_writer tar;
        uint64_t sizes[CELL_MAX_LAYERS]; /* of the layers */
};

struct blob_name {
        char text[sizeof "blobs/sha256/" + DIGEST_SIZE];
};

static struct blob_name blob_name(const char *digest)
{
        struct blob_name name;

        snprintf(name.text, sizeof name.text, "blobs/sha256/%s", digest);
        return name;
}

static int add_document(
        struct exporting *e, const char *path, const struct buffer *b, struct error *err)
{
        if (!buffer_ok(b))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return tar_write_file(&e->tar, path, b->len, err) < 0 ||
                               tar_write_bytes(&e->tar, b->data, b->len, err) < 0
                       ? -1
                       : tar_write_padding(&e->tar, b->len, err);
}

/* --- layers --------------------------------------------------------------------------------- */

static int copy(struct exporting *e, int from, uint64_t size, struct error *err)
{
        static unsigned char some[256 << 10];

        for (uint64_t left = size; left > 0;) {
                size_t most = left < sizeof some ? (size_t)left : sizeof some;
                ssize_t n = read(from, some, most);

                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (n <= 0)
                        return error_errno(err, CODE_INFRA_IO, n < 0 ? errno : EIO, "a layer");
                if (tar_write_bytes(&e->tar, some, (size_t)n, err) < 0)
                        return -1;
                left -= (uint64_t)n;
        }
        return tar_write_padding(&e->tar, size, err);
}

static int rebuild(
        struct exporting *e, int tree, const char *diff_id, uint64_t *ret_size, struct error *err)
{
        struct loading *l = e->loading;
        struct layer_answer answer = {.loading = l, .opaque = BUFFER_INIT, .skeleton = -EBADF};
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_text(&payload, diff_id);
        if (loading_ask(l, l->store.layers, tree, UNPACK_TAR, &payload, layer_answer_take, &answer,
                    err) < 0)
                return -1;
        buffer_free(&answer.opaque);
        *ret_size = answer.bytes;
        return strcmp(answer.diff_id, diff_id) == 0
                       ? 0
                       : error_set(err, CODE_IMAGE_CORRUPT, "its tar has the digest %.12s",
                                 answer.diff_id);
}

static int add_layer(
        struct exporting *e, int tree, const char *diff_id, uint64_t *ret_size, struct error *err)
{
        _cleanup_fd_ int file = -EBADF;

        if (rebuild(e, tree, diff_id, ret_size, err) < 0)
                return -1;
        file = openat(tree, UNPACK_TAR_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the image store: a layer");
        if (tar_write_file(&e->tar, blob_name(diff_id).text, *ret_size, err) < 0)
                return -1;
        return copy(e, file, *ret_size, err);
}

/* The number of the first layer that is the same. */
static unsigned first_same(const struct image *i, unsigned n)
{
        unsigned first = 0;

        while (strcmp(i->layers[first].diff_id, i->layers[n].diff_id) != 0)
                first++;
        return first;
}

static int add_layers(struct exporting *e, struct error *err)
{
        struct image_store *s = &e->loading->store;

        if (e->image.layer_count > CELL_MAX_LAYERS)
                return error_set(err, CODE_INFRA_STATE, "the image store: a record is damaged");
        for (unsigned n = 0; n < e->image.layer_count; n++) {
                const char *diff_id = e->image.layers[n].diff_id;
                unsigned first = first_same(&e->image, n);
                struct image_store_layer work;
                int r;

                e->sizes[n] = e->sizes[first];
                if (first < n)
                        continue;
                r = image_store_begin_layer(s, &work, err);
                if (r == 0)
                        r = add_layer(e, work.tree, diff_id, &e->sizes[n], err);
                loading_remove_layer(e->loading, &work);
                if (r < 0)
                        return error_add(err, "layer %.12s", diff_id);
        }
        return 0;
}

/* --- documents ------------------------------------------------------------------------------ */

/* An object that names a blob; left open. */
static void json_descriptor(struct json_writer *w, const char *key, const char *media,
        const char *digest, uint64_t size)
{
        char named[sizeof "sha256:" + DIGEST_SIZE];

        snprintf(named, sizeof named, "sha256:%s", digest);
        json_open_object(w, key);
        json_text(w, "mediaType", media);
        json_text(w, "digest", named);
        json_number(w, "size", size);
}

static int add_manifest(
        struct exporting *e, struct buffer *ret, char ret_digest[DIGEST_SIZE], struct error *err)
{
        struct json_writer w = {.out = ret};
        struct sha256_ctx context;

        json_open_object(&w, NULL);
        json_number(&w, "schemaVersion", 2);
        json_text(&w, "mediaType", MEDIA "manifest.v1+json");
        json_descriptor(&w, "config", MEDIA "config.v1+json", e->image.id, e->config.len);
        json_close(&w);
        json_open_array(&w, "layers");
        for (unsigned n = 0; n < e->image.layer_count; n++) {
                json_descriptor(
                        &w, NULL, MEDIA "layer.v1.tar", e->image.layers[n].diff_id, e->sizes[n]);
                json_close(&w);
        }
        json_close(&w);
        json_close(&w);
        sha256_init(&context);
        sha256_update(&context, ret->len, ret->data);
        digest_text(&context, ret_digest);
        return add_document(e, blob_name(ret_digest).text, ret, err);
}

struct naming {
        struct json_writer w;
        const char *id, *digest;
        uint64_t size;
        unsigned count;
};

/* One entry of the index for each name that the image has now. */
static int put_name(void *to, const char *name, const char *id)
{
        struct naming *n = to;

        if (strcmp(id, n->id) != 0)
                return 0;
        n->count++;
        json_descriptor(&n->w, NULL, MEDIA "manifest.v1+json", n->digest, n->size);
        if (name) {
                json_open_object(&n->w, "annotations");
                json_text(&n->w, "org.opencontainers.image.ref.name", name);
                json_close(&n->w);
        }
        json_close(&n->w);
        return 0;
}

static int add_index(struct exporting *e, const char *digest, uint64_t size, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct naming n = {.w = {.out = &b}, .id = e->image.id, .digest = digest, .size = size};

        json_open_object(&n.w, NULL);
        json_number(&n.w, "schemaVersion", 2);
        json_open_array(&n.w, "manifests");
        if (image_store_each_name(&e->loading->store, put_name, &n, err) < 0)
                return -1;
        if (n.count == 0)
                put_name(&n, NULL, e->image.id);
        json_close(&n.w);
        json_close(&n.w);
        return add_document(e, "index.json", &b, err);
}

/* What a docker-archive can call an image. */
static bool has_tag(const char *name)
{
        const char *slash = strrchr(name, '/');

        return strchr(slash ? slash : name, ':') && !strchr(name, '@');
}

static int put_tag(void *to, const char *name, const char *id)
{
        struct naming *n = to;

        if (strcmp(id, n->id) == 0 && has_tag(name))
                json_text(&n->w, NULL, name);
        return 0;
}

/* The same for those who read docker-archives alone, or an OCI archive only with one name. */
static int add_docker_manifest(struct exporting *e, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct naming n = {.w = {.out = &b}, .id = e->image.id};

        json_open_array(&n.w, NULL);
        json_open_object(&n.w, NULL);
        json_text(&n.w, "Config", blob_name(e->image.id).text);
        json_open_array(&n.w, "RepoTags");
        if (image_store_each_name(&e->loading->store, put_tag, &n, err) < 0)
                return -1;
        json_close(&n.w);
        json_open_array(&n.w, "Layers");
        for (unsigned i = 0; i < e->image.layer_count; i++)
                json_text(&n.w, NULL, blob_name(e->image.layers[i].diff_id).text);
        json_close(&n.w);
        json_close(&n.w);
        json_close(&n.w);
        return add_document(e, "manifest.json", &b, err);
}

static int add_layout(struct exporting *e, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        buffer_add_text(&b, "{\"imageLayoutVersion\": \"1.0.0\"}\n");
        return add_document(e, "oci-layout", &b, err);
}

/* Where they are missing, skopeo makes them as root's, which it may not as an ordinary user. */
static int add_folders(struct exporting *e, struct error *err)
{
        static const struct stat folder = {.st_mode = S_IFDIR | 0755};

        return tar_write_entry(&e->tar, "blobs", &folder, err) < 0
                       ? -1
                       : tar_write_entry(&e->tar, "blobs/sha256", &folder, err);
}

/* --- all ------------------------------------------------------------------------------------ */

static int find_image(struct exporting *e, const char *reference, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        struct image_store *s = &e->loading->store;
        char id[DIGEST_SIZE], digest[DIGEST_SIZE];

        if (image_store_find(s, reference, id, NULL, err) < 0 ||
                image_store_get_record(s->images, id, &record, err) < 0 ||
                record_read(&e->image, &record, err) < 0)
                return -1;
        return record_document(&record, UNPACK_BLOB_CONFIG, &e->config, digest) > 0 &&
                               strcmp(digest, e->image.id) == 0
                       ? 0
                       : error_set(err, CODE_IMAGE_CORRUPT, "its record has no configuration");
}

static int write_all(struct exporting *e, struct error *err)
{
        _cleanup_buffer_ struct buffer manifest = BUFFER_INIT;
        char digest[DIGEST_SIZE];

        if (add_layout(e, err) < 0 || add_folders(e, err) < 0 || add_layers(e, err) < 0 ||
                add_document(e, blob_name(e->image.id).text, &e->config, err) < 0 ||
                add_manifest(e, &manifest, digest, err) < 0 ||
                add_index(e, digest, manifest.len, err) < 0 || add_docker_manifest(e, err) < 0)
                return -1;
        return tar_write_end(&e->tar, err);
}

static int export(struct exporting *e, const char *reference, struct output *o, struct error *err)
{
        image_store_be_among_others(&e->loading->store);
        e->tar.fd = o->fd;
        if (find_image(e, reference, err) < 0 || write_all(e, err) < 0)
                return -1;
        return output_keep(o, err);
}

int export_image(const char *reference, const char *file, bool force, struct error *err)
{
        struct loading *l = calloc(1, sizeof *l);
        struct exporting e = {
                .loading = l, .config = BUFFER_INIT, .tar = {.fd = -EBADF, .pending = BUFFER_INIT}};
        struct output o = OUTPUT_INIT;
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = loading_open(l, err);
        if (r == 0)
                r = output_open(&o, file, force, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = export(&e, reference, &o, err);
        output_close(&o);
        image_free(&e.image);
        buffer_free(&e.config);
        buffer_free(&e.tar.pending);
        loading_close(l);
        free(l);
        return r;
}
