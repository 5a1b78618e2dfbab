/* Tar archives on standard output, an entry for each text:
 *
 *   LETTER[MODE]:NAME[:WHAT]    WHAT is the content of a file, the target of a link
 *   x:KEY=VALUE                 an extended header, for the entry that comes next
 *
 *   f file, d directory, l symbolic link, h hard link, p pipe, c and b devices 0:0, Z zeros, a file
 *   of WHAT bytes. In KEY=VALUE and NAME, {N} is the letter x N times.
 *
 * All have the time 1000000000. */
#ifndef ASSAY_TESTS_TAR_TEXT_H
#define ASSAY_TESTS_TAR_TEXT_H

#include "tests/programs/put.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tar_header {
        char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100],
                magic[8], uname[32], gname[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == 512, "a tar header is a block");

static const struct {
        char letter, type;
        unsigned mode;
} tar_letters[] = {
        {'f', '0', 0644},
        {'Z', '0', 0644},
        {'d', '5', 0755},
        {'l', '2', 0777},
        {'h', '1', 0644},
        {'p', '6', 0644},
        {'c', '3', 0666},
        {'b', '4', 0660},
        {'x', 'x', 0},
};

static inline void put_header(struct tar_header *h, unsigned mode, uint64_t size)
{
        const unsigned char *bytes = (const unsigned char *)h;
        unsigned sum = 0;

        memcpy(h->magic, "ustar\00000", 8);
        snprintf(h->mode, sizeof h->mode, "%07o", mode);
        snprintf(h->uid, sizeof h->uid, "%07o", 1U);
        snprintf(h->gid, sizeof h->gid, "%07o", 2U);
        snprintf(h->size, sizeof h->size, "%011llo", (unsigned long long)size);
        snprintf(h->mtime, sizeof h->mtime, "%011o", 1000000000U);
        memset(h->sum, ' ', sizeof h->sum);
        for (size_t i = 0; i < sizeof *h; i++)
                sum += bytes[i];
        snprintf(h->sum, sizeof h->sum, "%06o", sum);
        put(h, sizeof *h);
}

static inline void put_data(const char *data, uint64_t len)
{
        put(data, len);
        put_zeros((512 - len % 512) % 512);
}

/* "length text\n", where the length counts itself. */
static inline void put_extended(const char *text)
{
        struct tar_header h = {.name = "PaxHeader", .type = 'x'};
        size_t body = strlen(text) + 2, len = body + 1, used;
        char *record = malloc(body + 24);

        if (!record)
                exit(3);
        while ((used = (size_t)snprintf(record, body + 24, "%zu %s\n", len, text)) != len)
                len = used;
        put_header(&h, 0644, len);
        put_data(record, len);
        free(record);
}

/* With {N} written out. */
static inline char *expand(const char *text)
{
        const char *open = strchr(text, '{');
        char *end, *whole;
        size_t count;

        if (!open)
                return strdup(text);
        count = strtoul(open + 1, &end, 10);
        if (open[1] < '0' || open[1] > '9' || *end != '}')
                return strdup(text);
        whole = malloc(strlen(text) + count + 1);
        if (!whole)
                exit(3);
        memcpy(whole, text, (size_t)(open - text));
        memset(whole + (open - text), 'x', count);
        memcpy(whole + (open - text) + count, end + 1, strlen(end + 1) + 1);
        return whole;
}

static inline void put_entry(size_t kind, unsigned mode, const char *name, const char *what)
{
        struct tar_header h = {.type = tar_letters[kind].type};
        bool file = tar_letters[kind].letter == 'f', zeros = tar_letters[kind].letter == 'Z';
        uint64_t size = file ? strlen(what) : zeros ? strtoull(what, NULL, 10) : 0;

        memcpy(h.name, name, strnlen(name, sizeof h.name));
        if (!file && !zeros)
                memcpy(h.link, what, strnlen(what, sizeof h.link));
        put_header(&h, mode, size);
        if (file)
                put_data(what, size);
        else
                put_zeros((size + 511) / 512 * 512);
}

/* false: it is none of those; the text is changed. */
static inline bool put_tar_text(char *text)
{
        char *rest, *name = strchr(text, ':'), *what;
        unsigned mode = (unsigned)strtoul(text + 1, &rest, 8);

        if (!name || rest != name)
                return false;
        name = expand(name + 1);
        for (size_t k = 0; k < sizeof tar_letters / sizeof *tar_letters; k++) {
                if (tar_letters[k].letter != text[0])
                        continue;
                what = text[0] == 'x' ? NULL : strchr(name, ':');
                if (what)
                        *what++ = '\0';
                if (text[0] == 'x')
                        put_extended(name);
                else
                        put_entry(k, rest > text + 1 ? mode : tar_letters[k].mode, name,
                                what ? what : "");
                free(name);
                return true;
        }
        free(name);
        return false;
}

#endif
