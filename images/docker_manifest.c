/* manifest.json of a docker-archive; see docker_manifest.h. */
#include "images/docker_manifest.h"

#include "images/image_json.h"
#include "images/name.h"

/* A member's name as a path inside the file; only its normal form is accepted, because the name
 * itself is kept. */
static int check_member(struct json_value v, const char *key, const char *name, struct error *err)
{
        struct error why = {0};
        struct path normal;

        if (name_normalise(name, &normal, &why) < 0)
                return document_refuse(v, CODE_IMAGE_INVALID, err, "%s: %s", key, why.text);
        if (strcmp(normal.text, name) != 0)
                return document_refuse(v, CODE_IMAGE_INVALID, err,
                        "%s must be a plain path inside the file, not `%.100s`", key, name);
        return 0;
}

static int read_docker_image(struct json_value v, struct docker_image *ret, struct error *err)
{
        struct json_value config;
        const char *name = "";

        if (!json_is_object(v.node))
                return document_not_a(v, "an image", "an object", err);
        if (document_need(v, "Config", &config, err) < 0 ||
                document_take_text(config, "Config", IMAGE_MAX_NAME, &name, err) < 0 ||
                check_member(config, "Config", name, err) < 0)
                return -1;
        ret->config = name;
        if (document_get_texts(v, "Layers", UNPACK_MAX_LAYERS, IMAGE_MAX_NAME, check_member,
                    &ret->layers, err) < 0)
                return -1;
        return document_get_texts(v, "RepoTags", IMAGE_MAX_NAMES, IMAGE_MAX_NAME,
                document_check_line, &ret->tags, err);
}

int docker_manifest_read(
        struct docker_manifest *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value root, item;

        *ret = (struct docker_manifest){0};
        if (document_read(&ret->doc, bytes, len, err) < 0)
                return -1;
        root = json_root(&ret->doc);
        if (!json_is_array(root.node))
                return document_not_a(root, "the document", "a list of images", err);
        if (json_array_size(root.node) > IMAGE_MAX_DESCRIPTORS)
                return document_refuse(root, CODE_IMAGE_INVALID, err, "more than 1000 images");
        ret->list = document_make_room(root, sizeof *ret->list, err);
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
                document_texts_free(&m->list[i].tags);
                document_texts_free(&m->list[i].layers);
        }
        free(m->list);
        json_free(&m->doc);
        *m = (struct docker_manifest){0};
}
