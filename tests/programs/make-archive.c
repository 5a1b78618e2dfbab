/* Writes one hostile (or odd) archive to standard output, byte by byte: no tool would make these.
 *
 *   make-archive KIND       as tar
 *   make-archive -z KIND    as zip (stored entries)
 *   make-archive -l         the kinds
 *
 * Most kinds are a few entries, a row of `kinds` each; the rest are functions in `oddities`. */
#include "tests/programs/put.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entry types, by the letter tar has for them. */
enum {
        FILE_ = '0',
        HARD = '1',
        LINK = '2',
        CHAR = '3',
        BLOCK = '4',
        DIR = '5',
        FIFO = '6',
        SOCKET = 's'
};

struct item {
        char type;
        const char *name;
        const char *target; /* of a link */
        const char *data;   /* of a file; "" when NULL */
        unsigned mode;      /* 0: 0644 or 0755 */
};

enum { MAX_ITEMS = 4 };

static const struct kind {
        const char *name;
        struct item items[MAX_ITEMS];
} kinds[] = {
        {"good", {{DIR, "src/", 0, 0, 0}, {FILE_, "src/a.c", 0, "int a;\n", 0},
                         {FILE_, "run", 0, "#!/bin/sh\n", 0755}, {LINK, "src/b.c", "a.c", 0, 0}}},
        {"common-root", {{FILE_, "top/a", 0, "a", 0}, {FILE_, "top/sub/top/b", 0, "b", 0},
                                {FILE_, "__MACOSX/top/._a", 0, "junk", 0}}},
        {"junk", {{FILE_, "a", 0, "a", 0}, {FILE_, ".DS_Store", 0, "junk", 0},
                         {FILE_, "d/Thumbs.db", 0, "junk", 0}, {FILE_, "__MACOSX/x", 0, "j", 0}}},
        {"only-folders", {{DIR, "a/", 0, 0, 0}, {DIR, "a/b/", 0, 0, 0}}},
        {"repeated-folder",
                {{DIR, "d/", 0, 0, 0}, {FILE_, "d/x", 0, "x", 0}, {DIR, "./d/", 0, 0, 0}}},
        {"harmless-dots",
                {{DIR, "./", 0, 0, 0}, {DIR, ".", 0, 0, 0}, {FILE_, "././a/.//b", 0, "b", 0}}},

        {"dotdot", {{FILE_, "../x", 0, "x", 0}}},
        {"dotdot-inside", {{FILE_, "a/../../x", 0, "x", 0}}},
        {"dotdot-last", {{DIR, "a/..", 0, 0, 0}}},
        {"dotdot-backslash", {{FILE_, "..\\x", 0, "x", 0}}},
        {"absolute", {{FILE_, "/x", 0, "x", 0}}},
        {"two-slashes", {{FILE_, "//x", 0, "x", 0}}},
        {"slash-dot", {{DIR, "/.", 0, 0, 0}}},
        {"drive", {{FILE_, "C:x", 0, "x", 0}}},
        {"drive-backslash", {{FILE_, "C:\\x", 0, "x", 0}}},
        {"file-as-root", {{FILE_, "./.", 0, "x", 0}}},
        {"link-as-root", {{LINK, ".", "x", 0, 0}}},
        {"newline", {{FILE_, "a\nb", 0, "x", 0}}},
        {"escape", {{FILE_, "a\x1b[2Jb", 0, "x", 0}}},
        {"bidi", {{FILE_,
                         "a\xe2\x80\xae"
                         "txt.sh",
                         0, "x", 0}}},
        {"invalid-utf8", {{FILE_,
                                 "a\xff"
                                 "b",
                                 0, "x", 0}}},
        {"overlong-utf8", {{FILE_,
                                  "a\xc0\xaf"
                                  "b",
                                  0, "x", 0}}},
        {"bad-after-good", {{FILE_, "good", 0, "x", 0}, {FILE_, "../bad", 0, "x", 0}}},

        {"same-twice", {{FILE_, "a", 0, "1", 0}, {FILE_, "a", 0, "2", 0}}},
        {"same-twice-dots", {{FILE_, "a", 0, "1", 0}, {FILE_, "./a", 0, "2", 0}}},
        {"differ-in-case", {{FILE_, "Makefile", 0, "1", 0}, {FILE_, "makefile", 0, "2", 0}}},
        {"folders-differ-in-case", {{FILE_, "src/a", 0, "1", 0}, {FILE_, "SRC/b", 0, "2", 0}}},
        {"differ-in-form", {{FILE_, "caf\xc3\xa9", 0, "1", 0}, {FILE_, "cafe\xcc\x81", 0, "2", 0}}},
        {"differ-in-fold", {{FILE_,
                                    "stra\xc3\x9f"
                                    "e",
                                    0, "1", 0},
                                   {FILE_, "STRASSE", 0, "2", 0}}},
        {"file-then-folder", {{FILE_, "a", 0, "1", 0}, {FILE_, "a/b", 0, "2", 0}}},
        {"folder-then-file", {{FILE_, "a/b", 0, "1", 0}, {FILE_, "a", 0, "2", 0}}},

        {"link-inside", {{FILE_, "a/b/c", 0, "c", 0}, {LINK, "a/b/up", "../../d", 0, 0},
                                {LINK, "l", "a/b/c", 0, 0}}},
        {"link-absolute", {{LINK, "l", "/etc/passwd", 0, 0}}},
        {"link-out", {{LINK, "l", "../x", 0, 0}}},
        {"link-out-deep", {{LINK, "a/b/l", "../../../x", 0, 0}}},
        {"link-down-up", {{LINK, "a/l", "b/../../../x", 0, 0}}},
        {"link-chain", {{LINK, "a/b", "..", 0, 0}, {LINK, "c", "a/b/../x", 0, 0}}},
        {"link-empty", {{LINK, "l", "", 0, 0}}},
        {"link-leaves-top", {{FILE_, "top/a", 0, "a", 0}, {LINK, "top/l", "../x", 0, 0}}},
        {"write-through-link", {{LINK, "l", "d", 0, 0}, {FILE_, "l/x", 0, "x", 0}}},
        {"write-onto-link", {{LINK, "l", "d", 0, 0}, {FILE_, "l", 0, "x", 0}}},
        {"folder-to-link", {{DIR, "d", 0, 0, 0}, {LINK, "d", "e", 0, 0}, {DIR, "d", 0, 0, 0777}}},
        {"link-to-folder", {{LINK, "d", "e", 0, 0}, {DIR, "d", 0, 0, 0777}}},

        {"hard", {{FILE_, "a", 0, "body", 0755}, {HARD, "d/b", "./a", 0, 0}}},
        {"hard-out", {{HARD, "l", "../x", 0, 0}}},
        {"hard-absolute", {{HARD, "l", "/etc/passwd", 0, 0}}},
        {"hard-later", {{HARD, "l", "a", 0, 0}, {FILE_, "a", 0, "x", 0}}},
        {"hard-to-link", {{LINK, "l", "a", 0, 0}, {HARD, "h", "l", 0, 0}, {FILE_, "a", 0, "a", 0}}},
        {"hard-through-link",
                {{LINK, "l", "d", 0, 0}, {FILE_, "d/a", 0, "a", 0}, {HARD, "h", "l/a", 0, 0}}},
        {"hard-to-folder", {{DIR, "d", 0, 0, 0}, {HARD, "h", "d", 0, 0}}},
        {"hard-to-itself", {{HARD, "h", "h", 0, 0}}},

        {"socket", {{SOCKET, "s", 0, 0, 0}}},
        {"fifo", {{FIFO, "f", 0, 0, 0}}},
        {"char-device", {{CHAR, "null", 0, 0, 0}}},
        {"block-device", {{BLOCK, "sda", 0, 0, 0}}},
        {"modes", {{DIR, "d", 0, 0, 07000}, {FILE_, "d/suid", 0, "x", 06711},
                          {FILE_, "secret", 0, "x", 01000}, {FILE_, "open", 0, "x", 0666}}},
};

