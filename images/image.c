/* From the members of an image file (bundle.h) and what they say (image_json.h) to answers. Every
 * document but the first, which nothing names, is compared with the digest by which it was named.
 */
#include "images/image.h"

#include "fd.h"
#include "frame.h"
#include "images/bundle.h"
#include "images/docker_manifest.h"
#include "images/image_config.h"

#include <nettle/sha2.h>
#include <unistd.h>

enum {
        MAX_MANIFEST = 4 << 20,
        MAX_CONFIG = 8 << 20,
        MAX_DOCUMENTS = 64 << 20, /* all of a file together */
        MAX_NESTING = 4,
        MAX_HELD = 300, /* bytes of a message */
};

struct reading {
        const struct image_request *request;
        struct report *report;
        struct bundle bundle;
        const char *folder; /* in which the blobs are */
        uint64_t documents; /* bytes of those read */
        uint32_t found;
        struct buffer held; /* what the file has instead, for the message */
};

/* An image on its way into an answer. */
struct image {
        const char *const *names;
        uint32_t name_count;
        const char *ref_digest;
        char manifest_digest[65]; /* or "" */
        char index_digest[65];
        char id[65];
        struct buffer manifest, config_bytes;
        struct buffer index; /* that was asked for, or nothing */
        struct image_config config;
        struct buffer layers; /* as the answer has them */
};
#define IMAGE_INIT                                                                                 \
        {                                                                                          \
                .ref_digest = "", .manifest = BUFFER_INIT, .config_bytes = BUFFER_INIT,            \
                .index = BUFFER_INIT, .layers = BUFFER_INIT                                        \
        }

static void image_free(struct image *i)
{
        image_config_free(&i->config); /* borrows the bytes */
        buffer_free(&i->manifest);
        buffer_free(&i->config_bytes);
        buffer_free(&i->index);
        buffer_free(&i->layers);
}
#define _cleanup_image_ __attribute__((cleanup(image_free)))

/* --- documents ------------------------------------------------------------------------------ */

