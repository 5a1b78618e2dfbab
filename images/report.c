/* Answer frames; see report.h. */
#include "images/report.h"

#include "frame.h"

static int send_warning(int fd, const char *field, const char *message, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_text(&b, field);
        put_text(&b, message);
        return frame_send(fd, UNPACK_WARNING, &b, NULL, 0, err);
}

int report_warning(struct report *r, const char *field, const char *message, struct error *err)
{
        r->warnings++;
        return r->warnings <= UNPACK_MAX_WARNINGS ? send_warning(r->fd, field, message, err) : 0;
}

/* The warnings that were not sent. */
static int report_rest(struct report *r, struct error *err)
{
        char message[64];

        if (r->warnings <= UNPACK_MAX_WARNINGS)
                return 0;
        snprintf(message, sizeof message, "%u more warnings", r->warnings - UNPACK_MAX_WARNINGS);
        return send_warning(r->fd, "", message, err);
}

int report_section(struct report *r, unsigned number, const struct buffer *text, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u8(&b, (uint8_t)number);
        put_bytes(&b, text->data, text->len);
        return frame_send(r->fd, UNPACK_SECTION, &b, NULL, 0, err);
}

int report_done(struct report *r, const struct outcome *o, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u64(&b, o->entries);
        put_u64(&b, o->bytes);
        put_u32(&b, o->sections);
        put_u8(&b, o->has_submission_md);
        put_text(&b, o->root);
        put_text(&b, o->digest);
        if (report_rest(r, err) < 0)
                return -1;
        return frame_send(r->fd, UNPACK_DONE, &b, NULL, 0, err);
}

int report_opaque(struct report *r, const char *path, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_text(&b, path);
        return frame_send(r->fd, UNPACK_OPAQUE, &b, NULL, 0, err);
}

int report_skeleton(
        struct report *r, bool anew, const unsigned char *bytes, size_t len, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u8(&b, anew);
        put_bytes(&b, bytes, len);
        return frame_send(r->fd, UNPACK_SKELETON, &b, NULL, 0, err);
}

int report_layer_done(struct report *r, const struct layer_outcome *o, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_text(&b, o->digest);
        put_text(&b, o->diff_id);
        put_u64(&b, o->entries);
        put_u64(&b, o->bytes);
        if (report_rest(r, err) < 0)
                return -1;
        return frame_send(r->fd, UNPACK_LAYER_DONE, &b, NULL, 0, err);
}

int report_blob(struct report *r, enum unpack_blob kind, const char *digest,
        const struct buffer *bytes, struct error *err)
{
        size_t at = 0;

        do {
                _cleanup_buffer_ struct buffer b = BUFFER_INIT;
                size_t left = bytes->len - at;
                size_t piece = left < UNPACK_MAX_PIECE ? left : UNPACK_MAX_PIECE;

                put_u8(&b, (uint8_t)kind);
                put_text(&b, digest);
                put_u64(&b, bytes->len);
                put_bytes(&b, bytes->data + at, piece);
                if (frame_send(r->fd, UNPACK_BLOB, &b, NULL, 0, err) < 0)
                        return -1;
                at += piece;
        } while (at < bytes->len);
        return 0;
}

int report_image(struct report *r, const struct buffer *image, struct error *err)
{
        return frame_send(r->fd, UNPACK_IMAGE_FOUND, image, NULL, 0, err);
}

int report_images_done(struct report *r, uint32_t images, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u32(&b, images);
        if (report_rest(r, err) < 0)
                return -1;
        return frame_send(r->fd, UNPACK_IMAGES_DONE, &b, NULL, 0, err);
}

int report_user(struct report *r, const struct user *user, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u32(&b, user->uid);
        put_u32(&b, user->gid);
        put_text(&b, user->home);
        return frame_send(r->fd, UNPACK_USER_FOUND, &b, NULL, 0, err);
}

int report_file(
        struct report *r, const char *path, uint64_t size, const char *digest, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_text(&b, path);
        put_u64(&b, size);
        put_text(&b, digest);
        return frame_send(r->fd, UNPACK_FILE, &b, NULL, 0, err);
}

int report_found(struct report *r, uint32_t which, const char *path, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_u32(&b, which);
        put_text(&b, path);
        return frame_send(r->fd, UNPACK_FOUND, &b, NULL, 0, err);
}

int report_error(struct report *r, const struct error *what, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        put_error(&b, what);
        if (report_rest(r, err) < 0)
                return -1;
        return frame_send(r->fd, UNPACK_ERROR, &b, NULL, 0, err);
}