/* --- tar --------------------------------------------------------------------------------- */

struct header { /* ustar, with the GNU sparse map where the prefix would be */
        char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100],
                magic[8], uname[32], gname[32], major[8], minor[8];
        union {
                char prefix[155];
                struct {
                        char atime[12], ctime[12], offset[12], longnames[4], unused;
                        struct {
                                char offset[12], bytes[12];
                        } sparse[4];
                        char extended, realsize[12];
                };
        };
        char pad[12];
};
_Static_assert(sizeof(struct header) == 512, "a tar header is a block");

static struct header header_of(const struct item *i, uint64_t size)
{
        struct header h = {.type = i->type, .magic = "ustar\00000"};

        memcpy(h.magic, "ustar\00000", 8);
        memcpy(h.name, i->name, strnlen(i->name, sizeof h.name));
        if (i->target)
                memcpy(h.link, i->target, strnlen(i->target, sizeof h.link));
        snprintf(h.mode, sizeof h.mode, "%07o",
                i->mode          ? i->mode & 07777 & ~01000U
                : i->type == DIR ? 0755U
                                 : 0644U);
        snprintf(h.uid, sizeof h.uid, "%07o", 0xffffU);
        snprintf(h.gid, sizeof h.gid, "%07o", 0U);
        snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
        snprintf(h.mtime, sizeof h.mtime, "%011o", 0U);
        return h;
}