static int read_place(const struct place *p, struct buffer *out, struct error *err)
{
        while (out->len < p->length) {
                size_t left = (size_t)p->length - out->len;
                unsigned char *to = buffer_reserve(out, left);
                ssize_t n;

                if (!to)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                n = pread(p->fd, to, left, (off_t)(p->offset + out->len));
                if (n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot be read");
                if (n == 0)
                        return error_set(err, CODE_IMAGE_INVALID, "changed while it was read");
                buffer_advance(out, (size_t)n);
        }
        return 0;
}

static int read_found(struct reading *r, const struct place *p, uint64_t max, struct buffer *out,
        struct error *err)
{
        if (p->length > max)
                return error_set(err, CODE_IMAGE_INVALID, "a document of more than %llu MiB",
                        (unsigned long long)max >> 20);
        r->documents += p->length;
        if (r->documents > MAX_DOCUMENTS)
                return error_set(
                        err, CODE_IMAGE_INVALID, "with it the documents have more than 64 MiB");
        return read_place(p, out, err);
}

/* Without digest that it must have: NULL. */
static int read_document(struct reading *r, const char *member,
        const struct image_descriptor *descriptor, uint64_t max, struct buffer *out,
        struct error *err)
{
        _cleanup_place_ struct place p = PLACE_INIT;
        int found = bundle_find(&r->bundle, member, &p, err);

        if (found < 0)
                return -1;
        if (found == 0)
                return error_set(err, CODE_IMAGE_INVALID,
                        "%.300s: is named, but missing in the file", member);
        if (descriptor && p.length != descriptor->size)
                return error_set(err, CODE_IMAGE_DIGEST, "%.300s: has %llu bytes instead of %llu",
                        member, (unsigned long long)p.length, (unsigned long long)descriptor->size);
        return read_found(r, &p, max, out, err) < 0 ? error_add(err, "%.300s", member) : 0;
}

static void digest_of(const struct buffer *b, char ret[65])
{
        unsigned char bytes[SHA256_DIGEST_SIZE];
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, b->len, b->data);
        sha256_digest(&context, sizeof bytes, bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static int check_digest(
        const struct buffer *b, const char *digest, const char *member, struct error *err)
{
        char is[65];

        digest_of(b, is);
        if (strcmp(is, digest) == 0)
                return 0;
        return error_set(
                err, CODE_IMAGE_DIGEST, "%.300s: its content has the digest %s", member, is);
}

struct member_name {
        char text[sizeof "blobs/sha256/" + 64];
};

static struct member_name blob_name(const struct reading *r, const char *digest)
{
        struct member_name name;

        snprintf(name.text, sizeof name.text, "%s%s", r->folder, digest);
        return name;
}

static int read_blob(struct reading *r, const struct image_descriptor *d, uint64_t max,
        struct buffer *out, struct error *err)
{
        const struct member_name name = blob_name(r, d->digest);

        return read_document(r, name.text, d, max, out, err) < 0
                       ? -1
                       : check_digest(out, d->digest, name.text, err);
}

/* --- what the file has ---------------------------------------------------------------------- */

/* Note an image that is not asked for. */
static void hold(struct reading *r, const char *const *names, uint32_t count, const char *os,
        const char *architecture)
{
        if (r->held.len > MAX_HELD)
                return;
        buffer_add_format(&r->held, "%s%.200s", r->held.len > 0 ? ", " : "",
                count > 0 ? names[0] : "an image without a name");
        if (*architecture != '\0')
                buffer_add_format(&r->held, " for %.20s/%.20s", os, architecture);
}

static bool is_wanted(const struct reading *r, const char *const *names, uint32_t count)
{
        for (uint32_t i = 0; i < count; i++)
                if (strcmp(names[i], r->request->wanted) == 0)
                        return true;
        return *r->request->wanted == '\0';
}

static bool is_for(const struct reading *r, const char *os, const char *architecture)
{
        return strcmp(os, "linux") == 0 && strcmp(architecture, r->request->architecture) == 0;
}

static int nothing_found(const struct reading *r, struct error *err)
{
        const char *wanted = r->request->wanted;

        return error_set(err, CODE_IMAGE_NOT_FOUND,
                "no image %s%s%sfor linux/%s; the file holds: %s", *wanted ? "`" : "", wanted,
                *wanted ? "` " : "", r->request->architecture,
                r->held.len > 0 ? buffer_text(&r->held) : "no image");
}

/* --- answers -------------------------------------------------------------------------------- */

static void put_texts(struct buffer *b, const char *const *list, uint32_t count)
{
        put_u32(b, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(b, list[i]);
}

static void put_layer(struct image *i, const char *member, const struct place *p,
        const char *digest, uint32_t number, enum unpack_compression compression)
{
        struct buffer *b = &i->layers;

        put_text(b, member);
        put_u64(b, p->offset);
        put_u64(b, p->length);
        put_text(b, digest);
        put_text(b, i->config.diff_ids[number]);
        put_u8(b, (uint8_t)compression);
}

static int warn_of_env(const struct reading *r, const struct image *i, struct error *err)
{
        char message[100];

        if (i->config.dropped == 0)
                return 0;
        snprintf(message, sizeof message, "%u entries left out that are not NAME=VALUE",
                i->config.dropped);
        return report_warning(r->report, "Env", message, err);
}

static int tell(struct reading *r, const struct image *i, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        const struct image_config *c = &i->config;

        put_texts(&b, i->names, i->name_count);
        put_text(&b, i->ref_digest);
        put_text(&b, i->id);
        put_text(&b, c->architecture);
        put_text(&b, c->created);
        put_texts(&b, c->entrypoint.list, c->entrypoint.count);
        put_texts(&b, c->cmd.list, c->cmd.count);
        put_texts(&b, c->env.list, c->env.count);
        put_text(&b, c->workdir);
        put_text(&b, c->user);
        put_u32(&b, c->count);
        buffer_add(&b, i->layers.data, i->layers.len);
        if (!buffer_ok(&b) || !buffer_ok(&i->layers))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (b.len > UNPACK_MAX_ANSWER)
                return error_set(err, CODE_IMAGE_INVALID,
                        "its names, its command and the names of its layers have more than 1 MiB");
        if (warn_of_env(r, i, err) < 0)
                return -1;
        if (i->index.len > 0 &&
                report_blob(r->report, UNPACK_BLOB_INDEX, i->ref_digest, &i->index, err) < 0)
                return -1;
        if (*i->manifest_digest != '\0' && report_blob(r->report, UNPACK_BLOB_MANIFEST,
                                                   i->manifest_digest, &i->manifest, err) < 0)
                return -1;
        r->found++;
        if (report_blob(r->report, UNPACK_BLOB_CONFIG, i->id, &i->config_bytes, err) < 0)
                return -1;
        return report_image(r->report, &b, err);
}

/* 1, or 0 when the image is for another machine. */
static int understand_config(
        struct reading *r, struct image *i, const char *member, uint32_t layers, struct error *err)
{
        const struct image_config *c = &i->config;

        if (image_config_read(&i->config, i->config_bytes.data, i->config_bytes.len, err) < 0)
                return error_add(err, "%.200s", member);
        if (!is_for(r, c->os, c->architecture)) {
                hold(r, i->names, i->name_count, c->os, c->architecture);
                return 0;
        }
        if (c->count != layers)
                return error_set(err, CODE_IMAGE_INVALID, "%.200s: has %u diff_ids for %u layers",
                        member, c->count, layers);
        return 1;
}

/* --- OCI ------------------------------------------------------------------------------------ */

/* A manifest that an index names, and how well its platform fits. */
struct candidate {
        struct image_descriptor descriptor; /* its texts are no longer there */
        enum fit { FIT_UNTOLD, FIT_ARCHITECTURE, FIT_VARIANT, FIT_COUNT } fit;
};

struct choice {
        struct candidate *list;
        uint32_t count, met; /* met: descriptors of all indexes */
};

static int find_layer(struct reading *r, struct image *i, const struct image_descriptor *d,
        uint32_t number, struct error *err)
{
        _cleanup_place_ struct place p = PLACE_INIT;
        const struct member_name name = blob_name(r, d->digest);
        int found = bundle_find(&r->bundle, name.text, &p, err);

        if (found < 0)
                return -1;
        if (found == 0 && d->url)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "%s: a layer that is not in the file, only at %.200s", name.text, d->url);
        if (found == 0)
                return error_set(err, CODE_IMAGE_INVALID, "%s: a layer that is missing in the file",
                        name.text);
        if (p.length != d->size)
                return error_set(err, CODE_IMAGE_DIGEST, "%s: has %llu bytes instead of %llu",
                        name.text, (unsigned long long)p.length, (unsigned long long)d->size);
        put_layer(i, name.text, &p, d->digest, number, d->compression);
        return 0;
}

/* The image whose manifest was read from `member`. 1, or 0 when it is for another machine. */
static int tell_by_manifest(
        struct reading *r, struct image *i, const char *member, struct error *err)
{
        _cleanup_image_manifest_ struct image_manifest m = {0};
        int understood;

        if (image_manifest_read(&m, i->manifest.data, i->manifest.len, err) < 0)
                return error_add(err, "%s", member);
        memcpy(i->id, m.config.digest, sizeof i->id);
        if (read_blob(r, &m.config, MAX_CONFIG, &i->config_bytes, err) < 0)
                return -1;
        understood = understand_config(r, i, blob_name(r, m.config.digest).text, m.count, err);
        if (understood <= 0)
                return understood;
        for (uint32_t n = 0; n < m.count; n++)
                if (find_layer(r, i, &m.layers[n], n, err) < 0)
                        return -1;
        return tell(r, i, err) < 0 ? -1 : 1;
}

static int tell_manifest(
        struct reading *r, struct image *i, const struct image_descriptor *d, struct error *err)
{
        if (read_blob(r, d, MAX_MANIFEST, &i->manifest, err) < 0)
                return -1;
        memcpy(i->manifest_digest, d->digest, sizeof i->manifest_digest);
        return tell_by_manifest(r, i, blob_name(r, d->digest).text, err);
}

static enum fit fit_of(const struct image_descriptor *d)
{
        const char *usual = strcmp(d->architecture, "arm64") == 0 ? "v8" : "";

        if (*d->os == '\0' && *d->architecture == '\0')
                return FIT_UNTOLD;
        return strcmp(d->variant, usual) == 0 ? FIT_VARIANT : FIT_ARCHITECTURE;
}

static int collect(struct reading *r, const struct image_descriptor *top,
        const struct image_descriptor *d, unsigned depth, struct choice *c, struct error *err);

static int collect_index(struct reading *r, const struct image_descriptor *top,
        const struct image_descriptor *d, unsigned depth, struct choice *c, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        if (depth == MAX_NESTING)
                return error_set(err, CODE_IMAGE_INVALID, "%s: indexes more than %d deep",
                        blob_name(r, d->digest).text, MAX_NESTING);
        if (read_blob(r, d, MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (image_index_read(&index, bytes.data, bytes.len, err) < 0)
                return error_add(err, "%s", blob_name(r, d->digest).text);
        for (uint32_t n = 0; n < index.count; n++)
                if (collect(r, top, &index.list[n], depth + 1, c, err) < 0)
                        return -1;
        return 0;
}

/* Gather the manifests below `d` that may be for this machine. */
static int collect(struct reading *r, const struct image_descriptor *top,
        const struct image_descriptor *d, unsigned depth, struct choice *c, struct error *err)
{
        if (c->met++ == IMAGE_MAX_DESCRIPTORS)
                return error_set(err, CODE_IMAGE_INVALID, "an index with more than 1000 items");
        if (d->no_image)
                return 0;
        if (d->media == MEDIA_INDEX)
                return collect_index(r, top, d, depth, c, err);
        if (d->media != MEDIA_MANIFEST)
                return 0; /* to be ignored, says the specification */
        if (fit_of(d) != FIT_UNTOLD && !is_for(r, d->os, d->architecture)) {
                hold(r, top->names, top->name_count, d->os, d->architecture);
                return 0;
        }
        c->list[c->count++] = (struct candidate){*d, fit_of(d)};
        return 0;
}

/* The best of the candidates; those whose platform is not told are asked one after the other. */
static int tell_best(struct reading *r, const struct image_descriptor *top, const struct choice *c,
        struct error *err)
{
        for (int fit = FIT_COUNT; fit-- > 0;)
                for (uint32_t n = 0; n < c->count; n++) {
                        _cleanup_image_ struct image i = IMAGE_INIT;
                        int told;

                        if ((int)c->list[n].fit != fit)
                                continue;
                        i.names = top->names;
                        i.name_count = top->name_count;
                        i.ref_digest = top->digest;
                        told = tell_manifest(r, &i, &c->list[n].descriptor, err);
                        if (told != 0)
                                return told < 0 ? -1 : 0;
                }
        return 0;
}

static int tell_named(struct reading *r, const struct image_descriptor *top, struct error *err)
{
        struct choice c = {0};
        int result;

        if (!is_wanted(r, top->names, top->name_count)) {
                hold(r, top->names, top->name_count, top->os, top->architecture);
                return 0;
        }
        c.list = calloc(IMAGE_MAX_DESCRIPTORS, sizeof *c.list);
        if (!c.list)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        result = collect(r, top, top, 0, &c, err);
        if (result == 0)
                result = tell_best(r, top, &c, err);
        free(c.list);
        return result;
}

static int check_layout(struct reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;

        if (read_document(r, "oci-layout", NULL, MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        return image_layout_check(bytes.data, bytes.len, err) < 0 ? error_add(err, "oci-layout")
                                                                  : 0;
}

static int read_oci(struct reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        r->folder = "blobs/sha256/";
        if (check_layout(r, err) < 0 ||
                read_document(r, "index.json", NULL, MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (image_index_read(&index, bytes.data, bytes.len, err) < 0)
                return error_add(err, "index.json");
        for (uint32_t n = 0; n < index.count; n++)
                if (tell_named(r, &index.list[n], err) < 0)
                        return -1;
        return 0;
}

/* --- dir: of skopeo ------------------------------------------------------------------------- */

static int check_transport(struct reading *r, struct error *err)
{
        static const char begin[] = "Directory Transport Version: 1.";
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;

        if (read_document(r, "version", NULL, MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        return strncmp(buffer_text(&bytes), begin, strlen(begin)) == 0
                       ? 0
                       : error_set(err, CODE_IMAGE_UNSUPPORTED,
                                 "version: must begin with `%s`, as skopeo writes it", begin);
}

static bool names_manifest(const struct image_index *index, const struct image *i)
{
        for (uint32_t n = 0; n < index->count; n++) {
                const struct image_descriptor *d = &index->list[n];

                if (d->media == MEDIA_MANIFEST && d->size == i->manifest.len &&
                        strcmp(d->digest, i->manifest_digest) == 0)
                        return true;
        }
        return false;
}

/* What the reference meant that was pulled, where it is told: the manifest, or an index with it. */
static int check_reference(struct reading *r, struct image *i, struct error *err)
{
        static const char member[] = "reference.json";
        _cleanup_place_ struct place p = PLACE_INIT;
        _cleanup_image_index_ struct image_index index = {0};
        int found = bundle_find(&r->bundle, member, &p, err);

        if (found <= 0)
                return found;
        if (read_found(r, &p, MAX_MANIFEST, &i->index, err) < 0)
                return error_add(err, "%s", member);
        digest_of(&i->index, i->index_digest);
        if (strcmp(i->index_digest, i->manifest_digest) == 0) {
                buffer_clear(&i->index);
                return 0;
        }
        if (image_index_read(&index, i->index.data, i->index.len, NULL) < 0 ||
                !names_manifest(&index, i))
                return error_set(err, CODE_IMAGE_DIGEST,
                        "manifest.json: neither what %s is nor what it names", member);
        i->ref_digest = i->index_digest;
        return 0;
}

static int read_dir(struct reading *r, struct error *err)
{
        _cleanup_image_ struct image i = IMAGE_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        r->folder = "";
        if (!is_wanted(r, NULL, 0)) {
                hold(r, NULL, 0, "", "");
                return 0;
        }
        if (check_transport(r, err) < 0 ||
                read_document(r, "manifest.json", NULL, MAX_MANIFEST, &i.manifest, err) < 0)
                return -1;
        if (image_index_read(&index, i.manifest.data, i.manifest.len, NULL) == 0)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "manifest.json: an index of images for several machines, not one image");
        digest_of(&i.manifest, i.manifest_digest);
        i.ref_digest = i.manifest_digest;
        if (check_reference(r, &i, err) < 0)
                return -1;
        return tell_by_manifest(r, &i, "manifest.json", err) < 0 ? -1 : 0;
}

/* --- docker-archive ------------------------------------------------------------------------- */

/* The digest that a member's name tells: `blobs/sha256/HEX`, or for configs `HEX.json`. */
static bool digest_in_name(const char *name, bool config, char ret[65])
{
        static const char folder[] = "blobs/sha256/";
        const bool in_folder = strncmp(name, folder, strlen(folder)) == 0;
        const char *hex = in_folder ? name + strlen(folder) : name;
        char digest[sizeof "sha256:" + 64];

        if (strcmp(hex + strspn(hex, "0123456789abcdef"), in_folder ? "" : ".json") != 0 ||
                !(in_folder || config))
                return false;
        snprintf(digest, sizeof digest, "sha256:%.*s", 64, hex);
        return strspn(hex, "0123456789abcdef") == 64 && image_digest(digest, ret);
}

static int find_docker_layer(
        struct reading *r, struct image *i, const char *member, uint32_t number, struct error *err)
{
        _cleanup_place_ struct place p = PLACE_INIT;
        int found = bundle_find(&r->bundle, member, &p, err);
        char digest[65];

        if (found < 0)
                return -1;
        if (found == 0)
                return error_set(err, CODE_IMAGE_INVALID,
                        "%.300s: a layer that is missing in the file", member);
        if (!digest_in_name(member, false, digest))
                *digest = '\0';
        put_layer(i, member, &p, digest, number, UNPACK_COMPRESSION_UNKNOWN);
        return 0;
}

static int tell_docker(struct reading *r, const struct docker_image *d, struct error *err)
{
        _cleanup_image_ struct image i = IMAGE_INIT;
        char named[65];
        int understood;

        i.names = d->tags.list;
        i.name_count = d->tags.count;
        if (!is_wanted(r, i.names, i.name_count)) {
                hold(r, i.names, i.name_count, "", "");
                return 0;
        }
        if (read_document(r, d->config, NULL, MAX_CONFIG, &i.config_bytes, err) < 0)
                return -1;
        digest_of(&i.config_bytes, i.id);
        if (digest_in_name(d->config, true, named) &&
                check_digest(&i.config_bytes, named, d->config, err) < 0)
                return -1;
        understood = understand_config(r, &i, d->config, d->layers.count, err);
        if (understood <= 0)
                return understood;
        for (uint32_t n = 0; n < d->layers.count; n++)
                if (find_docker_layer(r, &i, d->layers.list[n], n, err) < 0)
                        return -1;
        return tell(r, &i, err);
}

static int read_docker(struct reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_docker_manifest_ struct docker_manifest m = {0};

        if (read_document(r, "manifest.json", NULL, MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (docker_manifest_read(&m, bytes.data, bytes.len, err) < 0)
                return error_add(err, "manifest.json");
        for (uint32_t n = 0; n < m.count; n++)
                if (tell_docker(r, &m.list[n], err) < 0)
                        return -1;
        return 0;
}

/* --- kinds of files ------------------------------------------------------------------------- */

/* Newer versions of docker write the first and the last; the first tells more. */
static const struct kind {
        const char *member;
        int (*read)(struct reading *r, struct error *err);
} kinds[] = {
        {"index.json", read_oci},
        {"version", read_dir},
        {"manifest.json", read_docker},
};

static int read_by_kind(struct reading *r, struct error *err)
{
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                _cleanup_place_ struct place p = PLACE_INIT;
                int found = bundle_find(&r->bundle, kinds[i].member, &p, err);

                if (found < 0)
                        return -1;
                if (found > 0)
                        return kinds[i].read(r, err);
        }
        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                "neither index.json nor manifest.json is there: no file with container images");
}

int image_read(int fd, const struct image_request *request, struct report *report,
        uint32_t *ret_count, struct error *err)
{
        struct reading r = {.request = request, .report = report, .held = BUFFER_INIT};
        int result = bundle_open(&r.bundle, fd, err);

        if (result == 0)
                result = read_by_kind(&r, err);
        if (result == 0 && r.found == 0)
                result = nothing_found(&r, err);
        *ret_count = r.found;
        bundle_close(&r.bundle);
        buffer_free(&r.held);
        return result;
}
