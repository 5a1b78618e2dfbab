/* Does a zip archive agree with itself? libarchive takes each name from the header before the
 * entry, up to the first NUL, others take it from the directory: an archive that shows one file
 * to us and another to its author's tools is not one to grade. Nor is one whose entries share
 * bytes, the way to a bomb without compression.
 *
 * Nothing else relies on this: what is judged and written is what libarchive says. */
#include "images/zip_directory.h"

#include "fd.h"
#include "frame.h"
#include "images/messages.h"

#include <search.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
        END_SIZE = 22,
        END_SEARCHED = END_SIZE + UINT16_MAX, /* a comment may follow it */
        LOCATOR_SIZE = 20, /* stands before the end, and tells where the 64-bit end is */
        END64_SIZE = 56,
        LOCAL_SIZE = 30,
        LOCAL_EXTRA = 256, /* more is rare, and read when it is there */
        CENTRAL_SIZE = 46,
        CENTRAL_SIGNATURE = 0x02014b50,
        LOCAL_SIGNATURE = 0x04034b50,
        MAX_DIRECTORY = 16 << 20,
        EXTRA_ZIP64 = 0x0001,
        EXTRA_UNICODE_PATH = 0x7075, /* u8 version, u32 checksum of the name it replaces, name */
        COMPARED_FLAGS = 1 | 1 << 3 | 1 << 11, /* encrypted, sizes behind the data, UTF-8 */
};

struct directory {
        uint64_t offset, size; /* in the file */
        uint64_t shift;        /* bytes before the archive, which its offsets do not count */
        uint64_t count;        /* of entries, of which the 32-bit end knows the lower bits only */
        uint64_t count_mask;
        struct zip_end archive;
        struct buffer bytes;
};

struct text {
        const unsigned char *at;
        size_t len;
};

/* One entry as the directory tells it, and where it lies. */
struct extent {
        uint64_t start, end;
        unsigned flags, method;
        struct text name, unicode; /* the second if there is one: for those who want UTF-8 */
};

static int damaged(const struct extent *e, const char *why, struct error *err)
{
        int shown = e->name.len < 100 ? (int)e->name.len : 100;

        return error_set(
                err, CODE_ARCHIVE_DAMAGED, "%.*s: %s", shown, (const char *)e->name.at, why);
}

static void skip(struct reader *r, size_t len)
{
        while (len-- > 0)
                get_u8(r);
}

/* Nothing, when there is less. */
static struct text take(struct reader *r, size_t len)
{
        struct text t = {r->at, len};

        skip(r, len);
        if (r->bad)
                t.len = 0;
        return t;
}

static bool same(struct text a, struct text b)
{
        return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* --- the end of the file -------------------------------------------------------------------- */

/* The directory ends where the record that tells of it begins. */
static bool place_directory(struct directory *d, uint64_t size, uint64_t offset, uint64_t end)
{
        if (size > end || offset > end - size)
                return false;
        d->size = size;
        d->offset = end - size;
        d->shift = d->offset - offset;
        return true;
}

/* The 64-bit end, whose locator stands before `end`. 1, or 0 when there is none, or -1 when the two
 * ends tell different things. */
static int find_end64(int fd, uint64_t end, uint32_t size32, uint32_t offset32, struct directory *d)
{
        unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];
        uint64_t size, offset, at;
        struct reader r;

        if (end < LOCATOR_SIZE + END64_SIZE ||
                pread(fd, locator, sizeof locator, (off_t)(end - LOCATOR_SIZE)) != LOCATOR_SIZE ||
                memcmp(locator, "PK\6\7", 4) != 0)
                return 0;
        r = reader_of(locator + 8, 8);
        at = get_u64(&r);
        if (at > end - LOCATOR_SIZE - END64_SIZE)
                return -1;
        if (pread(fd, record, sizeof record, (off_t)at) != END64_SIZE)
                return -1;
        if (memcmp(record, "PK\6\6", 4) != 0) { /* bytes before the archive shift it */
                at = end - LOCATOR_SIZE - END64_SIZE;
                if (pread(fd, record, sizeof record, (off_t)at) != END64_SIZE ||
                        memcmp(record, "PK\6\6", 4) != 0)
                        return -1;
        }
        r = reader_of(record + 4, 8);
        if (at + 12 + get_u64(&r) != end - LOCATOR_SIZE)
                return -1;
        r = reader_of(record + 32, 24);
        d->count = get_u64(&r);
        d->count_mask = UINT64_MAX;
        size = get_u64(&r);
        offset = get_u64(&r);
        if ((size32 != UINT32_MAX && size32 != size) ||
                (offset32 != UINT32_MAX && offset32 != offset))
                return -1;
        return place_directory(d, size, offset, at) ? 1 : -1;
}

/* The record that ends the archive, in the last bytes of the file. 1, or 0 when there is none, or
 * -1 when it contradicts itself. */
