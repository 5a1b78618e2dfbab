/* Checking the documents of an image; see image_json.h. Unknown keys are ignored, as the
 * specifications ask; what is known must be as they say. */
#include "images/image_json.h"

#include "evaluators/decimal.h"
#include "text.h"

#include <stdarg.h>

/* --- values and places ---------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static int refuse(
        struct json_value v, enum code code, struct error *err, const char *format, ...)
{
        char why[sizeof err->text];
        unsigned line, column;
        va_list args;

        va_start(args, format);
        vsnprintf(why, sizeof why, format, args);
        va_end(args);
        json_place(v.doc, json_offset(v), &line, &column);
        return error_set(err, code, "line %u, column %u: %s", line, column, why);
}

static int not_a(struct json_value v, const char *key, const char *wanted, struct error *err)
{
        char is[80];

        json_describe(v, is, sizeof is);
        return refuse(v, CODE_IMAGE_INVALID, err, "%s must be %s, not %s", key, wanted, is);
}

static int read_object(struct json *doc, const void *bytes, size_t len, struct error *err)
{
        struct json_fault fault;

        if (json_read(doc, bytes, len, &fault) < 0)
                return error_set(err, CODE_IMAGE_INVALID, "line %u, column %u: %s", fault.line,
                        fault.column, fault.text);
        return json_is_object(doc->root) ? 0
                                         : not_a(json_root(doc), "the document", "an object", err);
}

/* A member that is not null, which Go writes for an empty list. */
static bool member(struct json_value parent, const char *key, struct json_value *ret)
{
        struct json_value child;

        *ret = (struct json_value){0};
        if (!json_is_object(parent.node))
                return false;
        for (struct json_walk w = json_walk(parent); json_next(&w, &child);)
                if (strcmp(w.key, key) == 0) {
                        *ret = child;
                        return !json_is_null(child.node);
                }
        return false;
}

static int need(
        struct json_value parent, const char *key, struct json_value *ret, struct error *err)
{
        return member(parent, key, ret)
                       ? 0
                       : refuse(parent, CODE_IMAGE_INVALID, err, "%s is missing here", key);
}

static int take_text(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err)
{
        if (!json_is_string(v.node))
                return not_a(v, key, "a text", err);
        if (json_string_length(v.node) > max)
                return refuse(v, CODE_IMAGE_INVALID, err, "%s is longer than %zu bytes", key, max);
        *ret = json_string_value(v.node);
        return 0;
}

/* The text `key`, or "" where there is none. */
static int get_optional(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err)
{
        struct json_value v;

        *ret = "";
        return member(parent, key, &v) ? take_text(v, key, max, ret, err) : 0;
}

typedef int text_check(struct json_value v, const char *key, const char *text, struct error *err);

/* One line, printable: it will stand in messages and tables. */
static int check_line(struct json_value v, const char *key, const char *text, struct error *err)
{
        const unsigned char *p = (const unsigned char *)text;

        for (size_t left = strlen(text), n; left > 0; p += n, left -= n) {
                uint32_t code = 0;

                n = text_utf8_next(p, left, &code);
                if (n == 0 || text_is_control(code))
                        return refuse(v, CODE_IMAGE_INVALID, err, "%s has control characters", key);
        }
        return 0;
}

static int take_line(
        struct json_value v, const char *key, size_t max, const char **ret, struct error *err)
{
        return take_text(v, key, max, ret, err) < 0 ? -1 : check_line(v, key, *ret, err);
}

static int get_line(
        struct json_value parent, const char *key, size_t max, const char **ret, struct error *err)
{
        struct json_value v;

        *ret = "";
        return member(parent, key, &v) ? take_line(v, key, max, ret, err) : 0;
}

/* The list `key`; without node where it is missing, which says the same as an empty one. */
static int get_list(struct json_value parent, const char *key, uint32_t max, struct json_value *ret,
        struct error *err)
{
        if (!member(parent, key, ret)) {
                *ret = (struct json_value){0}; /* it may be null */
                return 0;
        }
        if (!json_is_array(ret->node))
                return not_a(*ret, key, "a list", err);
        if (json_array_size(ret->node) > max)
                return refuse(*ret, CODE_IMAGE_INVALID, err, "%s has more than %u items", key,
                        (unsigned)max);
        return 0;
}

/* Zeros for what will be read of each item of the list, also where there is none. */
static void *room_for(struct json_value list, size_t item_size, struct error *err)
{
        void *room = calloc((list.node ? json_array_size(list.node) : 0) + 1, item_size);

        if (!room)
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return room;
}