static void put_header(struct header *h)
{
        const unsigned char *bytes = (const unsigned char *)h;
        unsigned sum = 0;

        memset(h->sum, ' ', sizeof h->sum);
        for (size_t i = 0; i < sizeof *h; i++)
                sum += bytes[i];
        snprintf(h->sum, sizeof h->sum, "%06o", sum);
        put(h, sizeof *h);
}

static void put_padded(const char *data, size_t len)
{
        put(data, len);
        put_zeros((512 - len % 512) % 512);
}

/* One "length key=value" record in a header of its own, for the entry that comes next. */
static void tar_pax(char type, const char *key, const char *value, size_t value_len)
{
        struct item i = {type, "PaxHeader", 0, 0, 0};
        size_t body = strlen(key) + value_len + 3, len = body + 1;
        char digits[24];
        struct header h;
        char *record;

        while (snprintf(digits, sizeof digits, "%zu", len) + body > len)
                len++;
        record = malloc(len + 1);
        if (!record)
                exit(3);
        snprintf(record, len + 1, "%zu %s=", len, key);
        memcpy(record + len - 1 - value_len, value, value_len);
        record[len - 1] = '\n';
        h = header_of(&i, len);
        put_header(&h);
        put_padded(record, len);
        free(record);
}

static void tar_item(const struct item *i)
{
        const char *data = i->data ? i->data : "";
        struct header h = header_of(i, strlen(data));

        if (strlen(i->name) > sizeof h.name)
                tar_pax('x', "path", i->name, strlen(i->name));
        put_header(&h);
        put_padded(data, strlen(data));
}

static void tar_end(void)
{
        put_zeros(1024);
}

/* --- zip --------------------------------------------------------------------------------- */

static unsigned char directory[1 << 20];
static size_t directory_len;
static unsigned directory_count;
static uint32_t zip_offset;
static bool zip64; /* numbers of the directory and of the end stand in their 64-bit places */
static uint32_t end_offset;      /* that the 32-bit end tells then */
static unsigned miscounted;      /* entries that the end tells of too much */
static const char *comment = ""; /* of the archive */

/* What a header says where it lies. */
struct lie {
        const char *central_name;                    /* instead of the local one */
        size_t name_len;                             /* names with a NUL inside */
        uint32_t central_size;                       /* instead of the true one */
        uint32_t declared;                           /* uncompressed size in both headers */
        const char *unicode_local, *unicode_central; /* a second name, for those who want UTF-8 */
        uint16_t flags;
        bool wrong_crc;
        bool unicode_of_other, unicode_twice;
        bool no_local; /* the directory points at the entry before */
};

