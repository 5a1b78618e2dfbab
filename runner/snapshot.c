/* Tasks as files; see snapshot.h.
 *
 * A snapshot is a line that says what it is, then an entry for each file, folder and link, each
 * folder before its content: u8 kind, text path beneath the task, u64 size, and so many bytes: the
 * file's content, the link's target. */
#include "snapshot.h"

#include "beneath.h"
#include "buffer.h"
#include "fd.h"
#include "frame.h"
#include "images/folder.h"
#include "state.h"
#include "task_digest.h"
#include "ulid.h"

#include <dirent.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "assay.snapshot/1\n";

enum { MAX_PATH = 4096, PIECE = 64 << 10 };

/* --- making one ----------------------------------------------------------------------------- */

static int write_some(int fd, const void *bytes, size_t len, struct error *err)
{
        return fd_write_all(fd, bytes, len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "a snapshot of the task");
}

static int write_head(
        int fd, char kind, const char *part, const char *path, uint64_t size, struct error *err)
{
        _cleanup_buffer_ struct buffer head = BUFFER_INIT, name = BUFFER_INIT;

        buffer_add_format(&name, "%s%s%s", part, *path ? "/" : "", path);
        put_u8(&head, (uint8_t)kind);
        put_text(&head, buffer_text(&name));
        put_u64(&head, size);
        if (!buffer_ok(&head) || !buffer_ok(&name))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return write_some(fd, head.data, head.len, err);
}

static int write_entry(
        struct folder *f, const struct entry *e, const char *part, int fd, struct error *err)
{
        const void *data;
        uint64_t at, written = 0;
        size_t len;
        int r;

        switch (e->type) {
        case ENTRY_DIRECTORY:
                return write_head(fd, 'd', part, e->path, 0, err);
        case ENTRY_SYMLINK:
                return write_head(fd, 'l', part, e->path, strlen(e->target), err) < 0 ||
                                       write_some(fd, e->target, strlen(e->target), err) < 0
                               ? -1
                               : 0;
        case ENTRY_FILE:
                break;
        default:
                return error_set(err, CODE_TASK_UNSAFE, "%s/%s: is neither file, folder nor link",
                        part, e->path);
        }
        if (write_head(fd, e->executable ? 'x' : 'f', part, e->path, f->size, err) < 0)
                return -1;
        while ((r = folder_data(f, &data, &len, &at, err)) > 0) {
                written += len;
                if (write_some(fd, data, len, err) < 0)
                        return -1;
        }
        if (r == 0 && written != f->size)
                r = error_set(
                        err, CODE_TASK_CHANGED, "%s/%s: changed while it was read", part, e->path);
        return r;
}

static int write_part(const struct task *t, const char *part, int fd, struct error *err)
{
        _cleanup_fd_ int root = beneath_open(t->directory, part, O_RDONLY | O_DIRECTORY, 0);
        struct folder *f;
        struct entry e;
        int r;

        if (root < 0)
                return errno == ENOENT ? 0 : error_errno(err, CODE_INFRA_IO, errno, "%s", part);
        f = malloc(sizeof *f);
        if (!f)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = folder_open(f, root, UINT64_MAX, err) < 0 ? -1 : write_head(fd, 'd', part, "", 0, err);
        while (r == 0 && (r = folder_next(f, &e, err)) > 0)
                r = write_entry(f, &e, part, fd, err);
        folder_close(f);
        free(f);
        return r;
}

static int write_task_json(const struct task *t, int fd, struct error *err)
{
        _cleanup_fd_ int file = beneath_open(t->directory, "task.json", O_RDONLY, 0);
        unsigned char some[PIECE];
        struct stat st;
        off_t left;

        if (file < 0 || fstat(file, &st) < 0)
                return error_errno(err, CODE_TASK_MISSING, errno, "task.json");
        if (write_head(fd, 'f', "task.json", "", (uint64_t)st.st_size, err) < 0)
                return -1;
        for (left = st.st_size; left > 0;) {
                const ssize_t n = read(file, some, left < PIECE ? (size_t)left : PIECE);

                if (n <= 0)
                        return error_set(
                                err, CODE_TASK_CHANGED, "task.json: changed while it was read");
                if (write_some(fd, some, (size_t)n, err) < 0)
                        return -1;
                left -= n;
        }
        return 0;
}

