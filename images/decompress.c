/* Reading compressed files; see decompress.h. Each compression is a row of `codecs`: what its parts
 * begin with, and how one is begun, carried on and ended. */
#include "images/decompress.h"

#include <bzlib.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
        IN_SIZE = 64 << 10,
        OUT_SIZE = 128 << 10,
        MAGIC_MAX = 6,
        HEAD = 512,
        XZ_MEMORY = 80 << 20, /* xz -9 needs 65 MiB */
        ZSTD_WINDOW_LOG = 26, /* 64 MiB */
        BLOB_WINDOW_LOG = 25, /* many files are remembered beside it */
};

enum step {
        STEP_ON,
        STEP_PART_ENDS,
        STEP_DAMAGED,
        STEP_WINDOW,
        STEP_UNSUPPORTED,
        STEP_MEMORY,
};

struct codec {
        const char *name;
        bool (*begins)(const unsigned char *bytes); /* MAGIC_MAX of them, zeros behind the end */
        enum step (*begin)(struct decompressor *d); /* the first part, or another one */
        enum step (*step)(struct decompressor *d);
        void (*end)(struct decompressor *d);
};

struct decompressor {
        int fd;
        const struct codec *codec; /* NULL: as it is */
        bool began;                /* `state` is there */
        bool in_part, at_end, left_some;
        uint64_t at;   /* in the file, where others read beside us */
        uint64_t left; /* bytes to read, at most */
        bool is_blob;
        int window_log;
        struct sha256_ctx digest, plain;
        union {
                z_stream gzip;
                bz_stream bzip2;
                lzma_stream xz;
                ZSTD_DStream *zstd;
        } state;
        size_t in_at, in_len;
        size_t out_len;
        const unsigned char *piece; /* that was peeked at */
        ssize_t piece_len;
        bool peeked;
        unsigned char in[IN_SIZE], out[OUT_SIZE];
};

/* --- the compressions ----------------------------------------------------------------------- */

static bool gzip_begins(const unsigned char *b)
{
        return b[0] == 0x1f && b[1] == 0x8b && b[2] == 8;
}

static enum step gzip_begin(struct decompressor *d)
{
        enum { WITH_HEADER = 16 };

        if (d->began)
                return inflateReset(&d->state.gzip) == Z_OK ? STEP_ON : STEP_MEMORY;
        return inflateInit2(&d->state.gzip, WITH_HEADER + MAX_WBITS) == Z_OK ? STEP_ON
                                                                             : STEP_MEMORY;
}

static enum step gzip_step(struct decompressor *d)
{
        z_stream *z = &d->state.gzip;
        int r;

        z->next_in = d->in + d->in_at;
        z->avail_in = (unsigned)(d->in_len - d->in_at);
        z->next_out = d->out + d->out_len;
        z->avail_out = (unsigned)(OUT_SIZE - d->out_len);
        r = inflate(z, Z_NO_FLUSH);
        d->in_at = d->in_len - z->avail_in;
        d->out_len = OUT_SIZE - z->avail_out;
        return r == Z_STREAM_END               ? STEP_PART_ENDS
               : r == Z_MEM_ERROR              ? STEP_MEMORY
               : r == Z_OK || r == Z_BUF_ERROR ? STEP_ON
                                               : STEP_DAMAGED;
}

static void gzip_end(struct decompressor *d)
{
        inflateEnd(&d->state.gzip);
}

static bool bzip2_begins(const unsigned char *b)
{
        return memcmp(b, "BZh", 3) == 0 && b[3] >= '1' && b[3] <= '9';
}

static void bzip2_end(struct decompressor *d)
{
        BZ2_bzDecompressEnd(&d->state.bzip2);
}

static enum step bzip2_begin(struct decompressor *d)
{
        if (d->began)
                bzip2_end(d);
        d->state.bzip2 = (bz_stream){0};
        return BZ2_bzDecompressInit(&d->state.bzip2, 0, 0) == BZ_OK ? STEP_ON : STEP_MEMORY;
}

static enum step bzip2_step(struct decompressor *d)
{
        bz_stream *b = &d->state.bzip2;
        int r;

