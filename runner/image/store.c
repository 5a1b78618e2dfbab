/* Images on disk; see store.h. */
#include "image/store.h"

#include "beneath.h"
#include "fd.h"
#include "images/messages.h"
#include "privilege.h"
#include "state.h"
#include "workspace.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool is_digest(const char *text)
{
        return strlen(text) == DIGEST_SIZE - 1 &&
               strspn(text, "0123456789abcdef") == DIGEST_SIZE - 1;
}

int image_store_failed(const char *what, struct error *err)
{
        return error_errno(err, CODE_INFRA_STATE, errno, "the image store: %s", what);
}

/* --- opening -------------------------------------------------------------------------------- */

static int open_part(int store, const char *name, struct error *err)
{
        bool made = mkdirat(store, name, 0755) == 0;
        int fd = made || errno == EEXIST
                         ? openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                         : -1;

        if (fd < 0)
                return image_store_failed(name, err);
        /* Whatever the caller's umask is: the unpacker, which reads it too, has another id. */
        if ((made && fchmod(fd, 0755) < 0 && image_store_failed(name, err) < 0) ||
                state_own(fd, err) < 0) {
                fd_close(fd);
                return -1;
        }
        return fd;
}

/* Nobody else may get to the layers: who unpacks one could be taken over by it, and would have it
 * hold set-id files, which open() makes. */
int image_store_open_root(struct error *err)
{
        int fd = state_open("images", err);

        if (fd < 0 || fchmod(fd, 0700) == 0)
                return fd;
        fd_close(fd);
        return image_store_failed("its mode", err);
}

int image_store_open(struct image_store *s, struct error *err)
{
        _cleanup_fd_ int root = image_store_open_root(err);

        return root < 0 ? -1 : image_store_open_in(s, root, err);
}

int image_store_open_in(struct image_store *s, int root, struct error *err)
{
        s->layers = open_part(root, "layers", err);
        s->images = s->layers < 0 ? -1 : open_part(root, "images", err);
        s->views = s->images < 0 ? -1 : open_part(root, "views", err);
        s->names = s->views < 0 ? -1 : open_part(root, "names", err);
        s->incoming = s->names < 0 ? -1 : open_part(root, "incoming", err);
        return s->incoming < 0 ? -1 : 0;
}

void image_store_close(struct image_store *s)
{
        s->layers = fd_close(s->layers);
        s->images = fd_close(s->images);
        s->views = fd_close(s->views);
        s->names = fd_close(s->names);
        s->incoming = fd_close(s->incoming);
        s->pulls = fd_close(s->pulls);
}

bool image_store_be_alone(const struct image_store *s)
{
        return flock(s->incoming, LOCK_EX | LOCK_NB) == 0;
}

void image_store_be_among_others(const struct image_store *s)
{
        while (flock(s->incoming, LOCK_SH) < 0 && errno == EINTR)
                continue;
}

/* --- layers --------------------------------------------------------------------------------- */

