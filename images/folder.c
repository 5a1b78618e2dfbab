/* Walking a directory; see folder.h. It may change meanwhile, and hold anything: it is opened
 * beneath its root only, never through a link. */
#include "images/folder.h"

#include "beneath.h"
#include "fd.h"
#include "images/digest.h"
#include "images/listing.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS_STEP = 16 };

static int failure(const char *path, struct error *err)
{
        if (errno == ENAMETOOLONG)
                return error_errno(err, CODE_ARCHIVE_BAD_NAME, errno, "%.300s", path);
        switch (errno) {
        case EACCES:
        case EPERM:
        case EXDEV:
        case ELOOP:
        case ENOENT:
        case ENOTDIR:
                return error_errno(
                        err, CODE_SUBMISSION_UNREADABLE, errno, "%.300s: cannot be read", path);
        default:
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s: cannot be read", path);
        }
}

static int changed(const char *path, struct error *err)
{
        return error_set(
                err, CODE_SUBMISSION_UNREADABLE, "%.300s: changed while it was read", path);
}

/* --- one folder's names --------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;

        return strcmp(*a, *b);
}

static void forget(struct folder_level *l)
{
        while (l->count > 0)
                free(l->names[--l->count]);
        free(l->names);
        *l = (struct folder_level){0};
}

/* What there is not memory for is too much: the limit is this program's own. */
static int too_many(const struct folder *f, struct error *err)
{
        return error_set(
                err, CODE_ARCHIVE_ENTRIES, "more than %llu entries", (unsigned long long)f->names);
}

static int add_name(struct folder *f, struct folder_level *l, const char *name, struct error *err)
{
        char **more;

        if (f->names >= f->max)
                return too_many(f, err);
        if ((l->count & (l->count - 1)) == 0) { /* full, or empty */
                more = realloc(l->names, (l->count ? 2 * l->count : 1) * sizeof *more);
                if (!more)
                        return too_many(f, err);
                l->names = more;
        }
        l->names[l->count] = strdup(name);
        if (!l->names[l->count])
                return too_many(f, err);
        l->count++;
        f->names++;
        return 0;
}

static int list(struct folder *f, struct folder_level *l, struct error *err)
{
        const char *path = *f->path ? f->path : ".";
        _cleanup_fd_ int dir = beneath_open(f->root, path, O_RDONLY | O_DIRECTORY, 0);
        const struct dirent64 *e;
        struct listing names;

        if (dir < 0)
                return failure(path, err);
        listing_begin(&names, dir);
        while ((e = listing_next(&names)))
                if (add_name(f, l, e->d_name, err) < 0)
                        return -1;
        if (names.failed)
                return failure(path, err);
        if (l->count > 0)
                qsort(l->names, l->count, sizeof *l->names, compare);
        return 0;
}

