/* Finding the members of an image file: in tar files, good and hostile, and in directories. */
#include "images/bundle.h"

#include "beneath.h"
#include "fd.h"
#include "images/tar_walk.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A member to pack; `size` and `raw_size` are what the header says instead of the truth. */
struct packed {
        char type;
        const char *name, *text; /* content, or the target of a link */
        const char *size;        /* octal digits */
        const char *raw_size;    /* 12 bytes */
        const char *prefix;
};

#define M(kind, path, ...)                                                                         \
        {                                                                                          \
                .type = kind, .name = path, .text = __VA_ARGS__                                    \
        }

enum { MAX_PACKED = 13 };

static void set_sum(unsigned char *block)
{
        unsigned sum = 0;

        memset(block + 148, ' ', 8);
        for (int i = 0; i < TAR_BLOCK; i++)
                sum += block[i];
        snprintf((char *)block + 148, 8, "%06o", sum);
}

static void pack(int fd, const struct packed *m)
{
        unsigned char block[TAR_BLOCK] = {0}, padding[TAR_BLOCK] = {0};
        bool link = m->type == '1' || m->type == '2';
        size_t len = m->text && !link ? strlen(m->text) : 0;

        memcpy(block, m->name, strnlen(m->name, 100));
        if (m->size)
                snprintf((char *)block + 124, 12, "%s", m->size);
        else
                snprintf((char *)block + 124, 12, "%011o", (unsigned)len);
        if (m->raw_size)
                memcpy(block + 124, m->raw_size, 12);
        block[156] = (unsigned char)m->type;
        if (link)
                snprintf((char *)block + 157, 100, "%s", m->text);
        memcpy(block + 257, "ustar\00000", 8);
        if (m->prefix)
                snprintf((char *)block + 345, 155, "%s", m->prefix);
        set_sum(block);
        cr_assert_eq(fd_write_all(fd, block, sizeof block), 0);
        if (len > 0)
                cr_assert_eq(fd_write_all(fd, m->text, len), 0);
        cr_assert_eq(fd_write_all(fd, padding, (TAR_BLOCK - len % TAR_BLOCK) % TAR_BLOCK), 0);
}

static int pack_all(const struct packed *members)
{
        const unsigned char end[2 * TAR_BLOCK] = {0};
        int fd = memfd_create("bundle", MFD_CLOEXEC);

        cr_assert_geq(fd, 0);
        for (int i = 0; i < MAX_PACKED && members[i].name; i++)
                pack(fd, &members[i]);
        cr_assert_eq(fd_write_all(fd, end, sizeof end), 0);
        return fd;
}

static void read_text(const struct place *p, char *ret, size_t size)
{
        ssize_t n;

        cr_assert_lt(p->length, size);
        n = pread(p->fd, ret, (size_t)p->length, (off_t)p->offset);
        cr_assert_eq(n, (ssize_t)p->length);
        ret[n] = '\0';
}

#define LONG_PART "a23456789/b23456789/c23456789/d23456789/e23456789/f23456789/"
#define LONG_NAME LONG_PART LONG_PART "end"

