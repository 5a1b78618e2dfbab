/* Entries as tar, on standard output: a header to be changed, and the usual. */
#ifndef ASSAY_TESTS_ARCHIVE_TAR_H
#define ASSAY_TESTS_ARCHIVE_TAR_H

#include "tests/programs/archive_item.h"
#include "tests/programs/put.h"

#include <string.h>

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

#endif
