/* Opening beneath a directory; rules in beneath.h. */
#include "beneath.h"

#include "fd.h"

#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool component_is(const char *at, size_t len, const char *what)
{
        return strlen(what) == len && memcmp(at, what, len) == 0;
}

static int walk(int dir, const char *path, int flags, mode_t mode, bool other_mounts)
{
        _cleanup_fd_ int here = -EBADF;
        int at = dir;
        struct stat root, st;
        char name[NAME_MAX + 1];

        if (fstat(dir, &root) < 0)
                return -1;
        if (*path == '/' || *path == '\0') {
                errno = *path ? EXDEV : ENOENT;
                return -1;
        }
        for (;;) {
                size_t len = strcspn(path, "/");
                const char *rest = path + len + strspn(path + len, "/");
                bool last = *rest == '\0';
                int fd;

                if (len > NAME_MAX) {
                        errno = ENAMETOOLONG;
                        return -1;
                }
                if (component_is(path, len, "..")) {
                        errno = EXDEV;
                        return -1;
                }
                memcpy(name, path, len);
                name[len] = '\0';
                fd = openat(at, name,
                        (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                        last ? mode : 0);
                if (fd < 0)
                        return -1;
                here = fd_close(here);
                if (fstat(fd, &st) < 0)
                        st = (struct stat){0};
                if ((st.st_dev != root.st_dev && !other_mounts) || S_ISLNK(st.st_mode)) {
                        fd_close(fd);
                        errno = S_ISLNK(st.st_mode) ? ELOOP : EXDEV;
                        return -1;
                }
                if (last)
                        return fd;
                here = at = fd;
                path = rest;
        }
}

static int open_beneath(int dir, const char *path, int flags, mode_t mode, bool other_mounts)
{
        struct open_how how = {
                .flags = (unsigned)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY)),
                .mode = flags & O_CREAT ? mode : 0,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                           (other_mounts ? 0 : RESOLVE_NO_XDEV),
        };
        long fd;

        do
                fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
        while (fd < 0 && (errno == EAGAIN || errno == EINTR));
        if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* EPERM: a container's old filter */
                return walk(dir, path, flags, mode, other_mounts);
        return (int)fd;
}

int beneath_open(int dir, const char *path, int flags, mode_t mode)
{
        return open_beneath(dir, path, flags, mode, false);
}

int beneath_enter(int dir, const char *path)
{
        return open_beneath(dir, path, O_PATH, 0, true);
}

int beneath_open_by_walk(int dir, const char *path, int flags, mode_t mode)
{
        return walk(dir, path, flags, mode, false);
}

bool beneath_is_place(const char *place)
{
        if (*place != '/')
                return false;
        while (*place) {
                size_t len = strcspn(++place, "/");

                if (len == 0 || (len == 1 && place[0] == '.') ||
                        (len == 2 && place[0] == '.' && place[1] == '.'))
                        return false;
                place += len;
        }
        return true;
}
