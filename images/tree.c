/* Writing below the directory to fill; see tree.h. */
#include "images/tree.h"

#include "beneath.h"
#include "fd.h"

#include <sys/stat.h>
#include <unistd.h>

void tree_close(struct tree *t)
{
        t->folder = fd_close(t->folder);
}

/* Names were judged before and bytes are counted: all but a name that this file system finds too
 * long is the machine's fault, a full disk and the caller's own limits among it. */
static int failure(const char *path, struct error *err)
{
        return error_errno(err, errno == ENAMETOOLONG ? CODE_ARCHIVE_BAD_NAME : CODE_INFRA_IO,
                errno, "%.300s: cannot be written", path);
}

/* The folder that holds `path`, from the cache where it is the same as last time. */
static int enter(struct tree *t, const char *path, const char **ret_name, struct error *err)
{
        const char *slash = strrchr(path, '/');
        size_t len = slash ? (size_t)(slash - path) : 0;
        char *cached = t->folder_path.text;

        *ret_name = slash ? slash + 1 : path;
        if (!slash)
                return t->root;
        if (t->folder >= 0 && strncmp(cached, path, len) == 0 && cached[len] == '\0')
                return t->folder;
        t->folder = fd_close(t->folder);
        memcpy(cached, path, len);
        cached[len] = '\0';
        t->folder = beneath_open(t->root, cached, O_RDONLY | O_DIRECTORY, 0);
        return t->folder >= 0 ? t->folder : failure(path, err);
}

int tree_make_folder(struct tree *t, const char *path, mode_t mode, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return mkdirat(folder, name, mode) == 0 ? 0 : failure(path, err);
}

int tree_make_folders(
        struct tree *t, const char *path, size_t known, bool itself, struct error *err)
{
        size_t end = strlen(path);
        struct path part;

        for (size_t i = known + 1; i <= end; i++) {
                if (path[i] != '/' && !(itself && i == end))
                        continue;
                memcpy(part.text, path, i);
                part.text[i] = '\0';
                if (tree_make_folder(t, part.text, 0755, err) < 0)
                        return -1;
        }
        return 0;
}

int tree_make_file(struct tree *t, const char *path, mode_t mode, struct error *err)
{
        const char *name;
        int fd, folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        fd = beneath_open(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        return fd >= 0 ? fd : failure(path, err);
}

int tree_make_symlink(struct tree *t, const char *path, const char *target, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return symlinkat(target, folder, name) == 0 ? 0 : failure(path, err);
}

int tree_open_file(struct tree *t, const char *path, struct error *err)
{
        int fd = beneath_open(t->root, path, O_RDONLY | O_NOFOLLOW, 0);

        if (fd < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s: cannot be opened", path);
        return fd;
}

int tree_remove(struct tree *t, const char *path, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return unlinkat(folder, name, 0) == 0 ? 0 : failure(path, err);
}

int tree_make_link(struct tree *t, const char *source, const char *path, struct error *err)
{
        const char *slash = strrchr(source, '/'), *name;
        _cleanup_fd_ int other = -EBADF;
        struct path from;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        if (slash) {
                memcpy(from.text, source, (size_t)(slash - source));
                from.text[slash - source] = '\0';
                other = beneath_open(t->root, from.text, O_PATH | O_DIRECTORY, 0);
                if (other < 0)
                        return failure(source, err);
        }
        if (linkat(slash ? other : t->root, slash ? slash + 1 : source, folder, name, 0) < 0)
                return failure(path, err);
        return 0;
}

/* The mode of its own call, since only the kind is among our rights there. */
int tree_make_pipe(struct tree *t, const char *path, mode_t mode, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        if (mknodat(folder, name, S_IFIFO, 0) < 0)
                return failure(path, err);
        return tree_set_mode(t, path, mode, err);
}

int tree_make_whiteout(struct tree *t, const char *path, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return mknodat(folder, name, S_IFCHR, 0) == 0 ? 0 : failure(path, err);
}

int tree_set_mode(struct tree *t, const char *path, mode_t mode, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return fchmodat(folder, name, mode, 0) == 0 ? 0 : failure(path, err);
}

int tree_set_time(struct tree *t, const char *path, const struct timespec *mtime, struct error *err)
{
        const struct timespec times[2] = {*mtime, *mtime};
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        return utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : failure(path, err);
}

int tree_set_owner(struct tree *t, const char *path, uid_t uid, gid_t gid, struct error *err)
{
        const char *name;
        int folder = enter(t, path, &name, err);

        if (folder < 0)
                return -1;
        if (fchownat(folder, name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0)
                return 1;
        return errno == EINVAL || errno == EPERM ? 0 : failure(path, err);
}

int tree_write(
        int fd, const void *data, size_t len, uint64_t offset, const char *path, struct error *err)
{
        const char *at = data;

        while (len > 0) {
                ssize_t n = pwrite(fd, at, len, (off_t)offset);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return failure(path, err);
                at += n;
                len -= (size_t)n;
                offset += (uint64_t)n;
        }
        return 0;
}
