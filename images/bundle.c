/* Finding members; see bundle.h. Content stays where it is: a layer has gigabytes, and the
 * documents about it have kilobytes. */
#include "images/bundle.h"

#include "beneath.h"
#include "fd.h"
#include "images/decompress.h"
#include "images/tar_walk.h"

#include <search.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        MAX_STEPS = 10,
        MAX_NAMES = 32 << 20, /* bytes of all names: they are kept */
};

struct member {
        enum tar_kind kind;
        uint64_t offset, length;
        const char *target; /* behind the name */
        char name[];
};

static int compare(const void *left, const void *right)
{
        const struct member *const a = left, *const b = right;

        return strcmp(a->name, b->name);
}

/* --- opening -------------------------------------------------------------------------------- */

static struct member *new_member(const struct tar_member *from)
{
        size_t name_size = strlen(from->name.text) + 1, target_size = strlen(from->target) + 1;
        struct member *m = malloc(sizeof *m + name_size + target_size);

        if (!m)
                return NULL;
        m->kind = from->kind;
        m->offset = from->offset;
        m->length = from->length;
        memcpy(m->name, from->name.text, name_size);
        memcpy(m->name + name_size, from->target, target_size);
        m->target = m->name + name_size;
        return m;
}

/* Directories say nothing, and some tools tell them twice; but no file may be in the place of one.
 */