static bool next_item(struct json_walk *w, struct json_value *ret)
{
        return w->parent.node && json_next(w, ret);
}

static int get_texts(struct json_value parent, const char *key, uint32_t max, size_t max_each,
        text_check *check, struct image_texts *ret, struct error *err)
{
        struct json_value list, item;

        if (get_list(parent, key, max, &list, err) < 0)
                return -1;
        ret->list = room_for(list, sizeof *ret->list, err);
        if (!ret->list)
                return -1;
        for (struct json_walk w = json_walk(list); next_item(&w, &item);) {
                const char **text = &ret->list[ret->count++];

                if (take_text(item, key, max_each, text, err) < 0 ||
                        (check && check(item, key, *text, err) < 0))
                        return -1;
        }
        return 0;
}

static void texts_free(struct image_texts *t)
{
        free(t->list);
        *t = (struct image_texts){0};
}

static int get_size(struct json_value parent, uint64_t *ret, struct error *err)
{
        char digits[NUMBER_TEXT_SIZE];
        struct json_value v;

        if (need(parent, "size", &v, err) < 0)
                return -1;
        if (!json_is_number(v.node))
                return not_a(v, "size", "a number", err);
        json_number_text(v, digits, sizeof digits);
        if (strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 18)
                return not_a(v, "size", "a number of bytes", err);
        *ret = strtoull(digits, NULL, 10);
        return 0;
}

/* --- digests and media types ---------------------------------------------------------------- */

bool image_digest(const char *text, char ret[65])
{
        static const char prefix[] = "sha256:";
        const char *hex;

        if (strncmp(text, prefix, strlen(prefix)) != 0)
                return false;
        hex = text + strlen(prefix);
        if (strspn(hex, "0123456789abcdef") != strlen(hex) || strlen(hex) != 64)
                return false;
        memcpy(ret, hex, 65);
        return true;
}

static int take_digest(struct json_value v, const char *key, char ret[65], struct error *err)
{
        if (json_is_string(v.node) && image_digest(json_string_value(v.node), ret))
                return 0;
        return not_a(v, key, "`sha256:` and 64 lower-case hexadecimal digits", err);
}

#define OCI    "application/vnd.oci.image."
#define DOCKER "application/vnd.docker."
static const struct media {
        const char *name;
        enum image_media media;
        enum unpack_compression compression;
} medias[] = {
        {OCI "index.v1+json", MEDIA_INDEX, 0},
        {DOCKER "distribution.manifest.list.v2+json", MEDIA_INDEX, 0},
        {OCI "manifest.v1+json", MEDIA_MANIFEST, 0},
        {DOCKER "distribution.manifest.v2+json", MEDIA_MANIFEST, 0},
        {OCI "config.v1+json", MEDIA_CONFIG, 0},
        {DOCKER "container.image.v1+json", MEDIA_CONFIG, 0},
        {OCI "layer.v1.tar", MEDIA_LAYER, UNPACK_PLAIN},
        {OCI "layer.v1.tar+gzip", MEDIA_LAYER, UNPACK_GZIP},
        {OCI "layer.v1.tar+zstd", MEDIA_LAYER, UNPACK_ZSTD},
        {OCI "layer.nondistributable.v1.tar", MEDIA_LAYER, UNPACK_PLAIN},
        {OCI "layer.nondistributable.v1.tar+gzip", MEDIA_LAYER, UNPACK_GZIP},
        {OCI "layer.nondistributable.v1.tar+zstd", MEDIA_LAYER, UNPACK_ZSTD},
        {DOCKER "image.rootfs.diff.tar", MEDIA_LAYER, UNPACK_PLAIN},
        {DOCKER "image.rootfs.diff.tar.gzip", MEDIA_LAYER, UNPACK_GZIP},
        {DOCKER "image.rootfs.diff.tar.zstd", MEDIA_LAYER, UNPACK_ZSTD},
        {DOCKER "image.rootfs.foreign.diff.tar", MEDIA_LAYER, UNPACK_PLAIN},
        {DOCKER "image.rootfs.foreign.diff.tar.gzip", MEDIA_LAYER, UNPACK_GZIP},
};
#undef OCI
#undef DOCKER

static const struct media *media_of(const char *name)
{
        static const struct media other = {"", MEDIA_OTHER, UNPACK_COMPRESSION_UNKNOWN};

        for (size_t i = 0; i < sizeof medias / sizeof *medias; i++)
                if (strcmp(medias[i].name, name) == 0)
                        return &medias[i];
        return &other;
}

/* An index and a manifest are told apart by what they have, and by what they say they are: a
 * document that another reader takes for the other is refused. */