bool image_store_has_layer(const struct image_store *s, const char *diff_id)
{
        return is_digest(diff_id) && faccessat(s->layers, diff_id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int image_store_free_bytes(const struct image_store *s, uint64_t *ret)
{
        struct statvfs st;

        if (fstatvfs(s->incoming, &st) < 0)
                return -1;
        *ret = (uint64_t)st.f_bavail * st.f_frsize;
        return 0;
}

/* It may have been taken out between opening and locking. */
static bool still_stands(int part, const char *path, int fd)
{
        struct stat mine, there;

        return fstat(fd, &mine) == 0 && fstatat(part, path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
               mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

int image_store_lock_layer(struct image_store *s, const char *diff_id)
{
        int fd = openat(s->incoming, diff_id, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
                if (still_stands(s->incoming, diff_id, fd))
                        return fd;
                errno = EWOULDBLOCK; /* who had it is done */
        }
        fd_close(fd);
        return -1;
}

void image_store_unlock_layer(struct image_store *s, const char *diff_id, int *lock)
{
        if (*lock >= 0)
                unlinkat(s->incoming, diff_id, 0);
        *lock = fd_close(*lock);
}

static int open_tree(const struct image_store *s, const char *diff_id)
{
        char path[DIGEST_SIZE + 8];

        snprintf(path, sizeof path, "%.64s/tree", diff_id);
        return beneath_open(s->layers, path, O_RDONLY | O_DIRECTORY, 0);
}

bool image_store_layer_in_use(const struct image_store *s, const char *diff_id)
{
        _cleanup_fd_ int fd = open_tree(s, diff_id);

        return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

uint64_t image_store_layer_bytes(const struct image_store *s, const char *diff_id)
{
        char path[DIGEST_SIZE + 8], text[24] = "";
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "%.64s/bytes", diff_id);
        fd = beneath_open(s->layers, path, O_RDONLY | O_NONBLOCK, 0);
        return fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? strtoull(text, NULL, 10) : 0;
}

/* Who only looks whether it is in use holds the lock for a moment. */
static int lock_shared(int fd)
{
        enum { TRIES = 50 };
        const struct timespec moment = {.tv_nsec = 1000000};

        for (int tries = 0; flock(fd, LOCK_SH | LOCK_NB) < 0; tries++) {
                if (errno != EWOULDBLOCK || tries == TRIES)
                        return -1;
                nanosleep(&moment, NULL);
        }
        return 0;
}

int image_store_open_layer(const struct image_store *s, const char *diff_id, struct error *err)
{
        char path[DIGEST_SIZE + 8];
        int fd = open_tree(s, diff_id);

        if (fd < 0)
                return error_errno(
                        err, CODE_INFRA_STATE, errno, "the image store: layer %.12s", diff_id);
        snprintf(path, sizeof path, "%.64s/tree", diff_id);
        if (lock_shared(fd) < 0 || !still_stands(s->layers, path, fd)) {
                fd_close(fd);
                return error_set(err, CODE_IMAGE_MISSING, "layer %.12s is being removed", diff_id);
        }
        return fd;
}

int image_store_begin_layer(struct image_store *s, struct image_store_layer *ret, struct error *err)
{
        *ret = (struct image_store_layer)IMAGE_STORE_LAYER_INIT;
        if (ulid_new(ret->name, err) < 0)
                return -1;
        if (mkdirat(s->incoming, ret->name, 0755) < 0)
                return image_store_failed("a new layer", err);
        ret->place =
                openat(s->incoming, ret->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ret->place < 0 || fchmod(ret->place, 0755) < 0 || mkdirat(ret->place, "tree", 0755) < 0)
                return image_store_failed("a new layer", err);
        ret->tree = openat(ret->place, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ret->tree < 0 || fchmod(ret->tree, 0755) < 0)
                return image_store_failed("a new layer", err);
        return 0;
}

/* A file beside the tree. */
static int make_file(const struct image_store_layer *l, const char *name)
{
        int fd = openat(l->place, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        /* Whatever the caller's umask is: the unpacker, which reads it too, has another id. */
        if (fd >= 0 && fchmod(fd, 0644) < 0)
                fd = fd_close(fd);
        return fd;
}

int image_store_make_skeleton(const struct image_store_layer *l, struct error *err)
{
        int fd = make_file(l, UNPACK_SKELETON_FILE);

        return fd >= 0 ? fd : image_store_failed("a new layer", err);
}

static int write_opaque(const struct image_store_layer *l, const struct buffer *opaque)
{
        _cleanup_fd_ int fd = make_file(l, "opaque");

        return fd < 0 ? -1 : fd_write_all(fd, opaque->data, opaque->len);
}

static int write_bytes(const struct image_store_layer *l, uint64_t bytes)
{
        char text[24];
        _cleanup_fd_ int fd = make_file(l, "bytes");

        snprintf(text, sizeof text, "%llu\n", (unsigned long long)bytes);
        return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

int image_store_keep_layer(struct image_store *s, struct image_store_layer *l, const char *diff_id,
        uint64_t bytes, const struct buffer *opaque, struct error *err)
{
        if (!buffer_ok(opaque))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if ((opaque->len > 0 && write_opaque(l, opaque) < 0) || write_bytes(l, bytes) < 0 ||
                syncfs(l->place) < 0)
                return image_store_failed("a new layer", err);
        if (renameat(s->incoming, l->name, s->layers, diff_id) < 0)
                return errno == EEXIST || errno == ENOTEMPTY
                               ? 0
                               : image_store_failed("a new layer", err);
        l->tree = fd_close(l->tree);
        l->place = fd_close(l->place);
        return fsync(s->layers) < 0 ? image_store_failed("a new layer", err) : 1;
}

static int read_all(int fd, struct buffer *ret)
{
        struct stat st;
        void *to;

        if (fstat(fd, &st) < 0)
                return -1;
        errno = EFBIG;
        to = S_ISREG(st.st_mode) && st.st_size <= IMAGE_STORE_MAX_FILE
                     ? buffer_reserve(ret, (size_t)st.st_size)
                     : NULL;
        if (!to)
                return -1;
        errno = EIO;
        if (read(fd, to, (size_t)st.st_size) != st.st_size)
                return -1;
        buffer_advance(ret, (size_t)st.st_size);
        return 0;
}

int image_store_get_opaque(
        const struct image_store *s, const char *diff_id, struct buffer *ret, struct error *err)
{
        char path[DIGEST_SIZE + 8];
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "%.64s/opaque", diff_id);
        fd = beneath_open(s->layers, path, O_RDONLY | O_NONBLOCK, 0);
        if (fd < 0 && errno == ENOENT)
                return 0;
        return fd >= 0 && read_all(fd, ret) == 0 ? 0 : image_store_failed(diff_id, err);
}

static bool open_place(int part, const char *name, struct image_store_layer *ret)
{
        *ret = (struct image_store_layer)IMAGE_STORE_LAYER_INIT;
        ret->place = openat(part, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ret->place < 0)
                return false;
        ret->tree = openat(ret->place, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return true;
}

static void close_place(struct image_store_layer *l)
{
        l->tree = fd_close(l->tree);
        l->place = fd_close(l->place);
}

static bool open_left(int part, const char *name, struct image_store_layer *ret)
{
        if (strlen(name) != ULID_SIZE - 1 || !open_place(part, name, ret))
                return false;
        if (flock(ret->place, LOCK_EX | LOCK_NB) < 0) {
                close_place(ret);
                return false;
        }
        snprintf(ret->name, sizeof ret->name, "%s", name);
        return true;
}

bool image_store_open_left(struct image_store *s, const char *name, struct image_store_layer *ret)
{
        return open_left(s->incoming, name, ret);
}

bool image_store_take_out_layer(
        struct image_store *s, const char *diff_id, struct image_store_layer *ret)
{
        char name[ULID_SIZE];

        if (ulid_new(name, NULL) < 0 || !open_place(s->layers, diff_id, ret))
                return false;
        /* Who opens it from here on finds it locked, or gone when it has the lock. */
        if ((ret->tree >= 0 && flock(ret->tree, LOCK_EX | LOCK_NB) < 0) ||
                renameat(s->layers, diff_id, s->incoming, name) < 0) {
                close_place(ret);
                return false;
        }
        snprintf(ret->name, sizeof ret->name, "%s", name);
        return true;
}

int image_store_each(int part, int (*see)(void *to, const char *digest, struct error *err),
        void *to, struct error *err)
{
        int fd = openat(part, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir) {
                fd_close(fd);
                return image_store_failed("cannot be listed", err);
        }
        for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
                if (is_digest(entry->d_name))
                        r = see(to, entry->d_name, err);
        closedir(dir);
        return r;
}

static void remove_files(int place)
{
        int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir) {
                fd_close(fd);
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                unlinkat(place, entry->d_name, 0);
        closedir(dir);
}

void image_store_abandon_layer(struct image_store *s, struct image_store_layer *l)
{
        l->tree = fd_close(l->tree);
        if (l->place >= 0) {
                remove_files(l->place);
                unlinkat(l->place, "tree", AT_REMOVEDIR);
        }
        l->place = fd_close(l->place);
        if (*l->name)
                unlinkat(s->incoming, l->name, AT_REMOVEDIR);
}

/* --- what is fetched ------------------------------------------------------------------------ */

/* Between making a directory and locking it, nobody may look. */
static int lock_pulls(struct image_store *s, struct error *err)
{
        if (s->pulls < 0)
                s->pulls = state_open_private("pulls", err);
        if (s->pulls < 0)
                return -1;
        while (flock(s->pulls, LOCK_EX) < 0)
                if (errno != EINTR)
                        return image_store_failed("pulls", err);
        return 0;
}

static int make_pull(struct image_store *s, struct image_store_layer *ret, struct error *err)
{
        if (ulid_new(ret->name, err) < 0)
                return -1;
        if (mkdirat(s->pulls, ret->name, 0700) < 0)
                return image_store_failed("a new pull", err);
        ret->place = openat(s->pulls, ret->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return ret->place >= 0 && flock(ret->place, LOCK_EX | LOCK_NB) == 0
                       ? 0
                       : image_store_failed("a new pull", err);
}

int image_store_begin_pull(struct image_store *s, struct image_store_layer *ret, struct error *err)
{
        int r;

        *ret = (struct image_store_layer)IMAGE_STORE_LAYER_INIT;
        if (lock_pulls(s, err) < 0)
                return -1;
        r = make_pull(s, ret, err);
        flock(s->pulls, LOCK_UN);
        return r;
}

int image_store_take_in_pull(struct image_store *s, struct image_store_layer *l, struct error *err)
{
        uid_t uid;
        gid_t gid;

        privilege_ids(&uid, &gid);
        if ((geteuid() == 0 && fchown(l->place, uid, gid) < 0) || fchmod(l->place, 0755) < 0 ||
                renameat(s->pulls, l->name, s->incoming, l->name) < 0)
                return image_store_failed("a pull", err);
        return 0;
}

void image_store_take_in_left(struct image_store *s)
{
        int fd = lock_pulls(s, NULL) < 0
                         ? -1
                         : openat(s->pulls, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        struct image_store_layer left;

        if (!dir) {
                fd_close(fd);
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                if (open_left(s->pulls, entry->d_name, &left)) {
                        image_store_take_in_pull(s, &left, NULL);
                        close_place(&left);
                }
        closedir(dir);
        flock(s->pulls, LOCK_UN);
}

/* --- records -------------------------------------------------------------------------------- */

int image_store_put_record(struct image_store *s, int part, const char *name,
        const struct buffer *record, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        char new[ULID_SIZE];

        if (record->len > IMAGE_STORE_MAX_FILE)
                return error_set(err, CODE_IMAGE_TOO_LARGE, "its documents are too large");
        if (ulid_new(new, err) < 0)
                return -1;
        fd = openat(s->incoming, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0 && fchmod(fd, 0644) == 0 && fd_write_all(fd, record->data, record->len) == 0 &&
                fsync(fd) == 0 && renameat(s->incoming, new, part, name) == 0 && fsync(part) == 0)
                return 0;
        image_store_failed("a new record", err);
        unlinkat(s->incoming, new, 0);
        return -1;
}

int image_store_remove_record(int part, const char *name, struct error *err)
{
        if (unlinkat(part, name, 0) < 0 && errno != ENOENT)
                return image_store_failed(name, err);
        return fsync(part) < 0 ? image_store_failed(name, err) : 0;
}

bool image_store_has_record(int part, const char *name)
{
        return faccessat(part, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int image_store_get_record(int part, const char *name, struct buffer *ret_record, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(part, name, O_RDONLY | O_NONBLOCK, 0);

        return fd >= 0 && read_all(fd, ret_record) == 0 ? 0 : image_store_failed(name, err);
}

time_t image_store_image_time(const struct image_store *s, const char *id)
{
        struct stat st;

        return fstatat(s->images, id, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtime : 0;
}
