/* Rebuilding tars; see rebuild.h. Skeleton and directory may be damaged in any way: a record says
 * which bytes a file had, and a check sum finds the file that has others. */
#include "images/rebuild.h"

#include "beneath.h"
#include "fd.h"
#include "frame.h"
#include "images/skeleton.h"

#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

static int corrupt(const char *why, struct error *err)
{
        return error_set(err, CODE_IMAGE_CORRUPT, "its skeleton %s", why);
}

/* --- reading the skeleton ------------------------------------------------------------------- */

/* Have some bytes of it. */
static int fill(struct rebuild *r, struct error *err)
{
        ssize_t n;

        if (r->left > 0)
                return 0;
        n = decompress_next(r->skeleton, &r->at, err);
        if (n < 0 && err && code_info(err->code)->class == CLASS_SUBMISSION)
                return corrupt("is damaged", err);
        if (n <= 0)
                return n < 0 ? -1 : corrupt("ends too early", err);
        r->left = (size_t)n;
        return 0;
}

static int take(struct rebuild *r, void *to, size_t len, struct error *err)
{
        unsigned char *out = to;

        while (len > 0) {
                size_t n;

                if (fill(r, err) < 0)
                        return -1;
                n = len < r->left ? len : r->left;
                memcpy(out, r->at, n);
                out += n;
                len -= n;
                r->at += n;
                r->left -= n;
        }
        return 0;
}

/* Nothing can be there, or what is there cannot be a file of a layer. */
static bool is_missing(int number)
{
        static const int numbers[] = {ENOENT, ENOTDIR, ELOOP, ENXIO, EXDEV, ENAMETOOLONG};

        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                if (numbers[i] == number)
                        return true;
        return false;
}

static int open_file(struct rebuild *r, uint64_t size, struct error *err)
{
        struct stat st;

        r->file = beneath_open(r->tree, r->path.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (r->file < 0 && !is_missing(errno))
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", r->path.text);
        if (r->file < 0)
                return error_set(err, CODE_IMAGE_CORRUPT, "%.300s: is missing", r->path.text);
        if (fstat(r->file, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(
                        err, CODE_IMAGE_CORRUPT, "%.300s: is no regular file", r->path.text);
        if ((uint64_t)st.st_size != size)
                return error_set(err, CODE_IMAGE_CORRUPT, "%.300s: has %llu bytes instead of %llu",
                        r->path.text, (unsigned long long)st.st_size, (unsigned long long)size);
        r->file_left = size;
        r->crc = 0;
        return 0;
}

static int begin_file(struct rebuild *r, struct error *err)
{
        unsigned char fixed[8 + 8 + 2];
        struct reader reader = reader_of(fixed, sizeof fixed);
        uint64_t size;
        size_t len;

        if (take(r, fixed, sizeof fixed, err) < 0)
                return -1;
        size = get_u64(&reader);
        r->file_crc = get_u64(&reader);
        len = get_u16(&reader);
        if (size == 0 || len >= sizeof r->path.text)
                return corrupt("is damaged", err);
        if (take(r, r->path.text, len, err) < 0)
                return -1;
        r->path.text[len] = '\0';
        return open_file(r, size, err);
}

static int begin_text(struct rebuild *r, struct error *err)
{
        unsigned char fixed[4];
        struct reader reader = reader_of(fixed, sizeof fixed);

        if (take(r, fixed, sizeof fixed, err) < 0)
                return -1;
        r->text = get_u32(&reader);
        return 0;
}

/* Nothing stands behind it; only here the check sum of the compressed data is looked at. */
static int end(struct rebuild *r, struct error *err)
{
        ssize_t n = r->left > 0 ? 1 : decompress_next(r->skeleton, &r->at, err);

        r->ended = n == 0;
        if (r->ended)
                return 0;
        return n < 0 && code_info(err->code)->class != CLASS_SUBMISSION
                       ? -1
                       : corrupt("is damaged", err);
}

static int begin_record(struct rebuild *r, struct error *err)
{
        unsigned char kind;

        if (!r->began) {
                if (take(r, &kind, 1, err) < 0)
                        return -1;
                if (kind != SKELETON_VERSION)
                        return corrupt("is of another version", err);
                r->began = true;
        }
        if (take(r, &kind, 1, err) < 0)
                return -1;
        switch (kind) {
        case SKELETON_TEXT:
                return begin_text(r, err);
        case SKELETON_FILE:
                return begin_file(r, err);
        case SKELETON_END:
                return end(r, err);
        default:
                return corrupt("is damaged", err);
        }
}

/* --- the tar -------------------------------------------------------------------------------- */

static ssize_t next_of_file(struct rebuild *r, const unsigned char **ret, struct error *err)
{
        size_t most = r->file_left < sizeof r->data ? (size_t)r->file_left : sizeof r->data;
        ssize_t n = read(r->file, r->data, most);

        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", r->path.text);
        if (n == 0)
                return error_set(err, CODE_IMAGE_CORRUPT, "%.300s: got shorter", r->path.text);
        r->file_left -= (uint64_t)n;
        r->crc = lzma_crc64(r->data, (size_t)n, r->crc);
        *ret = r->data;
        if (r->file_left > 0)
                return n;
        r->file = fd_close(r->file);
        return r->crc == r->file_crc ? n
                                     : error_set(err, CODE_IMAGE_CORRUPT,
                                               "%.300s: has another content", r->path.text);
}

static ssize_t next_of_text(struct rebuild *r, const unsigned char **ret, struct error *err)
{
        size_t n;

        if (fill(r, err) < 0)
                return -1;
        n = r->text < r->left ? (size_t)r->text : r->left;
        *ret = r->at;
        r->text -= n;
        r->at += n;
        r->left -= n;
        return (ssize_t)n;
}

ssize_t rebuild_next(struct rebuild *r, const unsigned char **ret, struct error *err)
{
        ssize_t n;

        while (!r->ended && r->text == 0 && r->file < 0)
                if (begin_record(r, err) < 0)
                        return -1;
        if (r->ended)
                return 0;
        n = r->file >= 0 ? next_of_file(r, ret, err) : next_of_text(r, ret, err);
        if (n > 0) {
                sha256_update(&r->digest, (size_t)n, *ret);
                r->bytes += (uint64_t)n;
        }
        return n;
}

int rebuild_open(struct rebuild *r, int tree, int skeleton, struct error *err)
{
        r->tree = tree;
        r->skeleton_file = skeleton;
        r->file = -EBADF;
        r->left = 0;
        r->text = r->bytes = 0;
        r->began = r->ended = false;
        sha256_init(&r->digest);
        r->skeleton = decompress_open(skeleton, err);
        if (!r->skeleton)
                r->skeleton_file = fd_close(skeleton);
        return r->skeleton ? 0 : -1;
}

void rebuild_close(struct rebuild *r)
{
        decompress_close(r->skeleton);
        fd_close(r->skeleton_file);
        fd_close(r->file);
}

void rebuild_digest(struct rebuild *r, char ret[DIGEST_SIZE])
{
        digest_text(&r->digest, ret);
}
