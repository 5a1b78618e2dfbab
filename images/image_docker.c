/* A docker-archive: manifest.json names the members that are configs and layers. Their digests are
 * told only by names, if at all. */
#include "images/docker_manifest.h"
#include "images/image_answer.h"

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

static int find_docker_layer(struct image_reading *r, struct image *i, const char *member,
        uint32_t number, struct error *err)
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
        image_put_layer(i, member, &p, digest, number, UNPACK_COMPRESSION_UNKNOWN);
        return 0;
}

static int tell_docker(struct image_reading *r, const struct docker_image *d, struct error *err)
{
        _cleanup_image_ struct image i = IMAGE_INIT;
        char named[65];
        int understood;

        i.names = d->tags.list;
        i.name_count = d->tags.count;
        if (!image_is_wanted(r, i.names, i.name_count)) {
                image_hold(r, i.names, i.name_count, "", "");
                return 0;
        }
        if (image_read_document(r, d->config, IMAGE_MAX_CONFIG, &i.config_bytes, err) < 0)
                return -1;
        image_hash(&i.config_bytes, i.id);
        if (digest_in_name(d->config, true, named) &&
                image_check_digest(&i.config_bytes, named, d->config, err) < 0)
                return -1;
        understood = image_understand_config(r, &i, d->config, d->layers.count, err);
        if (understood <= 0)
                return understood;
        for (uint32_t n = 0; n < d->layers.count; n++)
                if (find_docker_layer(r, &i, d->layers.list[n], n, err) < 0)
                        return -1;
        return image_tell(r, &i, err);
}

int image_read_docker(struct image_reading *r, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_docker_manifest_ struct docker_manifest m = {0};

        if (image_read_document(r, "manifest.json", IMAGE_MAX_MANIFEST, &bytes, err) < 0)
                return -1;
        if (docker_manifest_read(&m, bytes.data, bytes.len, err) < 0)
                return error_add(err, "manifest.json");
        for (uint32_t n = 0; n < m.count; n++)
                if (tell_docker(r, &m.list[n], err) < 0)
                        return -1;
        return 0;
}