int snapshot_make(const struct task *t, int *ret_fd, struct error *err)
{
        _cleanup_fd_ int fd = memfd_create("snapshot", MFD_CLOEXEC);

        if (fd < 0)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "a snapshot of the task");
        if (write_some(fd, first_line, sizeof first_line - 1, err) < 0 ||
                write_task_json(t, fd, err) < 0)
                return -1;
        for (size_t i = 0; task_parts[i]; i++)
                if (write_part(t, task_parts[i], fd, err) < 0)
                        return -1;
        *ret_fd = take_fd(&fd);
        return 0;
}

/* --- unpacking one -------------------------------------------------------------------------- */

struct unpack {
        FILE *from;
        int root;
};

static int broken(struct error *err)
{
        error_set(err, CODE_JOB_FILE, "the task's snapshot is damaged");
        return -1;
}

static int read_some(struct unpack *u, void *to, size_t len, struct error *err)
{
        return fread(to, 1, len, u->from) == len ? 0 : broken(err);
}

struct head {
        char kind, path[MAX_PATH], *name; /* the last part of the path */
        uint64_t size;
};

/* 1, or 0 at the end. */
static int read_head(struct unpack *u, struct head *h, struct error *err)
{
        unsigned char fixed[8];
        struct reader r;
        uint32_t len;
        int kind = fgetc(u->from);

        if (kind == EOF)
                return ferror(u->from) ? broken(err) : 0;
        h->kind = (char)kind;
        if (read_some(u, fixed, 4, err) < 0)
                return -1;
        r = reader_of(fixed, 4);
        len = get_u32(&r);
        if (len == 0 || len >= sizeof h->path || read_some(u, h->path, len, err) < 0)
                return broken(err);
        h->path[len] = '\0';
        if (strlen(h->path) != len || read_some(u, fixed, 8, err) < 0)
                return broken(err);
        r = reader_of(fixed, 8);
        h->size = get_u64(&r);
        h->name = strrchr(h->path, '/');
        h->name = h->name ? h->name + 1 : h->path;
        return 1;
}

static int make_file(struct unpack *u, const struct head *h, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(u->root, h->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        unsigned char some[PIECE];

        if (fd < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "%.300s", h->path);
        for (uint64_t left = h->size; left > 0;) {
                const size_t n = left < PIECE ? (size_t)left : PIECE;

                if (read_some(u, some, n, err) < 0)
                        return -1;
                if (fd_write_all(fd, some, n) < 0)
                        return error_errno(err, CODE_INFRA_STATE, errno, "%.300s", h->path);
                left -= n;
        }
        /* Whatever umask there is: the runner reads them as its own user. */
        return fchmod(fd, h->kind == 'x' ? 0755 : 0644) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_STATE, errno, "%.300s", h->path);
}

/* The folder that it is made in, which was made before. */
static int open_above(struct unpack *u, struct head *h, struct error *err)
{
        int fd;

        if (h->name == h->path)
                return fcntl(u->root, F_DUPFD_CLOEXEC, 3);
        h->name[-1] = '\0';
        fd = beneath_open(u->root, h->path, O_PATH | O_DIRECTORY, 0);
        h->name[-1] = '/';
        return fd >= 0 ? fd : error_errno(err, CODE_JOB_FILE, errno, "%.300s", h->path);
}

static int make_entry(struct unpack *u, struct head *h, struct error *err)
{
        _cleanup_fd_ int above = -EBADF;
        char target[MAX_PATH];
        int r;

        if (h->kind == 'f' || h->kind == 'x')
                return make_file(u, h, err);
        above = open_above(u, h, err);
        if (above < 0)
                return -1;
        if (!*h->name || strcmp(h->name, ".") == 0 || strcmp(h->name, "..") == 0 ||
                (h->kind != 'd' && h->kind != 'l') || h->size >= sizeof target ||
                read_some(u, target, h->size, err) < 0)
                return broken(err);
        target[h->size] = '\0';
        r = h->kind == 'l' ? symlinkat(target, above, h->name) : mkdirat(above, h->name, 0755);
        if (r == 0 && h->kind == 'd')
                r = fchmodat(above, h->name, 0755, 0);
        return r == 0 ? 0 : error_errno(err, CODE_INFRA_STATE, errno, "%.300s", h->path);
}