static int check_shape(const struct json *doc, enum image_media wanted, struct error *err)
{
        struct json_value root = json_root(doc), v;
        const char *name, *what = wanted == MEDIA_INDEX ? "an index" : "a manifest";

        if (need(root, "schemaVersion", &v, err) < 0)
                return -1;
        if (!json_is_number(v.node) || json_number_value(v.node) != 2)
                return refuse(v, CODE_IMAGE_UNSUPPORTED, err, "schemaVersion must be 2");
        if (member(root, wanted == MEDIA_INDEX ? "layers" : "manifests", &v) ||
                (wanted == MEDIA_INDEX && member(root, "config", &v)))
                return refuse(v, CODE_IMAGE_INVALID, err,
                        "%s that also has what only the other kind has", what);
        if (get_optional(root, "mediaType", IMAGE_MAX_NAME, &name, err) < 0)
                return -1;
        if (*name != '\0' && media_of(name)->media != wanted && member(root, "mediaType", &v))
                return refuse(v, CODE_IMAGE_INVALID, err, "mediaType is not that of %s", what);
        return 0;
}

/* --- index and manifest --------------------------------------------------------------------- */

static int get_platform(struct json_value v, struct image_descriptor *d, struct error *err)
{
        struct json_value platform = {0};

        d->os = d->architecture = d->variant = "";
        if (!member(v, "platform", &platform))
                return 0;
        if (get_line(platform, "os", IMAGE_MAX_NAME, &d->os, err) < 0 ||
                get_line(platform, "architecture", IMAGE_MAX_NAME, &d->architecture, err) < 0 ||
                get_line(platform, "variant", IMAGE_MAX_NAME, &d->variant, err) < 0)
                return -1;
        d->no_image |= strcmp(d->os, "unknown") == 0 && strcmp(d->architecture, "unknown") == 0;
        return 0;
}

static int get_names(struct json_value v, struct image_descriptor *d, struct error *err)
{
        static const char *const keys[] = {
                "io.containerd.image.name", "org.opencontainers.image.ref.name"};
        struct json_value annotations, kind;

        if (!member(v, "annotations", &annotations))
                return 0;
        if (!json_is_object(annotations.node))
                return not_a(annotations, "annotations", "an object", err);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const char *name;

                if (get_line(annotations, keys[i], IMAGE_MAX_NAME, &name, err) < 0)
                        return -1;
                if (*name != '\0')
                        d->names[d->name_count++] = name;
        }
        d->no_image |= member(annotations, "vnd.docker.reference.type", &kind);
        return 0;
}

static int get_url(struct json_value v, struct image_descriptor *d, struct error *err)
{
        struct json_value urls, url;

        if (!member(v, "urls", &urls))
                return 0;
        if (!json_is_array(urls.node))
                return not_a(urls, "urls", "a list", err);
        for (struct json_walk w = json_walk(urls); json_next(&w, &url) && w.index == 0;)
                if (take_line(url, "urls", IMAGE_MAX_ARGUMENT, &d->url, err) < 0)
                        return -1;
        return 0;
}

static int read_descriptor(
        struct json_value v, const char *key, struct image_descriptor *d, struct error *err)
{
        struct json_value kind, digest, artifact;
        const struct media *media;
        const char *name = "";

        if (!json_is_object(v.node))
                return not_a(v, key, "an object", err);
        if (need(v, "mediaType", &kind, err) < 0 || need(v, "digest", &digest, err) < 0 ||
                take_text(kind, "mediaType", IMAGE_MAX_NAME, &name, err) < 0)
                return -1;
        media = media_of(name);
        d->media = media->media;
        d->compression = media->compression;
        d->no_image = member(v, "artifactType", &artifact);
        if (take_digest(digest, "digest", d->digest, err) < 0 || get_size(v, &d->size, err) < 0 ||
                get_platform(v, d, err) < 0 || get_names(v, d, err) < 0)
                return -1;
        return get_url(v, d, err);
}

int image_index_read(struct image_index *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value list, item;

        *ret = (struct image_index){0};
        if (read_object(&ret->doc, bytes, len, err) < 0 ||
                check_shape(&ret->doc, MEDIA_INDEX, err) < 0 ||
                need(json_root(&ret->doc), "manifests", &list, err) < 0 ||
                get_list(json_root(&ret->doc), "manifests", IMAGE_MAX_DESCRIPTORS, &list, err) < 0)
                return -1;
        ret->list = room_for(list, sizeof *ret->list, err);
        if (!ret->list)
                return -1;
        for (struct json_walk w = json_walk(list); json_next(&w, &item);)
                if (read_descriptor(item, "an item of manifests", &ret->list[ret->count++], err) <
                        0)
                        return -1;
        return 0;
}