static int descend(struct folder *f, struct error *err)
{
        struct folder_level *more = f->levels;

        if (f->depth % LEVELS_STEP == 0)
                more = realloc(f->levels, (f->depth + LEVELS_STEP) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        f->levels = more;
        f->levels[f->depth] = (struct folder_level){.path_len = strlen(f->path)};
        f->depth++;
        return list(f, &f->levels[f->depth - 1], err);
}

/* --- entries -------------------------------------------------------------------------------- */

int folder_open(struct folder *f, int root, uint64_t max, struct error *err)
{
        *f = (struct folder){.root = root, .max = max, .file = -EBADF};
        sha256_init(&f->digest);
        return descend(f, err);
}

void folder_close(struct folder *f)
{
        while (f->depth > 0)
                forget(&f->levels[--f->depth]);
        free(f->levels);
        f->levels = NULL;
        f->file = fd_close(f->file);
}

/* The path of the next name, or false at the end of everything. */
static bool step(struct folder *f, int *ret, struct error *err)
{
        while (f->depth > 0) {
                struct folder_level *l = &f->levels[f->depth - 1];
                const char *name = l->next < l->count ? l->names[l->next++] : NULL;
                size_t len = l->path_len, more = name ? strlen(name) + (len > 0) : 0;

                if (!name) {
                        forget(l);
                        f->depth--;
                        continue;
                }
                *ret = 1;
                if (len + more >= sizeof f->path) {
                        f->path[len] = '\0';
                        *ret = error_set(err, CODE_ARCHIVE_BAD_NAME, "%.300s: too long", f->path);
                        return true;
                }
                if (len > 0)
                        f->path[len++] = '/';
                memcpy(f->path + len, name, strlen(name) + 1);
                return true;
        }
        return false;
}

static void digest(struct folder *f, char kind, uint64_t len)
{
        unsigned char bytes[8];

        for (unsigned i = 0; i < sizeof bytes; i++)
                bytes[i] = (unsigned char)(len >> (8 * i));
        sha256_update(&f->digest, 1, (const unsigned char *)&kind);
        sha256_update(&f->digest, strlen(f->path) + 1, (const unsigned char *)f->path);
        sha256_update(&f->digest, sizeof bytes, bytes);
}

static int read_link(struct folder *f, int fd, struct entry *ret, struct error *err)
{
        ssize_t len = readlinkat(fd, "", f->target, sizeof f->target - 1);

        if (len < 0)
                return failure(f->path, err);
        f->target[len] = '\0';
        ret->type = ENTRY_SYMLINK;
        ret->target = f->target;
        digest(f, 'l', (uint64_t)len);
        sha256_update(&f->digest, (size_t)len, (const unsigned char *)f->target);
        return 1;
}

static int open_file(struct folder *f, const struct stat *st, struct entry *ret, struct error *err)
{
        struct stat now;

        f->file = beneath_open(f->root, f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (f->file < 0 || fstat(f->file, &now) < 0)
                return failure(f->path, err);
        if (now.st_dev != st->st_dev || now.st_ino != st->st_ino || !S_ISREG(now.st_mode))
                return changed(f->path, err);
        f->offset = 0;
        f->size = (uint64_t)st->st_size;
        ret->type = ENTRY_FILE;
        ret->executable = st->st_mode & 0100;
        digest(f, ret->executable ? 'x' : 'f', f->size);
        return 1;
}

/* What nobody may read, whatever right this program happens to have: the answer must not depend on
 * who started it. */
static bool is_closed(const struct stat *st)
{
        return (S_ISREG(st->st_mode) && !(st->st_mode & 0444)) ||
               (S_ISDIR(st->st_mode) && (!(st->st_mode & 0444) || !(st->st_mode & 0111)));
}

int folder_next(struct folder *f, struct entry *ret, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;
        int r = 0;

        f->file = fd_close(f->file);
        if (!step(f, &r, err) || r < 0)
                return r;
        *ret = (struct entry){.path = f->path, .target = "", .type = ENTRY_SPECIAL};
        fd = beneath_open(f->root, f->path, O_PATH | O_NOFOLLOW, 0);
        if (fd < 0 || fstat(fd, &st) < 0)
                return failure(f->path, err);
        if (is_closed(&st)) {
                errno = EACCES;
                return failure(f->path, err);
        }
        switch (st.st_mode & S_IFMT) {
        case S_IFDIR:
                ret->type = ENTRY_DIRECTORY;
                digest(f, 'd', 0);
                return descend(f, err) < 0 ? -1 : 1;
        case S_IFLNK:
                return read_link(f, fd, ret, err);
        case S_IFREG:
                return open_file(f, &st, ret, err);
        default:
                digest(f, 's', 0);
                return 1;
        }
}

int folder_data(struct folder *f, const void **ret_data, size_t *ret_len, uint64_t *ret_offset,
        struct error *err)
{
        ssize_t n = read(f->file, f->data, sizeof f->data);

        if (n < 0)
                return failure(f->path, err);
        if (n == 0 ? f->offset != f->size : (uint64_t)n > f->size - f->offset)
                return changed(f->path, err);
        sha256_update(&f->digest, (size_t)n, f->data);
        *ret_data = f->data;
        *ret_len = (size_t)n;
        *ret_offset = f->offset;
        f->offset += (uint64_t)n;
        return n > 0;
}

void folder_digest(struct folder *f, char ret[65])
{
        digest_text(&f->digest, ret);
}