Test(unpack_bundle, finds_members_by_name)
{
        static const struct {
                struct packed members[MAX_PACKED];
                const char *name, *content; /* NULL: it is not there */
        } rows[] = {
                {{M('0', "a", "x")}, "a", "x"},
                {{M('0', "a", "x")}, "b", NULL},
                {{M('0', "./a//b", "x")}, "a/b", "x"},
                {{M('\0', "a", "old")}, "a", "old"},
                {{M('\0', "a/", ""), M('0', "a/b", "x")}, "a/b", "x"},
                {{M('0', "a", "")}, "a", ""},
                {{M('5', "./", ""), M('5', "a/", ""), M('5', "a", ""), M('0', "a/b", "x")}, "a/b",
                        "x"},
                {{M('0', "b", "x", .prefix = "a")}, "a/b", "x"},
                {{M('0', "a", "x", .raw_size = "\x80\0\0\0\0\0\0\0\0\0\0\1")}, "a", "x"},
                {{M('0', "a", "x", .raw_size = "          1 ")}, "a", "x"},
                /* long names */
                {{M('L', "././@LongLink", LONG_NAME), M('0', "a", "x")}, LONG_NAME, "x"},
                {{M('x', "pax", "12 path=b/c\n"), M('0', "a", "x")}, "b/c", "x"},
                {{M('x', "pax", "12 path=b/c\n"), M('0', "a", "x")}, "a", NULL},
                {{M('x', "pax", "10 size=2\n"), M('0', "a", "xy", .size = "0")}, "a", "xy"},
                {{M('x', "pax", "11 mtime=1\n"), M('0', "a", "x")}, "a", "x"},
                {{M('x', "pax", "12 path=b/c\n"), M('0', "a", "x"), M('0', "d", "y")}, "d", "y"},
                {{M('g', "pax", "13 comment=1\n"), M('0', "a", "x")}, "a", "x"},
                /* links */
                {{M('0', "a", "x"), M('1', "b", "a")}, "b", "x"},
                {{M('2', "b", "a"), M('0', "a", "x")}, "b", "x"},
                {{M('0', "a/l", "x"), M('2', "b/l", "../a/l")}, "b/l", "x"},
                {{M('0', "a/l", "x"), M('2', "b/l", "./.././a/l")}, "b/l", "x"},
                {{M('0', "a", "x"), M('2', "b", "a"), M('1', "c", "b"), M('2', "d", "c")}, "d",
                        "x"},
                {{M('K', "././@LongLink", LONG_NAME), M('2', "b", "x"),
                         M('x', "pax", "12 path=b/c\n"), M('0', "a", "y")},
                        "b", NULL},
                {{M('x', "pax", "14 linkpath=a\n"), M('2', "b", "x"), M('0', "a", "y")}, "b", "y"},
                {{M('2', "b", "missing"), M('0', "a", "x")}, "b", NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_fd_ int fd = pack_all(rows[i].members);
                _cleanup_bundle_ struct bundle b = {0};
                _cleanup_place_ struct place p = PLACE_INIT;
                struct error err = {0};
                char content[100];
                int found;

                cr_assert_eq(bundle_open(&b, fd, &err), 0, "row %zu: %s", i, err.text);
                found = bundle_find(&b, rows[i].name, &p, &err);
                cr_expect_eq(found, rows[i].content != NULL, "row %zu: %d %s", i, found, err.text);
                if (found != 1)
                        continue;
                read_text(&p, content, sizeof content);
                cr_expect_str_eq(content, rows[i].content, "row %zu", i);
        }
}

Test(unpack_bundle, refuses_what_can_be_understood_in_two_ways)
{
        static const struct {
                struct packed members[MAX_PACKED];
                enum code code;
                const char *why;
        } rows[] = {
                {{M('0', "a", "x"), M('0', "a", "y")}, CODE_IMAGE_INVALID,
                        "a: is in the file twice"},
                {{M('0', "a", "x"), M('0', "./a", "y")}, CODE_IMAGE_INVALID, "twice"},
                {{M('0', "a", "x"), M('5', "a", "")}, CODE_IMAGE_INVALID, "twice"},
                {{M('0', "a", "x"), M('2', "a", "b")}, CODE_IMAGE_INVALID, "twice"},
                {{M('0', "../a", "x")}, CODE_IMAGE_INVALID, "a path with `..`"},
                {{M('0', "/a", "x")}, CODE_IMAGE_INVALID, "an absolute path"},
                {{M('0', "a\nb", "x")}, CODE_IMAGE_INVALID, "control characters"},
                {{M('0', "a\xff", "x")}, CODE_IMAGE_INVALID, "not valid UTF-8"},
                {{M('0', "a\\b", "x")}, CODE_IMAGE_INVALID, "backslash"},
                {{M('0', "", "x")}, CODE_IMAGE_INVALID, "without a name"},
                {{M('0', "./", "x")}, CODE_IMAGE_INVALID, "without a name"},
                {{M('0', "b", "x", .prefix = "../a")}, CODE_IMAGE_INVALID, "`..`"},
                {{M('3', "a", "")}, CODE_IMAGE_UNSUPPORTED, "do not need (`3`)"},
                {{M('6', "a", "")}, CODE_IMAGE_UNSUPPORTED, "do not need"},
                {{M('S', "a", "")}, CODE_IMAGE_UNSUPPORTED, "do not need"},
                {{M('2', "a", "b", .size = "1")}, CODE_IMAGE_INVALID, "content of its own"},
                {{M('5', "a", "x")}, CODE_IMAGE_INVALID, "content of its own"},
                /* sizes */
                {{M('0', "a", "x", .size = "7777")}, CODE_IMAGE_INVALID, "was cut off"},
                {{M('0', "a", "x", .size = "77777777777")}, CODE_IMAGE_INVALID, "was cut off"},
                {{M('0', "a", "x", .size = "-1")}, CODE_IMAGE_INVALID, "size of a member"},
                {{M('0', "a", "x", .size = "9")}, CODE_IMAGE_INVALID, "size of a member"},
                {{M('0', "a", "x", .raw_size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
                        CODE_IMAGE_INVALID, "size of a member"},
                {{M('0', "a", "x", .raw_size = "\x80\0\0\1\0\0\0\0\0\0\0\0")}, CODE_IMAGE_INVALID,
                        "size of a member"},
                {{M('0', "a", "x", .raw_size = "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff")},
                        CODE_IMAGE_INVALID, "was cut off"},
                /* extensions */
                {{M('x', "p", "8 path=b\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "pax record"},
                {{M('x', "p", "11 path=b\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "pax record"},
                {{M('x', "p", "0 path=b\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "pax record"},
                {{M('x', "p", "99999999999999999999 p=b\n"), M('0', "a", "")}, CODE_IMAGE_INVALID,
                        "pax record"},
                {{M('x', "p", "7 path\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "without `=`"},
                {{M('x', "p", "9 path=\n\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "control"},
                {{M('x', "p", "8 path=\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "not a path"},
                {{M('x', "p", "10 path=b\n10 path=c\n"), M('0', "a", "")}, CODE_IMAGE_INVALID,
                        "told twice"},
                {{M('L', "p", "b"), M('x', "p", "10 path=c\n"), M('0', "a", "")},
                        CODE_IMAGE_INVALID, "told twice"},
                {{M('x', "p", "11 size=-1\n"), M('0', "a", "")}, CODE_IMAGE_INVALID, "not one"},
                {{M('x', "p", "27 size=9999999999999999999\n"), M('0', "a", "")},
                        CODE_IMAGE_INVALID, "pax record"},
                {{M('x', "p", "28 size=9999999999999999999\n"), M('0', "a", "")},
                        CODE_IMAGE_INVALID, "not one"},
                {{M('x', "p", "18 size=999999999\n"), M('0', "a", "")}, CODE_IMAGE_INVALID,
                        "cut off"},
                {{M('x', "p", "22 GNU.sparse.major=1\n"), M('0', "a", "")}, CODE_IMAGE_UNSUPPORTED,
                        "holes"},
                {{M('g', "p", "10 path=b\n"), M('0', "a", "")}, CODE_IMAGE_INVALID,
                        "for all members"},
                {{M('x', "p", "10 path=b\n")}, CODE_IMAGE_INVALID, "without its member"},
                {{M('L', "p", ""), M('0', "a", "")}, CODE_IMAGE_INVALID, "not a path"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_fd_ int fd = pack_all(rows[i].members);
                _cleanup_bundle_ struct bundle b = {0};
                struct error err = {0};

                cr_expect_eq(bundle_open(&b, fd, &err), -1, "row %zu: accepted", i);
                cr_expect_eq(err.code, rows[i].code, "row %zu: %s", i, err.text);
                cr_expect(strstr(err.text, rows[i].why), "row %zu: %s", i, err.text);
        }
}

Test(unpack_bundle, follows_no_link_out_or_without_end)
{
        static const struct {
                struct packed members[MAX_PACKED];
                const char *why;
        } rows[] = {
                {{M('2', "x", "/etc/passwd")}, "outside"},
                {{M('2', "x", "../a"), M('0', "a", "x")}, "outside"},
                {{M('2', "x", "b/../../a"), M('0', "a", "x")}, "outside"},
                {{M('2', "x", ".")}, "outside"},
                {{M('2', "x", "")}, "outside"},
                {{M('1', "x", "../a"), M('0', "a", "x")}, "outside"},
                {{M('1', "x", "/a"), M('0', "a", "x")}, "outside"},
                {{M('2', "x", "x")}, "no end"},
                {{M('2', "x", "y"), M('2', "y", "x")}, "no end"},
                {{M('5', "x", "")}, "is a directory"},
                {{M('2', "x", "d"), M('5', "d", "")}, "is a directory"},
                {{M('2', "x", "1"), M('2', "1", "2"), M('2', "2", "3"), M('2', "3", "4"),
                         M('2', "4", "5"), M('2', "5", "6"), M('2', "6", "7"), M('2', "7", "8"),
                         M('2', "8", "9"), M('2', "9", "10"), M('2', "10", "11"),
                         M('0', "11", "x")},
                        "no end"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_fd_ int fd = pack_all(rows[i].members);
                _cleanup_bundle_ struct bundle b = {0};
                _cleanup_place_ struct place p = PLACE_INIT;
                struct error err = {0};

                cr_assert_eq(bundle_open(&b, fd, &err), 0, "row %zu: %s", i, err.text);
                cr_expect_eq(bundle_find(&b, "x", &p, &err), -1, "row %zu: found", i);
                cr_expect_eq(err.code, CODE_IMAGE_INVALID, "row %zu", i);
                cr_expect(strstr(err.text, rows[i].why), "row %zu: %s", i, err.text);
        }
}

Test(unpack_bundle, notices_a_cut_anywhere)
{
        static const struct packed members[MAX_PACKED] = {
                M('x', "pax", "12 path=b/c\n"), M('0', "a", "content"), M('0', "d", "more")};
        _cleanup_fd_ int fd = pack_all(members);
        off_t end = lseek(fd, 0, SEEK_END) - 2 * TAR_BLOCK;

        for (off_t len = end; len >= 0; len -= 64) {
                _cleanup_bundle_ struct bundle b = {0};
                struct error err = {0};

                cr_assert_eq(ftruncate(fd, len), 0);
                cr_expect_eq(bundle_open(&b, fd, &err), -1, "%ld bytes: accepted", (long)len);
        }
}

Test(unpack_bundle, names_what_is_no_plain_tar_file)
{
        static const struct {
                const char *bytes;
                size_t len;
                enum code code;
                const char *why;
        } rows[] = {
#define ROW(bytes, code, why) {bytes, sizeof(bytes) - 1, code, why}
                ROW("", CODE_IMAGE_INVALID, "empty"),
                ROW("hello", CODE_IMAGE_UNSUPPORTED, "not a tar file"),
                ROW("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", CODE_IMAGE_COMPRESSED,
                        "gzip"),
                ROW("\x28\xb5\x2f\xfd\x24\x01\x09\0\0x", CODE_IMAGE_COMPRESSED, "z"),
#undef ROW
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_fd_ int fd = memfd_create("bundle", MFD_CLOEXEC);
                _cleanup_bundle_ struct bundle b = {0};
                struct error err = {0};

                cr_assert_eq(fd_write_all(fd, rows[i].bytes, rows[i].len), 0);
                cr_expect_eq(bundle_open(&b, fd, &err), -1, "row %zu: accepted", i);
                cr_expect_eq(err.code, rows[i].code, "row %zu: %s", i, err.text);
                cr_expect(strstr(err.text, rows[i].why), "row %zu: %s", i, err.text);
        }
}

Test(unpack_bundle, reads_a_directory_without_following_links)
{
        static const struct {
                const char *name;
                int found;
        } rows[] = {
                {"file", 1},
                {"missing", 0},
                {"file/below", 0},
                {"link", -1},
                {"folder", -1},
                {"pipe", -1},
        };
        char path[] = "/tmp/assay-bundle.XXXXXX";
        _cleanup_bundle_ struct bundle b = {0};
        _cleanup_fd_ int dir = -EBADF, file = -EBADF;
        struct error err = {0};

        cr_assert_not_null(mkdtemp(path));
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        file = openat(dir, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        cr_assert(file >= 0 && fd_write_all(file, "x", 1) == 0);
        cr_assert(symlinkat("file", dir, "link") == 0 && mkdirat(dir, "folder", 0700) == 0 &&
                  mkfifoat(dir, "pipe", 0600) == 0);
        cr_assert_eq(bundle_open(&b, dir, &err), 0, "%s", err.text);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_place_ struct place p = PLACE_INIT;

                cr_expect_eq(bundle_find(&b, rows[i].name, &p, &err), rows[i].found, "%s: %s",
                        rows[i].name, err.text);
        }
        unlinkat(dir, "file", 0);
        unlinkat(dir, "link", 0);
        unlinkat(dir, "pipe", 0);
        unlinkat(dir, "folder", AT_REMOVEDIR);
        rmdir(path);
}