        b->next_in = (char *)d->in + d->in_at;
        b->avail_in = (unsigned)(d->in_len - d->in_at);
        b->next_out = (char *)d->out + d->out_len;
        b->avail_out = (unsigned)(OUT_SIZE - d->out_len);
        r = BZ2_bzDecompress(b);
        d->in_at = d->in_len - b->avail_in;
        d->out_len = OUT_SIZE - b->avail_out;
        return r == BZ_OK           ? STEP_ON
               : r == BZ_STREAM_END ? STEP_PART_ENDS
               : r == BZ_MEM_ERROR  ? STEP_MEMORY
                                    : STEP_DAMAGED;
}

static bool xz_begins(const unsigned char *b)
{
        return memcmp(b, "\3757zXZ\0", 6) == 0;
}

static enum step xz_step_of(lzma_ret r)
{
        switch (r) {
        case LZMA_OK:
        case LZMA_BUF_ERROR:
                return STEP_ON;
        case LZMA_STREAM_END:
                return STEP_PART_ENDS;
        case LZMA_MEMLIMIT_ERROR:
                return STEP_WINDOW;
        case LZMA_MEM_ERROR:
                return STEP_MEMORY;
        case LZMA_OPTIONS_ERROR:
        case LZMA_UNSUPPORTED_CHECK:
                return STEP_UNSUPPORTED;
        default:
                return STEP_DAMAGED;
        }
}

static enum step xz_begin(struct decompressor *d)
{
        if (!d->began)
                d->state.xz = (lzma_stream)LZMA_STREAM_INIT;
        return xz_step_of(
                lzma_stream_decoder(&d->state.xz, XZ_MEMORY, LZMA_TELL_UNSUPPORTED_CHECK));
}

static enum step xz_step(struct decompressor *d)
{
        lzma_stream *x = &d->state.xz;
        lzma_ret r;

        x->next_in = d->in + d->in_at;
        x->avail_in = d->in_len - d->in_at;
        x->next_out = d->out + d->out_len;
        x->avail_out = OUT_SIZE - d->out_len;
        r = lzma_code(x, LZMA_RUN);
        d->in_at = d->in_len - x->avail_in;
        d->out_len = OUT_SIZE - x->avail_out;
        return xz_step_of(r);
}

static void xz_end(struct decompressor *d)
{
        lzma_end(&d->state.xz);
}

/* A frame, or one of those that only say something to somebody else. */
static bool zstd_begins(const unsigned char *b)
{
        return memcmp(b, "\x28\xb5\x2f\xfd", 4) == 0 ||
               ((b[0] & 0xf0) == 0x50 && memcmp(b + 1, "\x2a\x4d\x18", 3) == 0);
}

static enum step zstd_begin(struct decompressor *d)
{
        if (!d->began)
                d->state.zstd = ZSTD_createDStream();
        if (!d->state.zstd ||
                ZSTD_isError(ZSTD_DCtx_reset(d->state.zstd, ZSTD_reset_session_only)) ||
                ZSTD_isError(
                        ZSTD_DCtx_setParameter(d->state.zstd, ZSTD_d_windowLogMax, d->window_log)))
                return STEP_MEMORY;
        return STEP_ON;
}

static enum step zstd_step(struct decompressor *d)
{
        ZSTD_inBuffer in = {d->in, d->in_len, d->in_at};
        ZSTD_outBuffer out = {d->out, OUT_SIZE, d->out_len};
        size_t r = ZSTD_decompressStream(d->state.zstd, &out, &in);

        d->in_at = in.pos;
        d->out_len = out.pos;
        if (!ZSTD_isError(r))
                return r == 0 ? STEP_PART_ENDS : STEP_ON;
        switch (ZSTD_getErrorCode(r)) {
        case ZSTD_error_frameParameter_windowTooLarge:
                return STEP_WINDOW;
        case ZSTD_error_memory_allocation:
                return STEP_MEMORY;
        case ZSTD_error_dictionary_wrong:
        case ZSTD_error_frameParameter_unsupported:
        case ZSTD_error_version_unsupported:
                return STEP_UNSUPPORTED;
        default:
                return STEP_DAMAGED;
        }
}

static void zstd_end(struct decompressor *d)
{
        ZSTD_freeDStream(d->state.zstd);
}