static int find_end(int fd, struct directory *ret)
{
        static unsigned char tail[END_SEARCHED];
        struct stat st;
        uint64_t start;
        size_t len;

        if (fstat(fd, &st) < 0 || st.st_size < END_SIZE)
                return 0;
        len = (uint64_t)st.st_size < sizeof tail ? (size_t)st.st_size : sizeof tail;
        start = (uint64_t)st.st_size - len;
        if (pread(fd, tail, len, (off_t)start) != (ssize_t)len)
                return 0;
        for (size_t at = len - END_SIZE + 1; at-- > 0;) {
                struct reader r = reader_of(tail + at, len - at);
                size_t behind = len - at - END_SIZE;
                uint32_t size, offset;
                unsigned comment;
                int r64;

                if (memcmp(tail + at, "PK\5\6", 4) != 0)
                        continue;
                skip(&r, 10);
                ret->count = get_u16(&r);
                ret->count_mask = UINT16_MAX;
                size = get_u32(&r);
                offset = get_u32(&r);
                comment = get_u16(&r);
                if (comment > behind)
                        continue;
                ret->archive.end = start + at + END_SIZE;
                ret->archive.left = behind - comment;
                r64 = find_end64(fd, start + at, size, offset, ret);
                if (r64 != 0)
                        return r64;
                if (place_directory(ret, size, offset, start + at))
                        return 1;
        }
        return 0;
}

/* --- its entries ---------------------------------------------------------------------------- */

static bool has_ascii_alone(struct text t)
{
        for (size_t i = 0; i < t.len; i++)
                if (t.at[i] >= 0x80)
                        return false;
        return true;
}

/* The name for those who want UTF-8. Some readers prefer it and some do not know of it, so it may
 * only say what the first cannot. NULL, or why it is none. */
static const char *judge_unicode(struct text name, struct text field)
{
        struct reader r = reader_of(field.at, field.len);
        struct text unicode;

        if (get_u8(&r) != 1 || get_u32(&r) != crc32(0, name.at, (unsigned)name.len))
                return "has a second name that does not belong to the first";
        unicode = (struct text){r.at, r.left};
        if (r.bad || (has_ascii_alone(unicode) && !same(unicode, name)))
                return "has two names";
        return NULL;
}

/* What follows the fixed part of a header: the name for those who want UTF-8, and the numbers that
 * do not fit into 32 bits, each only if its place in the header says so. NULL, or what is wrong. */
static const char *read_extra(struct text extra, struct text name, struct text *ret_unicode,
        uint64_t *unpacked, uint64_t *packed, uint64_t *offset)
{
        struct reader r = reader_of(extra.at, extra.len);
        const char *why = NULL;

        while (r.left >= 4) {
                unsigned id = get_u16(&r);
                struct text field = take(&r, get_u16(&r));
                struct reader in = reader_of(field.at, field.len);

                if (r.bad)
                        return NULL;
                if (id == EXTRA_UNICODE_PATH) {
                        why = ret_unicode->at ? "has three names" : judge_unicode(name, field);
                        if (why)
                                return why;
                        *ret_unicode = (struct text){field.at + 5, field.len - 5};
                }
                if (id != EXTRA_ZIP64)
                        continue;
                if (unpacked && *unpacked == UINT32_MAX)
                        *unpacked = get_u64(&in);
                if (packed && *packed == UINT32_MAX)
                        *packed = get_u64(&in);
                if (offset && *offset == UINT32_MAX)
                        *offset = get_u64(&in);
        }
        return NULL;
}

/* The header before the entry: the same names; where its data end. */
static int check_local(int fd, struct extent *e, uint64_t packed, struct error *err)
{
        static unsigned char local[LOCAL_SIZE + (128 << 10)];
        size_t want = LOCAL_SIZE + e->name.len + LOCAL_EXTRA;
        ssize_t got = pread(fd, local, want, (off_t)e->start);
        struct reader r = reader_of(local, got > 0 ? (size_t)got : 0);
        struct text name, unicode = {NULL, 0};
        unsigned name_len, extra_len;
        const char *why;

        if (get_u32(&r) != LOCAL_SIGNATURE)
                return damaged(e, "listed in the archive's directory, but not there", err);
        skip(&r, 2);
        if (((get_u16(&r) ^ e->flags) & COMPARED_FLAGS) != 0 || get_u16(&r) != e->method)
                return damaged(e, "is packed in another way in the archive's directory", err);
        skip(&r, 16);
        name_len = get_u16(&r);
        extra_len = get_u16(&r);
        if (name_len == e->name.len && extra_len > r.left - name_len) {
                want = LOCAL_SIZE + name_len + extra_len;
                got = pread(fd, local, want, (off_t)e->start);
                r = reader_of(local, got > 0 ? (size_t)got : 0);
                skip(&r, LOCAL_SIZE);
        }
        name = take(&r, name_len);
        why = read_extra(take(&r, extra_len), name, &unicode, NULL, NULL, NULL);
        if (why || r.bad)
                return damaged(e, why ? why : "cut off", err);
        if (!same(name, e->name) || !unicode.at != !e->unicode.at ||
                (unicode.at && !same(unicode, e->unicode)))
                return damaged(e, "has another name in the archive's directory", err);
        e->end = e->start + LOCAL_SIZE + name_len + extra_len + packed;
        return 0;
}