int snapshot_unpack(int fd, int directory, struct error *err)
{
        const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        struct unpack u = {.root = directory};
        char line[sizeof first_line];
        struct head h = {.kind = 0};
        int r;

        if (copy < 0 || lseek(copy, 0, SEEK_SET) < 0 || !(u.from = fdopen(copy, "r"))) {
                fd_close(copy);
                return error_errno(err, CODE_INFRA_IO, errno, "the task's snapshot");
        }
        r = fread(line, 1, sizeof line - 1, u.from) == sizeof line - 1 &&
                            memcmp(line, first_line, sizeof line - 1) == 0
                    ? 1
                    : broken(err);
        while (r > 0 && (r = read_head(&u, &h, err)) > 0)
                r = make_entry(&u, &h, err) < 0 ? -1 : 1;
        fclose(u.from);
        return r;
}

/* --- those that are here -------------------------------------------------------------------- */

static int check(const char *path, const char *sha256, struct error *err)
{
        struct task t = TASK_INIT;
        char digest[DIGEST_SIZE];
        int r = task_open(&t, path, err);

        if (r == 0)
                r = task_digest(&t, -EBADF, digest, err);
        task_free(&t);
        if (r == 0 && strcmp(digest, sha256) != 0)
                r = error_set(err, CODE_JOB_FILE, "the task's snapshot is not that of %s", sha256);
        return r;
}

/* Remove what was unpacked in part. Nothing in it was made by others. */
static void drop(int above, const char *name)
{
        _cleanup_fd_ int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *dir;

        if (fd < 0)
                return;
        dir = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 3));
        for (struct dirent *e; dir && (e = readdir(dir));)
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                        unlinkat(fd, e->d_name, 0) < 0)
                        drop(fd, e->d_name);
        if (dir)
                closedir(dir);
        unlinkat(above, name, AT_REMOVEDIR);
}

/* What whoever was killed left. It has a lock on what it unpacks; and one on all, for as long as
 * what it made has none. */
static void sweep(int tasks)
{
        DIR *dir = fdopendir(openat(tasks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

        for (struct dirent *e; dir && (e = readdir(dir));) {
                _cleanup_fd_ int fd = -EBADF;

                if (strlen(e->d_name) != ULID_SIZE - 1)
                        continue;
                fd = openat(tasks, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
                        drop(tasks, e->d_name);
        }
        if (dir)
                closedir(dir);
}

static int make_locked(int tasks, const char *name)
{
        int fd = -1;

        if (flock(tasks, LOCK_EX) < 0)
                return -1;
        sweep(tasks);
        if (mkdirat(tasks, name, 0755) == 0)
                fd = openat(tasks, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX) < 0)
                fd = fd_close(fd);
        flock(tasks, LOCK_UN);
        return fd;
}

static int unpack_new(int tasks, const char *name, const char *path, const char *sha256,
        snapshot_fetch fetch, void *to, struct error *err)
{
        _cleanup_fd_ int file = openat(tasks, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
        _cleanup_fd_ int directory = file < 0 ? -1 : make_locked(tasks, name);

        if (directory < 0 || fchmod(directory, 0755) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "%s", path);
        return fetch(to, sha256, file, err) < 0 || snapshot_unpack(file, directory, err) < 0 ||
                               check(path, sha256, err) < 0
                       ? -1
               : syncfs(directory) == 0 ? 0
                                        : error_errno(err, CODE_INFRA_STATE, errno, "%s", path);
}

int snapshot_find(
        const char *sha256, snapshot_fetch fetch, void *to, char ret[PATH_MAX], struct error *err)
{
        _cleanup_fd_ int tasks = -EBADF;
        char new[ULID_SIZE], path[PATH_MAX];
        struct stat st;

        if (strspn(sha256, "0123456789abcdef") != DIGEST_SIZE - 1)
                return error_set(err, CODE_JOB_FILE, "%.64s: no digest of a task", sha256);
        if (state_file("tasks", sha256, ret, err) < 0)
                return -1;
        if (lstat(ret, &st) == 0 && S_ISDIR(st.st_mode))
                return 0;
        tasks = state_open_private("tasks", err);
        if (tasks < 0 || ulid_new(new, err) < 0 || state_file("tasks", new, path, err) < 0)
                return -1;
        /* Those of others are no business of this machine's users. */
        if (fchmod(tasks, 0700) == 0 && unpack_new(tasks, new, path, sha256, fetch, to, err) == 0 &&
                (renameat(tasks, new, tasks, sha256) == 0 || errno == EEXIST ||
                        errno == ENOTEMPTY)) {
                drop(tasks, new); /* where another one was here first */
                return 0;
        }
        if (err->code == CODE_NONE)
                error_errno(err, CODE_INFRA_STATE, errno, "%s", ret);
        drop(tasks, new);
        return -1;
}