static const struct codec codecs[] = {
        {"gzip", gzip_begins, gzip_begin, gzip_step, gzip_end},
        {"bzip2", bzip2_begins, bzip2_begin, bzip2_step, bzip2_end},
        {"xz", xz_begins, xz_begin, xz_step, xz_end},
        {"zstd", zstd_begins, zstd_begin, zstd_step, zstd_end},
};

/* --- the stream ----------------------------------------------------------------------------- */

/* Read once more into the room behind the input. */
static int read_some(struct decompressor *d, struct error *err)
{
        size_t room = IN_SIZE - d->in_len;
        ssize_t n;

        if (room > d->left)
                room = (size_t)d->left;
        do
                n = pread(d->fd, d->in + d->in_len, room, (off_t)d->at);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the archive");
        d->at_end = n == 0;
        if (d->is_blob)
                sha256_update(&d->digest, (size_t)n, d->in + d->in_len);
        d->in_len += (size_t)n;
        d->at += (size_t)n;
        if (d->left != UINT64_MAX)
                d->left -= (size_t)n;
        if (d->at_end && d->left > 0 && d->left != UINT64_MAX)
                return error_set(err, CODE_ARCHIVE_TRUNCATED, "the file ends %llu bytes too early",
                        (unsigned long long)d->left);
        return 0;
}

/* Have at least `want` bytes, as far as the file goes. */
static int fill(struct decompressor *d, size_t want, struct error *err)
{
        if (d->in_len - d->in_at >= want || d->at_end)
                return 0;
        memmove(d->in, d->in + d->in_at, d->in_len - d->in_at);
        d->in_len -= d->in_at;
        d->in_at = 0;
        while (d->in_len < want && !d->at_end)
                if (read_some(d, err) < 0)
                        return -1;
        return 0;
}

static const struct codec *find_codec(const unsigned char *bytes, size_t len)
{
        unsigned char first[MAGIC_MAX] = {0};

        memcpy(first, bytes, len < MAGIC_MAX ? len : MAGIC_MAX);
        for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
                if (codecs[i].begins(first))
                        return &codecs[i];
        return NULL;
}

bool decompress_begins(const unsigned char *bytes, size_t len)
{
        return find_codec(bytes, len) != NULL;
}

static int begin(struct decompressor *d, const struct blob *b, struct error *err)
{
        d->fd = b->fd;
        d->at = b->offset;
        d->left = b->length;
        if (fill(d, MAGIC_MAX, err) < 0)
                return -1;
        d->codec = find_codec(d->in, d->in_len);
        return 0;
}

static struct decompressor *open_part(const struct blob *b, bool is_blob, struct error *err)
{
        struct decompressor *d = calloc(1, sizeof *d);

        if (!d) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        d->is_blob = is_blob;
        d->window_log = is_blob ? BLOB_WINDOW_LOG : ZSTD_WINDOW_LOG;
        sha256_init(&d->digest);
        sha256_init(&d->plain);
        if (begin(d, b, err) == 0)
                return d;
        free(d);
        return NULL;
}

struct decompressor *decompress_open(int fd, struct error *err)
{
        const struct blob all = {fd, 0, UINT64_MAX};

        return open_part(&all, false, err);
}

struct decompressor *decompress_open_blob(const struct blob *b, struct error *err)
{
        return open_part(b, true, err);
}

void decompress_close(struct decompressor *d)
{
        if (d && d->began)
                d->codec->end(d);
        free(d);
}

static int broken(const struct decompressor *d, enum step step, struct error *err)
{
        const char *name = d->codec->name;

        switch (step) {
        case STEP_WINDOW:
                return error_set(err, CODE_ARCHIVE_WINDOW,
                        "the %s data look back farther than %d MiB", name,
                        1 << (d->window_log - 20));
        case STEP_UNSUPPORTED:
                return error_set(err, CODE_ARCHIVE_UNSUPPORTED,
                        "the %s data use something that is not supported", name);
        case STEP_MEMORY:
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        default:
                return error_set(err, CODE_ARCHIVE_DAMAGED, "the %s data are damaged", name);
        }
}

