/* Writing skeletons; see skeleton.h. The reader of the tar gets its bytes in large pieces, before
 * anybody knows what they are. So they are kept until it has gone past them: what it then has not
 * called the content of a file is text. */
#include "images/skeleton.h"

#include "frame.h"
#include "images/tar_walk.h"

#include <lzma.h>
#include <stdlib.h>

enum { TEXT_AT_ONCE = 64 << 10, PIECE = 256 << 10 };

static int out_of_memory(struct error *err)
{
        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

/* --- what is sent --------------------------------------------------------------------------- */

static int send(struct skeleton *s, struct error *err)
{
        for (size_t at = 0; at < s->packed;) {
                size_t left = s->packed - at, len = left < PIECE ? left : PIECE;

                if (report_skeleton(s->report, s->sent == 0, s->out + at, len, err) < 0)
                        return -1;
                at += len;
                s->sent += len;
        }
        s->packed = 0;
        if (s->sent > UNPACK_MAX_SKELETON)
                return error_set(err, CODE_IMAGE_TOO_LARGE,
                        "what is no content of files has more than %d MiB when it is packed",
                        UNPACK_MAX_SKELETON >> 20);
        return 0;
}

static int pack(struct skeleton *s, const void *bytes, size_t len, int flush, struct error *err)
{
        int r;

        s->zip.next_in = (unsigned char *)(uintptr_t)bytes;
        s->zip.avail_in = (unsigned)len;
        do {
                s->zip.next_out = s->out + s->packed;
                s->zip.avail_out = (unsigned)(sizeof s->out - s->packed);
                r = deflate(&s->zip, flush);
                s->packed = sizeof s->out - s->zip.avail_out;
                if (s->packed == sizeof s->out && send(s, err) < 0)
                        return -1;
        } while (flush == Z_FINISH ? r != Z_STREAM_END : s->zip.avail_in > 0);
        return 0;
}

/* All of the text but its last `keep` bytes. */
static int write_text(struct skeleton *s, size_t keep, struct error *err)
{
        _cleanup_buffer_ struct buffer head = BUFFER_INIT;
        size_t len = s->text.len > keep ? s->text.len - keep : 0;

        if (len == 0)
                return 0;
        put_u8(&head, SKELETON_TEXT);
        put_u32(&head, (uint32_t)len);
        if (!buffer_ok(&head) || !buffer_ok(&s->text))
                return out_of_memory(err);
        if (pack(s, head.data, head.len, Z_NO_FLUSH, err) < 0 ||
                pack(s, s->text.data, len, Z_NO_FLUSH, err) < 0)
                return -1;
        memmove(s->text.data, s->text.data + len, s->text.len - len);
        s->text.len -= len;
        return 0;
}

static int write_file(struct skeleton *s, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        size_t len = strlen(s->file.text);

        put_u8(&b, SKELETON_FILE);
        put_u64(&b, s->file_size);
        put_u64(&b, s->file_crc);
        put_u16(&b, (uint16_t)len);
        buffer_add(&b, s->file.text, len);
        if (!buffer_ok(&b))
                return out_of_memory(err);
        return write_text(s, 0, err) < 0 ? -1 : pack(s, b.data, b.len, Z_NO_FLUSH, err);
}

/* --- what is what --------------------------------------------------------------------------- */

/* Some of the next bytes: 0 when nobody knows more. */
static int judge(struct skeleton *s, const unsigned char *bytes, size_t len, uint64_t passed,
        size_t *ret_used, struct error *err)
{
        bool in_file = s->judged < s->file_end;
        uint64_t end = in_file ? s->file_end : passed;
        uint64_t most = end > s->judged ? end - s->judged : 0;
        size_t n = most < len ? (size_t)most : len;

        *ret_used = n;
        s->judged += n;
        if (!in_file) {
                buffer_add(&s->text, bytes, n);
                return s->text.len < TEXT_AT_ONCE ? 0 : write_text(s, TAR_BLOCK, err);
        }
        s->file_crc = lzma_crc64(bytes, n, s->file_crc);
        return s->judged == s->file_end ? write_file(s, err) : 0;
}

static int judge_ahead(struct skeleton *s, uint64_t passed, struct error *err)
{
        size_t at = 0, used = 1;

        for (; at < s->ahead.len && used > 0; at += used)
                if (judge(s, s->ahead.data + at, s->ahead.len - at, passed, &used, err) < 0)
                        return -1;
        memmove(s->ahead.data, s->ahead.data + at, s->ahead.len - at);
        s->ahead.len -= at;
        return 0;
}

int skeleton_take(struct skeleton *s, const unsigned char *bytes, size_t len, uint64_t passed,
        struct error *err)
{
        size_t used = 1;

        if (judge_ahead(s, passed, err) < 0)
                return -1;
        for (; s->ahead.len == 0 && len > 0 && used > 0; bytes += used, len -= used)
                if (judge(s, bytes, len, passed, &used, err) < 0)
                        return -1;
        buffer_add(&s->ahead, bytes, len);
        return buffer_ok(&s->ahead) ? 0 : out_of_memory(err);
}

/* What stands right before the content is the header of a file that has so many bytes: not that of
 * one with holes, whose content is not in one piece. */
static bool is_its_header(const struct buffer *text, uint64_t size)
{
        enum { SIZE_AT = 124, SIZE_DIGITS = 12, TYPE_AT = 156 };
        const uint64_t beyond = 1ULL << 33; /* is told elsewhere */
        const unsigned char *h = text->data + text->len - (text->len < TAR_BLOCK ? 0 : TAR_BLOCK);
        char digits[SIZE_DIGITS + 1] = {0};

        if (text->len < TAR_BLOCK || !tar_sum_is_right(h) || !memchr("0\0007", h[TYPE_AT], 3))
                return false;
        memcpy(digits, h + SIZE_AT, SIZE_DIGITS);
        return size >= beyond || strtoull(digits, NULL, 8) == size;
}

int skeleton_file(
        struct skeleton *s, const char *path, uint64_t offset, uint64_t size, struct error *err)
{
        if (judge_ahead(s, offset, err) < 0)
                return -1;
        if (size == 0 || s->judged != offset || !is_its_header(&s->text, size))
                return 0;
        s->file_end = offset + size;
        s->file_size = size;
        s->file_crc = 0;
        snprintf(s->file.text, sizeof s->file.text, "%s", path);
        return judge_ahead(s, offset, err) < 0 ? -1 : 1;
}

/* --- from beginning to end ------------------------------------------------------------------ */

int skeleton_open(struct skeleton *s, struct report *report, struct error *err)
{
        static const unsigned char version = SKELETON_VERSION;
        enum { GZIP = 16 };

        s->report = report;
        s->sent = 0;
        s->judged = s->file_end = 0;
        s->packed = 0;
        s->ahead = s->text = (struct buffer)BUFFER_INIT;
        s->zip = (z_stream){0};
        s->began = deflateInit2(&s->zip, Z_BEST_SPEED, Z_DEFLATED, GZIP + MAX_WBITS, MAX_MEM_LEVEL,
                           Z_DEFAULT_STRATEGY) == Z_OK;
        return s->began ? pack(s, &version, 1, Z_NO_FLUSH, err) : out_of_memory(err);
}

void skeleton_close(struct skeleton *s)
{
        if (s->began)
                deflateEnd(&s->zip);
        s->began = false;
        buffer_free(&s->ahead);
        buffer_free(&s->text);
}

int skeleton_finish(struct skeleton *s, struct error *err)
{
        static const unsigned char end = SKELETON_END;

        if (judge_ahead(s, UINT64_MAX, err) < 0 || write_text(s, 0, err) < 0 ||
                pack(s, &end, 1, Z_FINISH, err) < 0)
                return -1;
        return send(s, err);
}