static unsigned char *le(unsigned char *p, uint64_t v, size_t size)
{
        for (size_t i = 0; i < size; i++)
                *p++ = (unsigned char)(v >> (8 * i));
        return p;
}

static uint32_t crc32(const char *data, size_t len)
{
        uint32_t crc = ~0U;

        for (size_t i = 0; i < len; i++) {
                crc ^= (unsigned char)data[i];
                for (int bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
        }
        return ~crc;
}

/* The part that local and central headers share: from "version needed" to the name's length. */
static unsigned char *zip_common(unsigned char *p, uint16_t flags, uint32_t crc, uint32_t packed,
        uint32_t size, size_t name_len, size_t extra_len)
{
        p = le(p, 20, 2);
        p = le(p, flags, 2);
        p = le(p, 0, 2); /* stored */
        p = le(p, 0x21, 4);
        p = le(p, crc, 4);
        p = le(p, packed, 4);
        p = le(p, size, 4);
        p = le(p, name_len, 2);
        return le(p, extra_len, 2);
}

static size_t unicode_extra(
        unsigned char *out, const struct lie *lie, const char *name, const char *unicode)
{
        unsigned char *p = out;

        for (int times = unicode ? 1 + lie->unicode_twice : 0; times > 0; times--) {
                p = le(p, 0x7075, 2);
                p = le(p, 5 + strlen(unicode), 2);
                p = le(p, 1, 1);
                p = le(p, crc32(name, strlen(name)) ^ lie->unicode_of_other, 4);
                memcpy(p, unicode, strlen(unicode));
                p += strlen(unicode);
        }
        return (size_t)(p - out);
}

static size_t zip64_extra(unsigned char *out, uint64_t size, uint64_t packed, uint64_t offset)
{
        unsigned char *p = le(out, 1, 2);

        if (!zip64)
                return 0;
        p = le(p, 24, 2);
        p = le(p, size, 8);
        p = le(p, packed, 8);
        return (size_t)(le(p, offset, 8) - out);
}

static unsigned zip_mode(const struct item *i)
{
        static const unsigned kind[] = {
                [FILE_] = 0100644,
                [HARD] = 0100644,
                [LINK] = 0120777,
                [CHAR] = 020666,
                [BLOCK] = 060666,
                [DIR] = 040755,
                [FIFO] = 010644,
                [SOCKET] = 0140755,
        };
        unsigned bits = i->mode ? i->mode & 06777 : kind[(int)i->type] & 0777;

        return (kind[(int)i->type] & ~0777U) | bits;
}

static void zip_item(const struct item *i, const struct lie *lie)
{
        const char *data = i->type == LINK ? i->target : i->data ? i->data : "";
        uint32_t len = (uint32_t)strlen(data), here = zip_offset, crc = crc32(data, len);
        uint32_t size = lie->declared ? lie->declared : len;
        size_t name_len = lie->name_len ? lie->name_len : strlen(i->name);
        unsigned char local[64], extra[128], *p = le(local, 0x04034b50, 4);
        size_t extra_len = unicode_extra(extra, lie, i->name, lie->unicode_local);
        uint32_t told;

        if (lie->wrong_crc)
                crc ^= 1;
        p = zip_common(p, lie->flags, crc, len, size, name_len, extra_len);
        if (lie->no_local) {
                here = 0;
        } else {
                put(local, (size_t)(p - local));
                put(i->name, name_len);
                put(extra, extra_len);
                put(data, len);
                zip_offset += (uint32_t)((size_t)(p - local) + name_len + extra_len + len);
        }
        extra_len = unicode_extra(extra, lie, i->name, lie->unicode_central);
        told = lie->central_size ? lie->central_size : size;
        extra_len += zip64_extra(extra + extra_len, told, len, here);
        p = le(directory + directory_len, 0x02014b50, 4);
        p = le(p, 3 << 8 | 20, 2); /* made on Unix */
        p = zip_common(p, lie->flags, crc, zip64 ? UINT32_MAX : len, zip64 ? UINT32_MAX : told,
                name_len, extra_len);
        p = le(p, 0, 6);
        p = le(p, (uint64_t)zip_mode(i) << 16, 4);
        p = le(p, zip64 ? UINT32_MAX : here, 4);
        memcpy(p, lie->central_name ? lie->central_name : i->name, name_len);
        memcpy(p + name_len, extra, extra_len);
        directory_len = (size_t)(p - directory) + name_len + extra_len;
        directory_count++;
}

static void zip_end(void)
{
        unsigned char end[128], *p = end;

        put(directory, directory_len);
        if (zip64) {
                p = le(p, 0x06064b50, 4);
                p = le(p, 44, 8);
                p = le(p, 45, 2);
                p = le(p, 45, 2);
                p = le(p, 0, 8);
                p = le(p, directory_count, 8);
                p = le(p, directory_count, 8);
                p = le(p, directory_len, 8);
                p = le(p, zip_offset, 8);
                p = le(p, 0x07064b50, 4);
                p = le(p, 0, 4);
                p = le(p, zip_offset + directory_len, 8);
                p = le(p, 1, 4);
        }
        p = le(p, 0x06054b50, 4);
        p = le(p, 0, 4);
        p = le(p, directory_count + miscounted, 2);
        p = le(p, directory_count + miscounted, 2);
        p = le(p, zip64 && !end_offset ? UINT32_MAX : directory_len, 4);
        p = le(p, end_offset ? end_offset : zip64 ? UINT32_MAX : zip_offset, 4);
        p = le(p, strlen(comment), 2);
        put(end, (size_t)(p - end));
        put(comment, strlen(comment));
}

/* --- oddities ---------------------------------------------------------------------------- */

static const struct item one = {FILE_, "a", 0, "body", 0};
static bool as_zip;

static void put_item(const struct item *i)
{
        static const struct lie truth;

        if (as_zip)
                zip_item(i, &truth);
        else
                tar_item(i);
}

static char *repeat(const char *part, size_t count)
{
        size_t len = strlen(part);
        char *text = malloc(len * count + 1);

        if (!text)
                exit(3);
        for (size_t i = 0; i < count; i++)
                memcpy(text + len * i, part, len);
        text[len * count] = '\0';
        return text;
}

static void named(const char *part, size_t count)
{
        bool folder = part[strlen(part) - 1] == '/';
        struct item i = {folder ? DIR : FILE_, repeat(part, count), 0, folder ? "" : "x", 0};

        put_item(&i);
}

static void long_component(void)
{
        named("a", 256);
}

static void longest_component(void)
{
        named("a", 255);
}

static void long_path(void)
{
        named("aaaaaaa/", 512);
        named("aaaaaaaa", 1);
}

static void deep_path(void)
{
        named("d/", 2048);
}

static void many_entries(void)
{
        char name[16];
        struct item i = {FILE_, name, 0, 0, 0};

        for (int n = 0; n < (as_zip ? 5000 : 100000); n++) {
                snprintf(name, sizeof name, "%d", n);
                put_item(&i);
        }
}

/* 200 files that imply 99 folders each. */
static void many_folders(void)
{
        char *deep = repeat("d/", 98), name[256];
        struct item i = {FILE_, name, 0, 0, 0};

        for (int n = 0; n < 200; n++) {
                snprintf(name, sizeof name, "%d/%s", n, deep);
                put_item(&i);
        }
        free(deep);
}

static void empty_name(void)
{
        struct item i = {FILE_, "", 0, "x", 0};

        if (!as_zip)
                tar_pax('x', "path", "", 0);
        put_item(&i);
}

static void nul_in_name(void)
{
        static const struct lie with_nul = {.name_len = 7};
        struct item i = {FILE_, "a\0b.txt", 0, "x", 0};

        if (as_zip)
                zip_item(&i, &with_nul);
        else {
                tar_pax('x', "path", "a\0b.txt", 7);
                tar_item(&one);
        }
}

static void hard_with_data(void)
{
        struct item i = {HARD, "b", "a", "other", 0};

        tar_item(&one);
        tar_pax('x', "comment", "pax says that links may have content", 36);
        tar_item(&i);
}

static void zeros(const char *name, uint64_t size)
{
        struct item i = {FILE_, name, 0, 0, 0};
        struct header h = header_of(&i, size);

        put_header(&h);
        put_zeros(size);
}

static void big_file(void)
{
        zeros("big", 8 << 20);
}

static void big_junk(void)
{
        tar_item(&one);
        zeros(".DS_Store", 8 << 20);
}

static void declared_8eib(void)
{
        struct header h = header_of(&one, 0);

        memcpy(h.size, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
        put_header(&h);
        put_zeros(4096);
}

static void negative_size(void)
{
        struct header h = header_of(&one, 0);

        memset(h.size, 0xff, 12);
        put_header(&h);
        put_zeros(4096);
}

/* "head", a hole, "tail" and a hole up to `size`. */
static void sparse(const char *size)
{
        struct item i = {'S', "sparse", 0, 0, 0};
        struct header h = header_of(&i, 1024);

        memcpy(h.magic, "ustar  ", 8);
        memset(h.prefix, 0, sizeof h.prefix);
        memcpy(h.sparse[0].offset, "00000000000", 12);
        memcpy(h.sparse[0].bytes, "00000001000", 12);
        memcpy(h.sparse[1].offset, "00000100000", 12);
        memcpy(h.sparse[1].bytes, "00000001000", 12);
        memcpy(h.realsize, size, 12);
        put_header(&h);
        put_padded("head", 4);
        put_padded("tail", 4);
}

static void sparse_1mib(void)
{
        sparse("00004000000");
}

static void sparse_8gib(void)
{
        sparse("77777777777");
}

static void endless_pax(void)
{
        for (int n = 0; n < 100000; n++)
                tar_pax('x', "comment", "again", 5);
        tar_item(&one);
}

static void global_pax(void)
{
        tar_pax('g', "comment", "0123456789abcdef", 16);
        tar_item(&one);
}

static void strange_attributes(void)
{
        tar_pax('x', "SCHILY.xattr.security.capability", "\1\0\0\2", 4);
        tar_pax('x', "SCHILY.xattr.trusted.overlay.opaque", "y", 1);
        tar_pax('x', "SCHILY.acl.access", "user::rwx,user:0:rwx", 20);
        tar_pax('x', "SCHILY.fflags", "immutable", 9);
        tar_item(&one);
}

static void lie(const struct lie *l)
{
        zip_item(&one, l);
}

static void zip_encrypted(void)
{
        lie(&(struct lie){.flags = 1});
}

static void zip_strongly_encrypted(void)
{
        lie(&(struct lie){.flags = 1 | 1 << 6 | 1 << 13});
}

static void zip_bad_crc(void)
{
        lie(&(struct lie){.wrong_crc = true});
}

static void zip_declared_huge(void)
{
        lie(&(struct lie){.declared = 0xfffffff0});
}

static void zip_sizes_differ(void)
{
        lie(&(struct lie){.central_size = 1});
}

static void zip_names_differ(void)
{
        lie(&(struct lie){.central_name = "b"});
}

static void zip_unmarked(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        put_item(&i);
}

static void zip_wrongly_marked(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        zip_item(&i, &(struct lie){.flags = 1 << 11});
}

static void zip_unicode(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        zip_item(&i,
                &(struct lie){.unicode_local = "caf\xc3\xa9", .unicode_central = "caf\xc3\xa9"});
}

static void zip_unicode_differs(void)
{
        lie(&(struct lie){.unicode_local = "\xc3\xa9"});
}

static void zip_unicode_ascii(void)
{
        lie(&(struct lie){.unicode_local = "b", .unicode_central = "b"});
}

static void zip_unicode_of_other(void)
{
        lie(&(struct lie){.unicode_local = "\xc3\xa9",
                .unicode_central = "\xc3\xa9",
                .unicode_of_other = true});
}

static void zip_unicode_twice(void)
{
        lie(&(struct lie){
                .unicode_local = "\xc3\xa9", .unicode_central = "\xc3\xa9", .unicode_twice = true});
}

static void zip_folder_with_data(void)
{
        put_item(&(struct item){DIR, "d/", 0, "body", 0});
        put_item(&one);
}

static void zip_miscounted(void)
{
        put_item(&one);
        miscounted = 1;
}

static void zip_long_comment(void)
{
        put_item(&one);
        comment = repeat("PK\5\6", 15000);
}

static void zip64_good(void)
{
        zip64 = true;
        put_item(&one);
}

static void zip64_names_differ(void)
{
        zip64 = true;
        zip_names_differ();
}

static void zip64_overlap(void)
{
        zip64 = true;
        lie(&(struct lie){0});
        lie(&(struct lie){.no_local = true});
}

static void zip64_ends_differ(void)
{
        zip64_good();
        end_offset = 1;
}

static void zip_overlap(void)
{
        lie(&(struct lie){0});
        for (int n = 0; n < 1000; n++)
                lie(&(struct lie){.no_local = true});
}

static void nothing(void)
{
}

static const struct {
        const char *name;
        void (*put)(void);
} oddities[] = {
        {"empty", nothing},
        {"empty-name", empty_name},
        {"nul-in-name", nul_in_name},
        {"long-component", long_component},
        {"longest-component", longest_component},
        {"long-path", long_path},
        {"deep-path", deep_path},
        {"many-entries", many_entries},
        {"many-folders", many_folders},
        {"hard-with-data", hard_with_data},
        {"big-file", big_file},
        {"big-junk", big_junk},
        {"declared-8eib", declared_8eib},
        {"negative-size", negative_size},
        {"sparse-1mib", sparse_1mib},
        {"sparse-8gib", sparse_8gib},
        {"endless-pax", endless_pax},
        {"global-pax", global_pax},
        {"strange-attributes", strange_attributes},
        {"encrypted", zip_encrypted},
        {"strongly-encrypted", zip_strongly_encrypted},
        {"bad-crc", zip_bad_crc},
        {"declared-huge", zip_declared_huge},
        {"sizes-differ", zip_sizes_differ},
        {"names-differ", zip_names_differ},
        {"unmarked-name", zip_unmarked},
        {"wrongly-marked-name", zip_wrongly_marked},
        {"overlap", zip_overlap},
        {"unicode-name", zip_unicode},
        {"unicode-name-differs", zip_unicode_differs},
        {"unicode-name-ascii", zip_unicode_ascii},
        {"unicode-name-of-other", zip_unicode_of_other},
        {"unicode-name-twice", zip_unicode_twice},
        {"folder-with-data", zip_folder_with_data},
        {"miscounted", zip_miscounted},
        {"long-comment", zip_long_comment},
        {"zip64", zip64_good},
        {"zip64-names-differ", zip64_names_differ},
        {"zip64-overlap", zip64_overlap},
        {"zip64-ends-differ", zip64_ends_differ},
};

static bool put_kind(const char *name)
{
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                if (strcmp(kinds[k].name, name) != 0)
                        continue;
                for (size_t i = 0; i < MAX_ITEMS && kinds[k].items[i].name; i++)
                        put_item(&kinds[k].items[i]);
                return true;
        }
        for (size_t k = 0; k < sizeof oddities / sizeof *oddities; k++)
                if (strcmp(oddities[k].name, name) == 0) {
                        oddities[k].put();
                        return true;
                }
        return false;
}

static int list(void)
{
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                puts(kinds[k].name);
        for (size_t k = 0; k < sizeof oddities / sizeof *oddities; k++)
                puts(oddities[k].name);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "-l") == 0)
                return list();
        as_zip = argc == 3 && strcmp(argv[1], "-z") == 0;
        if (argc != (as_zip ? 3 : 2) || !put_kind(argv[argc - 1])) {
                fprintf(stderr, "usage: make-archive [-z] KIND | -l\n");
                return 2;
        }
        if (as_zip)
                zip_end();
        else
                tar_end();
        return fflush(stdout) == 0 ? 0 : 3;
}
