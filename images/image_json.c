/* Index, manifest and layout; see image_json.h. Unknown keys are ignored, as the specifications
 * ask; what is known must be as they say. */
#include "images/image_json.h"

#include "evaluators/decimal.h"
#include "images/document.h"

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

int image_take_digest(struct json_value v, const char *key, char ret[65], struct error *err)
{
        if (json_is_string(v.node) && image_digest(json_string_value(v.node), ret))
                return 0;
        return document_not_a(v, key, "`sha256:` and 64 lower-case hexadecimal digits", err);
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

        if (document_need(root, "schemaVersion", &v, err) < 0)
                return -1;
        if (!json_is_number(v.node) || json_number_value(v.node) != 2)
                return document_refuse(v, CODE_IMAGE_UNSUPPORTED, err, "schemaVersion must be 2");
        if (document_member(root, wanted == MEDIA_INDEX ? "layers" : "manifests", &v) ||
                (wanted == MEDIA_INDEX && document_member(root, "config", &v)))
                return document_refuse(v, CODE_IMAGE_INVALID, err,
                        "%s that also has what only the other kind has", what);
        if (document_get_text(root, "mediaType", IMAGE_MAX_NAME, &name, err) < 0)
                return -1;
        if (*name != '\0' && media_of(name)->media != wanted &&
                document_member(root, "mediaType", &v))
                return document_refuse(
                        v, CODE_IMAGE_INVALID, err, "mediaType is not that of %s", what);
        return 0;
}

/* --- index and manifest --------------------------------------------------------------------- */

static int get_size(struct json_value parent, uint64_t *ret, struct error *err)
{
        char digits[NUMBER_TEXT_SIZE];
        struct json_value v;

        if (document_need(parent, "size", &v, err) < 0)
                return -1;
        if (!json_is_number(v.node))
                return document_not_a(v, "size", "a number", err);
        json_number_text(v, digits, sizeof digits);
        if (strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 18)
                return document_not_a(v, "size", "a number of bytes", err);
        *ret = strtoull(digits, NULL, 10);
        return 0;
}

static int get_platform(struct json_value v, struct image_descriptor *d, struct error *err)
{
        struct json_value platform = {0};

        d->os = d->architecture = d->variant = "";
        if (!document_member(v, "platform", &platform))
                return 0;
        if (document_get_line(platform, "os", IMAGE_MAX_NAME, &d->os, err) < 0 ||
                document_get_line(platform, "architecture", IMAGE_MAX_NAME, &d->architecture, err) <
                        0 ||
                document_get_line(platform, "variant", IMAGE_MAX_NAME, &d->variant, err) < 0)
                return -1;
        d->no_image |= strcmp(d->os, "unknown") == 0 && strcmp(d->architecture, "unknown") == 0;
        return 0;
}

static int get_names(struct json_value v, struct image_descriptor *d, struct error *err)
{
        static const char *const keys[] = {
                "io.containerd.image.name", "org.opencontainers.image.ref.name"};
        struct json_value annotations, kind;

        if (!document_member(v, "annotations", &annotations))
                return 0;
        if (!json_is_object(annotations.node))
                return document_not_a(annotations, "annotations", "an object", err);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const char *name;

                if (document_get_line(annotations, keys[i], IMAGE_MAX_NAME, &name, err) < 0)
                        return -1;
                if (*name != '\0')
                        d->names[d->name_count++] = name;
        }
        d->no_image |= document_member(annotations, "vnd.docker.reference.type", &kind);
        return 0;
}

static int get_url(struct json_value v, struct image_descriptor *d, struct error *err)
{
        struct json_value urls, url;

        if (!document_member(v, "urls", &urls))
                return 0;
        if (!json_is_array(urls.node))
                return document_not_a(urls, "urls", "a list", err);
        for (struct json_walk w = json_walk(urls); json_next(&w, &url) && w.index == 0;)
                if (document_take_line(url, "urls", IMAGE_MAX_ARGUMENT, &d->url, err) < 0)
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
                return document_not_a(v, key, "an object", err);
        if (document_need(v, "mediaType", &kind, err) < 0 ||
                document_need(v, "digest", &digest, err) < 0 ||
                document_take_text(kind, "mediaType", IMAGE_MAX_NAME, &name, err) < 0)
                return -1;
        media = media_of(name);
        d->media = media->media;
        d->compression = media->compression;
        d->no_image = document_member(v, "artifactType", &artifact);
        if (image_take_digest(digest, "digest", d->digest, err) < 0 ||
                get_size(v, &d->size, err) < 0 || get_platform(v, d, err) < 0 ||
                get_names(v, d, err) < 0)
                return -1;
        return get_url(v, d, err);
}

int image_index_read(struct image_index *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value list, item;

        *ret = (struct image_index){0};
        if (document_read_object(&ret->doc, bytes, len, err) < 0 ||
                check_shape(&ret->doc, MEDIA_INDEX, err) < 0 ||
                document_need(json_root(&ret->doc), "manifests", &list, err) < 0 ||
                document_get_list(
                        json_root(&ret->doc), "manifests", IMAGE_MAX_DESCRIPTORS, &list, err) < 0)
                return -1;
        ret->list = document_make_room(list, sizeof *ret->list, err);
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

        if (!document_member(json_root(&m->doc), "layers", &list) &&
                !json_object_get(m->doc.root, "layers"))
                return document_need(json_root(&m->doc), "layers", &list, err);
        if (document_get_list(json_root(&m->doc), "layers", UNPACK_MAX_LAYERS, &list, err) < 0)
                return -1;
        m->layers = document_make_room(list, sizeof *m->layers, err);
        if (!m->layers)
                return -1;
        for (struct json_walk w = json_walk(list); document_next(&w, &item);) {
                struct image_descriptor *d = &m->layers[m->count++];

                if (read_descriptor(item, "an item of layers", d, err) < 0)
                        return -1;
                if (d->media != MEDIA_LAYER)
                        return document_refuse(item, CODE_IMAGE_UNSUPPORTED, err,
                                "a layer of a kind that is not known (mediaType)");
        }
        return 0;
}

int image_manifest_read(
        struct image_manifest *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value config;

        *ret = (struct image_manifest){0};
        if (document_read_object(&ret->doc, bytes, len, err) < 0 ||
                check_shape(&ret->doc, MEDIA_MANIFEST, err) < 0 ||
                document_need(json_root(&ret->doc), "config", &config, err) < 0 ||
                read_descriptor(config, "config", &ret->config, err) < 0)
                return -1;
        if (ret->config.media != MEDIA_CONFIG)
                return document_refuse(config, CODE_IMAGE_UNSUPPORTED, err,
                        "not the manifest of a container image (mediaType of its config)");
        return read_layers(ret, err);
}

void image_manifest_free(struct image_manifest *m)
{
        free(m->layers);
        json_free(&m->doc);
        *m = (struct image_manifest){0};
}

/* --- oci-layout ----------------------------------------------------------------------------- */

static int check_version(const struct json *doc, struct error *err)
{
        struct json_value v;

        if (document_need(json_root(doc), "imageLayoutVersion", &v, err) < 0)
                return -1;
        if (!json_is_string(v.node) || strcmp(json_string_value(v.node), "1.0.0") != 0)
                return document_refuse(
                        v, CODE_IMAGE_UNSUPPORTED, err, "a version that is not 1.0.0");
        return 0;
}

int image_layout_check(const void *bytes, size_t len, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;

        return document_read_object(&doc, bytes, len, err) < 0 ? -1 : check_version(&doc, err);
}