static int check_name(struct text name, struct error *err)
{
        const char *why = memchr(name.at, '\0', name.len)   ? "a name with a NUL inside"
                          : memchr(name.at, '\\', name.len) ? "a name with a backslash"
                                                            : NULL;

        if (!why)
                return 0;
        return error_set(err, CODE_ARCHIVE_UNSAFE_PATH, "%.*s: %s", (int)name.len,
                (const char *)name.at, why);
}

/* Made on Unix it may be called anything; libarchive makes files of most. */
static bool is_special(unsigned made_by, uint32_t attributes)
{
        enum { MADE_ON_UNIX = 3, MADE_ON_DARWIN = 19 };
        mode_t kind = attributes >> 16 & S_IFMT;

        return (made_by >> 8 == MADE_ON_UNIX || made_by >> 8 == MADE_ON_DARWIN) && kind != 0 &&
               kind != S_IFREG && kind != S_IFDIR && kind != S_IFLNK;
}

static bool is_folder(struct text name)
{
        return name.len > 0 && name.at[name.len - 1] == '/';
}

/* One record of the directory, behind its signature. */
static int read_central(
        int fd, const struct directory *d, struct reader *r, struct extent *ret, struct error *err)
{
        uint64_t packed, unpacked, offset;
        unsigned made_by, name_len, extra_len, comment_len;
        uint32_t attributes;
        const char *why;

        made_by = get_u16(r);
        skip(r, 2);
        ret->flags = get_u16(r);
        ret->method = get_u16(r);
        skip(r, 8);
        packed = get_u32(r);
        unpacked = get_u32(r);
        name_len = get_u16(r);
        extra_len = get_u16(r);
        comment_len = get_u16(r);
        skip(r, 4);
        attributes = get_u32(r);
        offset = get_u32(r);
        ret->name = take(r, name_len);
        why = read_extra(take(r, extra_len), ret->name, &ret->unicode, &unpacked, &packed, &offset);
        skip(r, comment_len);
        if (r->bad)
                return error_set(err, CODE_ARCHIVE_DAMAGED, "the archive's directory is cut off");
        if (check_name(ret->name, err) < 0 ||
                (ret->unicode.at && check_name(ret->unicode, err) < 0))
                return -1;
        if (is_special(made_by, attributes))
                return error_set(err, CODE_ARCHIVE_SPECIAL, "%.*s: a device, pipe or socket",
                        (int)name_len, (const char *)ret->name.at);
        if (why)
                return damaged(ret, why, err);
        if (unpacked > 0 && (is_folder(ret->name) || is_folder(ret->unicode)))
                return damaged(ret, "a folder with content", err);
        if (offset > d->offset || packed > d->offset)
                return damaged(ret, "lies outside the archive", err);
        ret->start = offset + d->shift;
        return check_local(fd, ret, packed, err);
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
        struct extent *e;

        for (e = extents; r.left > 0; e++) {
                struct extent *const *found;

                if (get_u32(&r) != CENTRAL_SIGNATURE)
                        return error_set(err, CODE_ARCHIVE_DAMAGED,
                                "the archive's directory holds something else than entries");

                if (read_central(fd, d, &r, e, err) < 0)
                        return -1;
                found = tsearch(e, tree, compare);
                if (!found)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (*found != e || e->end > d->offset)
                        return damaged(e, "shares bytes with another entry", err);
        }
        if (((uint64_t)(e - extents) & d->count_mask) != d->count)
                return error_set(err, CODE_ARCHIVE_DAMAGED,
                        "the archive's directory holds %zu entries, and says that it holds %llu",
                        (size_t)(e - extents), (unsigned long long)d->count);
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

bool zip_directory_is_there(int fd)
{
        struct directory unused = {.bytes = BUFFER_INIT};

        return find_end(fd, &unused) != 0;
}

int zip_directory_check(int fd, struct zip_end *ret, struct error *err)
{
        struct directory d = {.bytes = BUFFER_INIT};
        int r = find_end(fd, &d);

        if (r <= 0)
                return error_set(err, CODE_ARCHIVE_DAMAGED,
                        "the record at the end of the zip archive contradicts itself");
        r = load(fd, &d, err) < 0 ? -1 : check_directory(fd, &d, err);
        buffer_free(&d.bytes);
        *ret = d.archive;
        return r;
}
