/* A `dir:` of skopeo: one manifest, and blobs beside it. */
#include "images/image_answer.h"

static int check_transport(struct image_reading *r, struct error *err)
{
        static const char begin[] = "Directory Transport Version: 1.";
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;

        if (image_read_document(r, "version", IMAGE_MAX_MANIFEST, &bytes, err) < 0)
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
static int check_reference(struct image_reading *r, struct image *i, struct error *err)
{
        static const char member[] = "reference.json";
        _cleanup_place_ struct place p = PLACE_INIT;
        _cleanup_image_index_ struct image_index index = {0};
        int found = bundle_find(&r->bundle, member, &p, err);

        if (found <= 0)
                return found;
        if (image_read_place(r, &p, IMAGE_MAX_MANIFEST, &i->index, err) < 0)
                return error_add(err, "%s", member);
        image_hash(&i->index, i->index_digest);
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

int image_read_dir(struct image_reading *r, struct error *err)
{
        _cleanup_image_ struct image i = IMAGE_INIT;
        _cleanup_image_index_ struct image_index index = {0};

        r->folder = "";
        if (!image_is_wanted(r, NULL, 0)) {
                image_hold(r, NULL, 0, "", "");
                return 0;
        }
        if (check_transport(r, err) < 0 ||
                image_read_document(r, "manifest.json", IMAGE_MAX_MANIFEST, &i.manifest, err) < 0)
                return -1;
        if (image_index_read(&index, i.manifest.data, i.manifest.len, NULL) == 0)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "manifest.json: an index of images for several machines, not one image");
        image_hash(&i.manifest, i.manifest_digest);
        i.ref_digest = i.manifest_digest;
        if (check_reference(r, &i, err) < 0)
                return -1;
        return image_tell_by_manifest(r, &i, "manifest.json", err) < 0 ? -1 : 0;
}