void image_index_free(struct image_index *i)
{
        free(i->list);
        json_free(&i->doc);
        *i = (struct image_index){0};
}

static int read_layers(struct image_manifest *m, struct error *err)
{
        struct json_value list, item;

        if (!member(json_root(&m->doc), "layers", &list) && !json_object_get(m->doc.root, "layers"))
                return need(json_root(&m->doc), "layers", &list, err);
        if (get_list(json_root(&m->doc), "layers", UNPACK_MAX_LAYERS, &list, err) < 0)
                return -1;
        m->layers = room_for(list, sizeof *m->layers, err);
        if (!m->layers)
                return -1;
        for (struct json_walk w = json_walk(list); next_item(&w, &item);) {
                struct image_descriptor *d = &m->layers[m->count++];

                if (read_descriptor(item, "an item of layers", d, err) < 0)
                        return -1;
                if (d->media != MEDIA_LAYER)
                        return refuse(item, CODE_IMAGE_UNSUPPORTED, err,
                                "a layer of a kind that is not known (mediaType)");
        }
        return 0;
}

int image_manifest_read(
        struct image_manifest *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value config;

        *ret = (struct image_manifest){0};
        if (read_object(&ret->doc, bytes, len, err) < 0 ||
                check_shape(&ret->doc, MEDIA_MANIFEST, err) < 0 ||
                need(json_root(&ret->doc), "config", &config, err) < 0 ||
                read_descriptor(config, "config", &ret->config, err) < 0)
                return -1;
        if (ret->config.media != MEDIA_CONFIG)
                return refuse(config, CODE_IMAGE_UNSUPPORTED, err,
                        "not the manifest of a container image (mediaType of its config)");
        return read_layers(ret, err);
}

void image_manifest_free(struct image_manifest *m)
{
        free(m->layers);
        json_free(&m->doc);
        *m = (struct image_manifest){0};
}

/* --- config --------------------------------------------------------------------------------- */

static bool is_assignment(const char *entry)
{
        size_t name = strcspn(entry, "=\n");

        return name > 0 && entry[name] == '=';
}

static void drop_from_env(struct image_config *c)
{
        uint32_t kept = 0;

        for (uint32_t i = 0; i < c->env.count; i++)
                if (is_assignment(c->env.list[i]))
                        c->env.list[kept++] = c->env.list[i];
        c->dropped = c->env.count - kept;
        c->env.count = kept;
}

static size_t texts_length(const struct image_texts *t)
{
        size_t len = 0;

        for (uint32_t i = 0; i < t->count; i++)
                len += strlen(t->list[i]) + 1;
        return len;
}

static int read_command(struct image_config *c, struct error *err)
{
        struct json_value v;

        c->workdir = c->user = "";
        if (!member(json_root(&c->doc), "config", &v))
                return 0;
        if (!json_is_object(v.node))
                return not_a(v, "config", "an object", err);
        if (get_texts(v, "Entrypoint", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL,
                    &c->entrypoint, err) < 0 ||
                get_texts(v, "Cmd", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL, &c->cmd, err) <
                        0 ||
                get_texts(v, "Env", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL, &c->env, err) <
                        0 ||
                get_optional(v, "WorkingDir", UNPACK_MAX_PATH, &c->workdir, err) < 0 ||
                get_optional(v, "User", IMAGE_MAX_NAME, &c->user, err) < 0)
                return -1;
        drop_from_env(c);
        if (texts_length(&c->entrypoint) + texts_length(&c->cmd) + texts_length(&c->env) >
                IMAGE_MAX_COMMAND)
                return refuse(v, CODE_IMAGE_INVALID, err,
                        "Entrypoint, Cmd and Env together have more than 512 KiB");
        return 0;
}

static int read_diff_ids(struct image_config *c, struct error *err)
{
        struct json_value rootfs, type, list, item;

        if (need(json_root(&c->doc), "rootfs", &rootfs, err) < 0 ||
                need(rootfs, "type", &type, err) < 0)
                return -1;
        if (!json_is_string(type.node) || strcmp(json_string_value(type.node), "layers") != 0)
                return refuse(type, CODE_IMAGE_UNSUPPORTED, err, "type must be \"layers\"");
        if (get_list(rootfs, "diff_ids", UNPACK_MAX_LAYERS, &list, err) < 0)
                return -1;
        c->diff_ids = room_for(list, sizeof *c->diff_ids, err);
        if (!c->diff_ids)
                return -1;
        for (struct json_walk w = json_walk(list); next_item(&w, &item);)
                if (take_digest(item, "an item of diff_ids", c->diff_ids[c->count++], err) < 0)
                        return -1;
        return 0;
}