static int add_member(struct bundle *b, const struct tar_member *from, struct error *err)
{
        struct member *m, *const *there;

        b->names += strlen(from->name.text) + strlen(from->target);
        if (b->names > MAX_NAMES)
                return error_set(err, CODE_IMAGE_INVALID, "more than 32 MiB of names");
        m = new_member(from);
        there = m ? tsearch(m, &b->members, compare) : NULL;
        if (!there) {
                free(m);
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        if (*there == m)
                return 0;
        free(m);
        if ((*there)->kind == TAR_DIRECTORY && from->kind == TAR_DIRECTORY)
                return 0;
        return error_set(err, CODE_IMAGE_INVALID, "%.300s: is in the file twice", from->name.text);
}

static int add_members(struct bundle *b, struct error *err)
{
        _cleanup_tar_walk_ struct tar_walk w;
        static struct tar_member m;
        uint64_t count = 0;
        int r;

        r = tar_walk_open(&w, b->fd, BUNDLE_MAX_MEMBERS, err);
        while (r == 0 && (r = tar_walk_next(&w, &m, err)) > 0)
                r = ++count > BUNDLE_MAX_MEMBERS
                            ? error_set(err, CODE_IMAGE_INVALID, "more than 100000 members")
                            : add_member(b, &m, err);
        return r;
}

static const char *compression_of(int fd)
{
        struct decompressor *d = decompress_open(fd, NULL);
        const unsigned char *piece;
        const char *name = NULL;

        if (d) {
                decompress_peek(d, &piece, NULL); /* whatever the content is worth */
                name = decompress_name(d);
        }
        decompress_close(d);
        return name;
}

/* What can be told from the first bytes, before a damaged header is called so. */
static int check_kind(int fd, struct error *err)
{
        unsigned char block[TAR_BLOCK];
        ssize_t n = pread(fd, block, sizeof block, 0);
        const char *compression;

        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the file");
        if (n == 0)
                return error_set(err, CODE_IMAGE_INVALID, "the file is empty");
        if (n == sizeof block && tar_sum_is_right(block))
                return 0;
        compression = decompress_begins(block, (size_t)n) ? compression_of(fd) : NULL;
        if (compression)
                return error_set(err, CODE_IMAGE_COMPRESSED,
                        "the file is compressed with %s as a whole", compression);
        return error_set(err, CODE_IMAGE_UNSUPPORTED, "the file is not a tar file");
}

int bundle_open(struct bundle *b, int fd, struct error *err)
{
        struct stat st;

        *b = (struct bundle){.fd = fd};
        if (fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the file");
        b->is_directory = S_ISDIR(st.st_mode);
        if (b->is_directory)
                return 0;
        if (!S_ISREG(st.st_mode))
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "neither a file nor a directory");
        return check_kind(fd, err) < 0 ? -1 : add_members(b, err);
}

void bundle_close(struct bundle *b)
{
        tdestroy(b->members, free);
        b->members = NULL;
}

/* --- finding -------------------------------------------------------------------------------- */

static const struct member *member_of(const struct bundle *b, const char *name)
{
        size_t size = strlen(name) + 1;
        struct member *key = malloc(sizeof *key + size);
        struct member *const *found;

        if (!key)
                return NULL;
        memcpy(key->name, name, size);
        found = tfind(key, &b->members, compare);
        free(key);
        return found ? *found : NULL;
}

/* The target of a symlink as a path of the file: joined to the folder of the link, `..` by the
 * letters. Links to folders are not followed, so that is what it means. False when it leaves. */
static bool join(const struct member *link, struct path *ret)
{
        const char *slash = strrchr(link->name, '/'), *at = link->target;
        size_t used = slash ? (size_t)(slash - link->name) : 0, len;

        memcpy(ret->text, link->name, used);
        for (; *at; at += len + strspn(at + len, "/")) {
                len = strcspn(at, "/");
                if (len == 0)
                        return false; /* absolute */
                if (len == 1 && *at == '.')
                        continue;
                if (len == 2 && memcmp(at, "..", 2) == 0) {
                        if (used == 0)
                                return false;
                        while (used > 0 && ret->text[--used] != '/')
                                ;
                        continue;
                }
                if (used + 1 + len > UNPACK_MAX_PATH)
                        return false;
                if (used > 0)
                        ret->text[used++] = '/';
                memcpy(ret->text + used, at, len);
                used += len;
        }
        ret->text[used] = '\0';
        return used > 0;
}

static bool follow(const struct member *m, struct path *ret)
{
        return m->kind == TAR_SYMLINK ? join(m, ret) : name_normalise(m->target, ret, NULL) == 0;
}

static int find_in_tar(
        const struct bundle *b, const char *name, struct place *ret, struct error *err)
{
        const struct member *m = member_of(b, name);
        struct path to;

        for (int steps = 0; m && m->kind != TAR_FILE; steps++) {
                if (m->kind == TAR_DIRECTORY)
                        return error_set(err, CODE_IMAGE_INVALID, "%.200s: is a directory", name);
                if (steps == MAX_STEPS)
                        return error_set(err, CODE_IMAGE_INVALID,
                                "%.200s: a link to a link to a "
                                "link, and no end",
                                name);
                if (!follow(m, &to))
                        return error_set(err, CODE_IMAGE_INVALID,
                                "%.200s: a link to `%.200s`, outside the file", m->name, m->target);
                m = member_of(b, to.text);
        }
        if (!m)
                return 0;
        *ret = (struct place){b->fd, -EBADF, m->offset, m->length};
        return 1;
}

static int find_in_directory(
        const struct bundle *b, const char *name, struct place *ret, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(b->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        struct stat st;

        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;
        if (fd < 0 && (errno == ELOOP || errno == EXDEV))
                return error_set(
                        err, CODE_IMAGE_INVALID, "%.300s: a link, or on another mount", name);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s: cannot be read", name);
        if (!S_ISREG(st.st_mode))
                return error_set(err, CODE_IMAGE_INVALID, "%.300s: not a file", name);
        *ret = (struct place){fd, fd, 0, (uint64_t)st.st_size};
        take_fd(&fd);
        return 1;
}

int bundle_find(const struct bundle *b, const char *name, struct place *ret, struct error *err)
{
        return b->is_directory ? find_in_directory(b, name, ret, err)
                               : find_in_tar(b, name, ret, err);
}

void place_close(struct place *p)
{
        p->fd = -EBADF;
        p->opened = fd_close(p->opened);
}
