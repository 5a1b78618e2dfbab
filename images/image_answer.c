/* Answers about images; see image_answer.h. */
#include "images/image_answer.h"

#include "frame.h"

void image_free(struct image *i)
{
        image_config_free(&i->config); /* borrows the bytes */
        buffer_free(&i->manifest);
        buffer_free(&i->config_bytes);
        buffer_free(&i->index);
        buffer_free(&i->layers);
}

static void put_texts(struct buffer *b, const char *const *list, uint32_t count)
{
        put_u32(b, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(b, list[i]);
}

void image_put_layer(struct image *i, const char *member, const struct place *p, const char *digest,
        uint32_t number, enum unpack_compression compression)
{
        struct buffer *b = &i->layers;

        put_text(b, member);
        put_u64(b, p->offset);
        put_u64(b, p->length);
        put_text(b, digest);
        put_text(b, i->config.diff_ids[number]);
        put_u8(b, (uint8_t)compression);
}

static int warn_of_env(const struct image_reading *r, const struct image *i, struct error *err)
{
        char message[100];

        if (i->config.dropped == 0)
                return 0;
        snprintf(message, sizeof message, "%u entries left out that are not NAME=VALUE",
                i->config.dropped);
        return report_warning(r->report, "Env", message, err);
}

int image_tell(struct image_reading *r, const struct image *i, struct error *err)
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

int image_understand_config(struct image_reading *r, struct image *i, const char *member,
        uint32_t layers, struct error *err)
{
        const struct image_config *c = &i->config;

        if (image_config_read(&i->config, i->config_bytes.data, i->config_bytes.len, err) < 0)
                return error_add(err, "%.200s", member);
        if (!image_is_for(r, c->os, c->architecture)) {
                image_hold(r, i->names, i->name_count, c->os, c->architecture);
                return 0;
        }
        if (c->count != layers)
                return error_set(err, CODE_IMAGE_INVALID, "%.200s: has %u diff_ids for %u layers",
                        member, c->count, layers);
        return 1;
}