int image_config_read(struct image_config *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value root, v;

        *ret = (struct image_config){0};
        if (read_object(&ret->doc, bytes, len, err) < 0)
                return -1;
        root = json_root(&ret->doc);
        if (need(root, "os", &v, err) < 0 || need(root, "architecture", &v, err) < 0 ||
                get_line(root, "os", IMAGE_MAX_NAME, &ret->os, err) < 0 ||
                get_line(root, "architecture", IMAGE_MAX_NAME, &ret->architecture, err) < 0 ||
                get_line(root, "created", IMAGE_MAX_NAME, &ret->created, err) < 0)
                return -1;
        return read_command(ret, err) < 0 ? -1 : read_diff_ids(ret, err);
}

void image_config_free(struct image_config *c)
{
        texts_free(&c->entrypoint);
        texts_free(&c->cmd);
        texts_free(&c->env);
        free(c->diff_ids);
        json_free(&c->doc);
        *c = (struct image_config){0};
}

/* --- docker-archive ------------------------------------------------------------------------- */

/* A member's name as a path inside the file; only its normal form is accepted, because the name
 * itself is kept. */
static int check_member(struct json_value v, const char *key, const char *name, struct error *err)
{
        struct error why = {0};
        struct path normal;

        if (name_normalise(name, &normal, &why) < 0)
                return refuse(v, CODE_IMAGE_INVALID, err, "%s: %s", key, why.text);
        if (strcmp(normal.text, name) != 0)
                return refuse(v, CODE_IMAGE_INVALID, err,
                        "%s must be a plain path inside the file, not `%.100s`", key, name);
        return 0;
}

static int read_docker_image(struct json_value v, struct docker_image *ret, struct error *err)
{
        struct json_value config;
        const char *name = "";

        if (!json_is_object(v.node))
                return not_a(v, "an image", "an object", err);
        if (need(v, "Config", &config, err) < 0 ||
                take_text(config, "Config", IMAGE_MAX_NAME, &name, err) < 0 ||
                check_member(config, "Config", name, err) < 0)
                return -1;
        ret->config = name;
        if (get_texts(v, "Layers", UNPACK_MAX_LAYERS, IMAGE_MAX_NAME, check_member, &ret->layers,
                    err) < 0)
                return -1;
        return get_texts(
                v, "RepoTags", IMAGE_MAX_NAMES, IMAGE_MAX_NAME, check_line, &ret->tags, err);
}

int docker_manifest_read(
        struct docker_manifest *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value root, item;
        struct json_fault fault;

        *ret = (struct docker_manifest){0};
        if (json_read(&ret->doc, bytes, len, &fault) < 0)
                return error_set(err, CODE_IMAGE_INVALID, "line %u, column %u: %s", fault.line,
                        fault.column, fault.text);
        root = json_root(&ret->doc);
        if (!json_is_array(root.node))
                return not_a(root, "the document", "a list of images", err);
        if (json_array_size(root.node) > IMAGE_MAX_DESCRIPTORS)
                return refuse(root, CODE_IMAGE_INVALID, err, "more than 1000 images");
        ret->list = room_for(root, sizeof *ret->list, err);
        if (!ret->list)
                return -1;
        for (struct json_walk w = json_walk(root); json_next(&w, &item);)
                if (read_docker_image(item, &ret->list[ret->count++], err) < 0)
                        return -1;
        return 0;
}

void docker_manifest_free(struct docker_manifest *m)
{
        for (uint32_t i = 0; i < m->count; i++) {
                texts_free(&m->list[i].tags);
                texts_free(&m->list[i].layers);
        }
        free(m->list);
        json_free(&m->doc);
        *m = (struct docker_manifest){0};
}

/* --- oci-layout ----------------------------------------------------------------------------- */

static int check_version(const struct json *doc, struct error *err)
{
        struct json_value v;

        if (need(json_root(doc), "imageLayoutVersion", &v, err) < 0)
                return -1;
        if (!json_is_string(v.node) || strcmp(json_string_value(v.node), "1.0.0") != 0)
                return refuse(v, CODE_IMAGE_UNSUPPORTED, err, "a version that is not 1.0.0");
        return 0;
}

int image_layout_check(const void *bytes, size_t len, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;

        return read_object(&doc, bytes, len, err) < 0 ? -1 : check_version(&doc, err);
}
