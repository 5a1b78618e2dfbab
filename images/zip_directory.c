/* Does a zip archive agree with itself? libarchive takes each name from the header before the
 * entry, up to the first NUL, others take it from the directory: an archive that shows one file
 * to us and another to its author's tools is not one to grade. Nor is one whose entries share
 * bytes, the way to a bomb without compression.
 *
 * Nothing else relies on this: what is judged and written is what libarchive says. An archive
 * with the 64-bit extension, whose numbers are elsewhere, is let through. */
#include "images/zip_directory.h"

#include "fd.h"
#include "frame.h"
#include "images/messages.h"

#include <search.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        END_SIZE = 22,
        END_SEARCHED = 64 << 10, /* a comment may follow it */
        LOCAL_SIZE = 30,
        CENTRAL_SIZE = 46,
        CENTRAL_SIGNATURE = 0x02014b50,
        LOCAL_SIGNATURE = 0x04034b50,
        MAX_DIRECTORY = 16 << 20,
};

struct directory {
        uint64_t offset, size; /* in the file */
        uint64_t shift;        /* bytes before the archive, which its offsets do not count */
        struct buffer bytes;
};

/* Where an entry lies. */
struct extent {
        uint64_t start, end;
        const unsigned char *name;
        size_t name_len;
};

static int damaged(const struct extent *e, const char *why, struct error *err)
{
        int shown = e->name_len < 100 ? (int)e->name_len : 100;

        return error_set(err, CODE_ARCHIVE_DAMAGED, "%.*s: %s", shown, (const char *)e->name, why);
}

static void skip(struct reader *r, size_t len)
{
        while (len-- > 0)
                get_u8(r);
}

/* The record that ends the archive, in the last bytes of the file. 1 when it was found. */
static int find_end(int fd, uint64_t file_size, struct directory *ret)
{
        static unsigned char tail[END_SEARCHED];
        size_t len = file_size < sizeof tail ? (size_t)file_size : sizeof tail;
        uint64_t start = file_size - len;

        if (len < END_SIZE || pread(fd, tail, len, (off_t)start) != (ssize_t)len)
                return 0;
        for (size_t at = len - END_SIZE + 1; at-- > 0;) {
                struct reader r = reader_of(tail + at, len - at);
                uint64_t offset;

                if (memcmp(tail + at, "PK\5\6", 4) != 0)
                        continue;
                skip(&r, 12);
                ret->size = get_u32(&r);
                offset = get_u32(&r);
                if (offset + ret->size > start + at)
                        continue;
                ret->offset = start + at - ret->size;
                ret->shift = ret->offset - offset;
                return 1;
        }
        return 0;
}

/* The header before the entry: the same name; where its data end. */
static int check_local(int fd, struct extent *e, uint64_t packed, struct error *err)
{
        unsigned char local[LOCAL_SIZE + UNPACK_MAX_PATH];
        size_t want = LOCAL_SIZE + (e->name_len < UNPACK_MAX_PATH ? e->name_len : UNPACK_MAX_PATH);
        ssize_t got = pread(fd, local, want, (off_t)e->start);
        struct reader r = reader_of(local, got > 0 ? (size_t)got : 0);
        unsigned name_len, extra_len;

        if (got != (ssize_t)want || get_u32(&r) != LOCAL_SIGNATURE)
                return damaged(e, "listed in the archive's directory, but not there", err);
        skip(&r, 22);
        name_len = get_u16(&r);
        extra_len = get_u16(&r);
        if (name_len != e->name_len || memcmp(r.at, e->name, r.left) != 0)
                return damaged(e, "has another name in the archive's directory", err);
        e->end = e->start + LOCAL_SIZE + name_len + extra_len + packed;
        return 0;
}

/* One record of the directory; 1, or 0 when its numbers are 64-bit ones. */
static int read_central(
        int fd, const struct directory *d, struct reader *r, struct extent *ret, struct error *err)
{
        uint64_t packed, offset;
        unsigned extra_len, comment_len;

        skip(r, 16);
        packed = get_u32(r);
        skip(r, 4);
        ret->name_len = get_u16(r);
        extra_len = get_u16(r);
        comment_len = get_u16(r);
        skip(r, 8);
        offset = get_u32(r);
        ret->name = r->at;
        skip(r, ret->name_len + extra_len + comment_len);
        if (r->bad)
                return error_set(err, CODE_ARCHIVE_DAMAGED, "the archive's directory is cut off");
        if (packed == UINT32_MAX || offset == UINT32_MAX)
                return 0;
        if (memchr(ret->name, '\0', ret->name_len))
                return error_set(err, CODE_ARCHIVE_UNSAFE_PATH, "%.*s: a name with a NUL inside",
                        (int)ret->name_len, (const char *)ret->name);
        ret->start = offset + d->shift;
        return check_local(fd, ret, packed, err) < 0 ? -1 : 1;
}

/* Order of entries that share no byte; those that do are "equal". */
static int compare(const void *left, const void *right)
{
        const struct extent *a = left, *b = right;

        if (a->end <= b->start)
                return -1;
        return b->end <= a->start ? 1 : 0;
}

static int check_records(
        int fd, const struct directory *d, struct extent *extents, void **tree, struct error *err)
{
        struct reader r = reader_of(d->bytes.data, d->bytes.len);

        for (struct extent *e = extents; r.left > 0 && get_u32(&r) == CENTRAL_SIGNATURE; e++) {
                struct extent *const *found;
                int known = read_central(fd, d, &r, e, err);

                if (known < 0)
                        return -1;
                if (known == 0)
                        continue;
                found = tsearch(e, tree, compare);
                if (!found)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (*found != e || e->end > d->offset)
                        return damaged(e, "shares bytes with another entry", err);
        }
        return 0;
}

static void keep(void *extent)
{
        (void)extent;
}

/* (Not qsort(): it asks the system how much memory there is.) */
static int check_directory(int fd, const struct directory *d, struct error *err)
{
        struct extent *extents = calloc(d->size / CENTRAL_SIZE + 1, sizeof *extents);
        void *tree = NULL;
        int r;

        if (!extents)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = check_records(fd, d, extents, &tree, err);
        tdestroy(tree, keep);
        free(extents);
        return r;
}

static int load(int fd, struct directory *d, struct error *err)
{
        unsigned char *to = d->size <= MAX_DIRECTORY ? buffer_reserve(&d->bytes, d->size) : NULL;

        if (!to)
                return error_set(err, CODE_ARCHIVE_ENTRIES, "the archive's directory is too large");
        if (pread(fd, to, d->size, (off_t)d->offset) != (ssize_t)d->size)
                return error_set(err, CODE_ARCHIVE_TRUNCATED, "the archive's directory is cut off");
        buffer_advance(&d->bytes, d->size);
        return 0;
}

int zip_directory_check(int fd, struct error *err)
{
        struct directory d = {.bytes = BUFFER_INIT};
        struct stat st;
        int r;

        if (fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the archive");
        if (!find_end(fd, (uint64_t)st.st_size, &d))
                return 0; /* the 64-bit form, or libarchive would not have taken it */
        r = load(fd, &d, err) < 0 ? -1 : check_directory(fd, &d, err);
        buffer_free(&d.bytes);
        return r;
}