/* Between two parts. 1: another one begins; 0: that was all. Zeros are what fills up a tape, but
 * nothing may stand behind a blob: readers would not agree on what its plain bytes are. */
static int begin_part(struct decompressor *d, struct error *err)
{
        enum step step;

        do {
                if (fill(d, MAGIC_MAX, err) < 0)
                        return -1;
                while (d->began && !d->is_blob && d->in_at < d->in_len && d->in[d->in_at] == 0)
                        d->in_at++;
        } while (d->in_at == d->in_len && !d->at_end);
        if (d->in_at == d->in_len)
                return 0;
        if (fill(d, MAGIC_MAX, err) < 0)
                return -1;
        if (find_codec(d->in + d->in_at, d->in_len - d->in_at) != d->codec) {
                d->left_some = true;
                return d->is_blob
                               ? error_set(err, CODE_ARCHIVE_UNSUPPORTED,
                                         "something else stands behind the %s data", d->codec->name)
                               : 0;
        }
        step = d->codec->begin(d);
        if (step != STEP_ON)
                return broken(d, step, err);
        d->began = d->in_part = true;
        return 1;
}

/* Go on in a part until the output is full or the part ends. */
static int go_on(struct decompressor *d, struct error *err)
{
        while (d->in_part && d->out_len < OUT_SIZE) {
                size_t in_before = d->in_at, out_before = d->out_len;
                enum step step;

                if (d->in_at == d->in_len) {
                        if (fill(d, 1, err) < 0)
                                return -1;
                        in_before = d->in_at;
                }
                step = d->codec->step(d);
                if (step == STEP_PART_ENDS)
                        d->in_part = false;
                else if (step != STEP_ON)
                        return broken(d, step, err);
                else if (d->at_end && d->in_at == in_before && d->out_len == out_before)
                        return error_set(err, CODE_ARCHIVE_TRUNCATED, "the %s data end too early",
                                d->codec->name);
        }
        return 0;
}

/* What stands in the file itself. */
static ssize_t plain_piece(struct decompressor *d, const unsigned char **ret, struct error *err)
{
        size_t len;

        if (fill(d, HEAD, err) < 0)
                return -1;
        *ret = d->in + d->in_at;
        len = d->in_len - d->in_at;
        d->in_at = d->in_len;
        return (ssize_t)len;
}

static ssize_t unpacked_piece(struct decompressor *d, const unsigned char **ret, struct error *err)
{
        d->out_len = 0;
        *ret = d->out;
        while (d->out_len < OUT_SIZE) {
                int r = d->in_part || d->left_some ? d->in_part : begin_part(d, err);

                if (r < 0)
                        return -1;
                if (r == 0)
                        break;
                if (go_on(d, err) < 0)
                        return -1;
        }
        return (ssize_t)d->out_len;
}

static ssize_t next_piece(struct decompressor *d, const unsigned char **ret, struct error *err)
{
        ssize_t n = d->codec ? unpacked_piece(d, ret, err) : plain_piece(d, ret, err);

        if (n > 0 && d->is_blob && d->codec)
                sha256_update(&d->plain, (size_t)n, *ret);
        return n;
}

ssize_t decompress_next(struct decompressor *d, const unsigned char **ret, struct error *err)
{
        if (d->peeked) {
                d->peeked = false;
                *ret = d->piece;
                return d->piece_len;
        }
        return next_piece(d, ret, err);
}

ssize_t decompress_peek(struct decompressor *d, const unsigned char **ret, struct error *err)
{
        if (!d->peeked)
                d->piece_len = next_piece(d, &d->piece, err);
        d->peeked = d->piece_len >= 0;
        *ret = d->piece;
        return d->piece_len;
}

const char *decompress_name(const struct decompressor *d)
{
        return d->codec ? d->codec->name : NULL;
}

bool decompress_left_some(const struct decompressor *d)
{
        return d->left_some;
}

void decompress_digests(
        struct decompressor *d, char ret_digest[DIGEST_SIZE], char ret_plain[DIGEST_SIZE])
{
        digest_text(&d->digest, ret_digest);
        if (d->codec)
                digest_text(&d->plain, ret_plain);
        else
                memcpy(ret_plain, ret_digest, DIGEST_SIZE);
}
