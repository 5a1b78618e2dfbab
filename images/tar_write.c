/* The tar format of GNU, whose names are bytes of any number; see tar_write.h. */
#include "images/tar_write.h"

#include "fd.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, FLUSH_AT = 256 << 10 };

struct header {
        char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
        char magic[8], user[32], group[32], device[16], rest[167];
};
_Static_assert(sizeof(struct header) == BLOCK, "as in tar.h");

/* Octal digits and a NUL, or, what needs more, the number's bytes after a mark. */
static void put_number(char *field, size_t size, int64_t value)
{
        if (value >= 0 && (size > 8 ? value < 1LL << 33 : value < 1LL << 21)) {
                snprintf(field, size, "%0*llo", (int)size - 1, (unsigned long long)value);
                return;
        }
        for (size_t i = size; i-- > 1; value >>= 8)
                field[i] = (char)(value & 0xff);
        field[0] = value < 0 ? (char)0xff : (char)0x80;
}

static int flush(struct tar_writer *w, struct error *err)
{
        int r = buffer_ok(&w->pending) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");

        if (r == 0 && fd_write_all(w->fd, w->pending.data, w->pending.len) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "the archive cannot be written");
        buffer_clear(&w->pending);
        return r;
}

static int put_header(struct tar_writer *w, const char *path, const char *target, char type,
        uint64_t size, const struct stat *st, struct error *err)
{
        struct header h = {.type = type, .magic = "ustar  "};
        unsigned sum = 0;
        size_t len = strlen(path);

        memcpy(h.name, path, len < sizeof h.name ? len : sizeof h.name);
        len = strlen(target);
        memcpy(h.link, target, len < sizeof h.link ? len : sizeof h.link);
        put_number(h.mode, sizeof h.mode, st->st_mode & 07777);
        put_number(h.uid, sizeof h.uid, st->st_uid);
        put_number(h.gid, sizeof h.gid, st->st_gid);
        put_number(h.size, sizeof h.size, (int64_t)size);
        put_number(h.mtime, sizeof h.mtime, st->st_mtim.tv_sec);
        memset(h.sum, ' ', sizeof h.sum);
        for (size_t i = 0; i < sizeof h; i++)
                sum += ((const unsigned char *)&h)[i];
        snprintf(h.sum, sizeof h.sum - 1, "%06o", sum);
        buffer_add(&w->pending, &h, sizeof h);
        return w->pending.len >= FLUSH_AT ? flush(w, err) : 0;
}

/* A text that is too long for the header's field goes before it, as an entry of its own. */
static int put_long(struct tar_writer *w, char type, const char *text, struct error *err)
{
        static const struct stat nobodys;
        const size_t size = strlen(text) + 1;

        if (size <= 100)
                return 0;
        if (put_header(w, "././@LongLink", "", type, size, &nobodys, err) < 0)
                return -1;
        buffer_add(&w->pending, text, size);
        return tar_write_padding(w, size, err);
}

int tar_write_entry(
        struct tar_writer *w, const char *path, const struct stat *st, struct error *err)
{
        return put_long(w, 'L', path, err) < 0
                       ? -1
                       : put_header(w, path, "", S_ISDIR(st->st_mode) ? '5' : '0', 0, st, err);
}

int tar_write_link(struct tar_writer *w, const char *path, const char *target,
        const struct stat *st, struct error *err)
{
        return put_long(w, 'K', target, err) < 0 || put_long(w, 'L', path, err) < 0
                       ? -1
                       : put_header(w, path, target, '2', 0, st, err);
}

int tar_write_file_of(struct tar_writer *w, const char *path, uint64_t size, const struct stat *st,
        struct error *err)
{
        return put_long(w, 'L', path, err) < 0 ? -1 : put_header(w, path, "", '0', size, st, err);
}

int tar_write_file(struct tar_writer *w, const char *path, uint64_t size, struct error *err)
{
        static const struct stat everybodys = {.st_mode = S_IFREG | 0644};

        return tar_write_file_of(w, path, size, &everybodys, err);
}

int tar_write_bytes(struct tar_writer *w, const void *bytes, size_t len, struct error *err)
{
        buffer_add(&w->pending, bytes, len);
        return w->pending.len >= FLUSH_AT ? flush(w, err) : 0;
}

int tar_write_padding(struct tar_writer *w, uint64_t size, struct error *err)
{
        static const char zeros[BLOCK];

        return tar_write_bytes(w, zeros, (BLOCK - size % BLOCK) % BLOCK, err);
}

int tar_write_end(struct tar_writer *w, struct error *err)
{
        static const char zeros[2 * BLOCK];
        int r;

        buffer_add(&w->pending, zeros, sizeof zeros);
        r = flush(w, err);
        buffer_free(&w->pending);
        return r;
}
