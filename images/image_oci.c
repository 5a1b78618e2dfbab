/* An OCI layout: the index names manifests, perhaps by further indexes, of which the best for this
 * machine is told. */
#include "images/image_answer.h"

enum { MAX_NESTING = 4 };

/* A manifest that an index names, and how well its platform fits. */
struct candidate {
        struct image_descriptor descriptor; /* its texts are no longer there */
        enum fit { FIT_UNTOLD, FIT_ARCHITECTURE, FIT_VARIANT, FIT_COUNT } fit;
};

struct choice {
        struct candidate *list;
        uint32_t count, met; /* met: descriptors of all indexes */
};

static int find_layer(struct image_reading *r, struct image *i, const struct image_descriptor *d,
        uint32_t number, struct error *err)
{
        _cleanup_place_ struct place p = PLACE_INIT;
        const struct member_name name = image_blob_name(r, d->digest);
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
        image_put_layer(i, name.text, &p, d->digest, number, d->compression);
        return 0;
}

int image_tell_by_manifest(
        struct image_reading *r, struct image *i, const char *member, struct error *err)
{
        _cleanup_image_manifest_ struct image_manifest m = {0};
        int understood;

        if (image_manifest_read(&m, i->manifest.data, i->manifest.len, err) < 0)
                return error_add(err, "%s", member);
        memcpy(i->id, m.config.digest, sizeof i->id);
        if (image_read_blob(r, &m.config, IMAGE_MAX_CONFIG, &i->config_bytes, err) < 0)
                return -1;
        understood = image_understand_config(
                r, i, image_blob_name(r, m.config.digest).text, m.count, err);
        if (understood <= 0)
                return understood;
        for (uint32_t n = 0; n < m.count; n++)
                if (find_layer(r, i, &m.layers[n], n, err) < 0)
                        return -1;
        return image_tell(r, i, err) < 0 ? -1 : 1;
}

static int tell_manifest(struct image_reading *r, struct image *i, const struct image_descriptor *d,
        struct error *err)
{
        if (image_read_blob(r, d, IMAGE_MAX_MANIFEST, &i->manifest, err) < 0)
                return -1;
        memcpy(i->manifest_digest, d->digest, sizeof i->manifest_digest);
        return image_tell_by_manifest(r, i, image_blob_name(r, d->digest).text, err);
}

static enum fit fit_of(const struct image_descriptor *d)
{
        const char *usual = strcmp(d->architecture, "arm64") == 0 ? "v8" : "";

        if (*d->os == '\0' && *d->architecture == '\0')
                return FIT_UNTOLD;
        return strcmp(d->variant, usual) == 0 ? FIT_VARIANT : FIT_ARCHITECTURE;
}

static int collect(struct image_reading *r, const struct image_descriptor *top,
        const struct image_descriptor *d, unsigned depth, struct choice *c, struct error *err);

static int collect_index(struct image_reading *r, const struct image_descriptor *top,
        const struct image_descriptor *d, unsigned depth, struct choice *c, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        if (depth == MAX_NESTING)
                return error_set(err, CODE_IMAGE_INVALID, "%s: indexes more than %d deep",
                        image_blob_name(r, d->digest).text, MAX_NESTING);
        if (image_read_blob(r, d, IMAGE_MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (image_index_read(&index, bytes.data, bytes.len, err) < 0)
                return error_add(err, "%s", image_blob_name(r, d->digest).text);
        for (uint32_t n = 0; n < index.count; n++)
                if (collect(r, top, &index.list[n], depth + 1, c, err) < 0)
                        return -1;
        return 0;
}

/* Gather the manifests below `d` that may be for this machine. */
static int collect(struct image_reading *r, const struct image_descriptor *top,
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
        if (fit_of(d) != FIT_UNTOLD && !image_is_for(r, d->os, d->architecture)) {
                image_hold(r, top->names, top->name_count, d->os, d->architecture);
                return 0;
        }
        c->list[c->count++] = (struct candidate){*d, fit_of(d)};
        return 0;
}

/* The best of the candidates; those whose platform is not told are asked one after the other. */
static int tell_best(struct image_reading *r, const struct image_descriptor *top,
        const struct choice *c, struct error *err)
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

static int tell_named(
        struct image_reading *r, const struct image_descriptor *top, struct error *err)
{
        struct choice c = {0};
        int result;

        if (!image_is_wanted(r, top->names, top->name_count)) {
                image_hold(r, top->names, top->name_count, top->os, top->architecture);
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

static int check_layout(struct image_reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;

        if (image_read_document(r, "oci-layout", IMAGE_MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        return image_layout_check(bytes.data, bytes.len, err) < 0 ? error_add(err, "oci-layout")
                                                                  : 0;
}

int image_read_oci(struct image_reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        r->folder = "blobs/sha256/";
        if (check_layout(r, err) < 0 ||
                image_read_document(r, "index.json", IMAGE_MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (image_index_read(&index, bytes.data, bytes.len, err) < 0)
                return error_add(err, "index.json");
        for (uint32_t n = 0; n < index.count; n++)
                if (tell_named(r, &index.list[n], err) < 0)
                        return -1;
        return 0;
}
