/* Entries as zip, stored, on standard output: the truth, or a lie about it. */
#ifndef ASSAY_TESTS_ARCHIVE_ZIP_H
#define ASSAY_TESTS_ARCHIVE_ZIP_H

#include "tests/programs/archive_item.h"
#include "tests/programs/put.h"

#include <stdbool.h>
#include <string.h>

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

#endif
