/* The config of an image; see image_config.h. */
#include "images/image_config.h"

#include "images/image_json.h"

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

static size_t texts_length(const struct document_texts *t)
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
        if (!document_member(json_root(&c->doc), "config", &v))
                return 0;
        if (!json_is_object(v.node))
                return document_not_a(v, "config", "an object", err);
        if (document_get_texts(v, "Entrypoint", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL,
                    &c->entrypoint, err) < 0 ||
                document_get_texts(v, "Cmd", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL, &c->cmd,
                        err) < 0 ||
                document_get_texts(v, "Env", IMAGE_MAX_ARGUMENTS, IMAGE_MAX_ARGUMENT, NULL, &c->env,
                        err) < 0 ||
                document_get_text(v, "WorkingDir", UNPACK_MAX_PATH, &c->workdir, err) < 0 ||
                document_get_text(v, "User", IMAGE_MAX_NAME, &c->user, err) < 0)
                return -1;
        drop_from_env(c);
        if (texts_length(&c->entrypoint) + texts_length(&c->cmd) + texts_length(&c->env) >
                IMAGE_MAX_COMMAND)
                return document_refuse(v, CODE_IMAGE_INVALID, err,
                        "Entrypoint, Cmd and Env together have more than 512 KiB");
        return 0;
}

static int read_diff_ids(struct image_config *c, struct error *err)
{
        struct json_value rootfs, type, list, item;

        if (document_need(json_root(&c->doc), "rootfs", &rootfs, err) < 0 ||
                document_need(rootfs, "type", &type, err) < 0)
                return -1;
        if (!json_is_string(type.node) || strcmp(json_string_value(type.node), "layers") != 0)
                return document_refuse(
                        type, CODE_IMAGE_UNSUPPORTED, err, "type must be \"layers\"");
        if (document_get_list(rootfs, "diff_ids", UNPACK_MAX_LAYERS, &list, err) < 0)
                return -1;
        c->diff_ids = document_make_room(list, sizeof *c->diff_ids, err);
        if (!c->diff_ids)
                return -1;
        for (struct json_walk w = json_walk(list); document_next(&w, &item);)
                if (image_take_digest(item, "an item of diff_ids", c->diff_ids[c->count++], err) <
                        0)
                        return -1;
        return 0;
}

int image_config_read(struct image_config *ret, const void *bytes, size_t len, struct error *err)
{
        struct json_value root, v;

        *ret = (struct image_config){0};
        if (document_read_object(&ret->doc, bytes, len, err) < 0)
                return -1;
        root = json_root(&ret->doc);
        if (document_need(root, "os", &v, err) < 0 ||
                document_need(root, "architecture", &v, err) < 0 ||
                document_get_line(root, "os", IMAGE_MAX_NAME, &ret->os, err) < 0 ||
                document_get_line(root, "architecture", IMAGE_MAX_NAME, &ret->architecture, err) <
                        0 ||
                document_get_line(root, "created", IMAGE_MAX_NAME, &ret->created, err) < 0)
                return -1;
        return read_command(ret, err) < 0 ? -1 : read_diff_ids(ret, err);
}

void image_config_free(struct image_config *c)
{
        document_texts_free(&c->entrypoint);
        document_texts_free(&c->cmd);
        document_texts_free(&c->env);
        free(c->diff_ids);
        json_free(&c->doc);
        *c = (struct image_config){0};
}
