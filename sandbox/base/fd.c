/* Descriptors; see fd.h. */
#include "fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <unistd.h>

int fd_close(int fd)
{
        int saved = errno;

        if (fd >= 0)
                close(fd);
        errno = saved;
        return -EBADF;
}

int take_fd(int *fd)
{
        int taken = *fd;

        *fd = -EBADF;
        return taken;
}

void fd_closep(int *fd)
{
        *fd = fd_close(*fd);
}

int fd_pipe(int ret_fds[2], struct error *err)
{
        if (pipe2(ret_fds, O_CLOEXEC) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot make a pipe");
        return 0;
}

static void close_one(unsigned fd, bool at_exec)
{
        if (at_exec)
                fcntl((int)fd, F_SETFD, FD_CLOEXEC);
        else
                close((int)fd);
}

/* Through /proc where it is in sight, else one number after the other. */
static int close_by_number(unsigned first, unsigned last, bool at_exec)
{
        DIR *dir = opendir("/proc/self/fd");
        struct rlimit most;

        if (dir) {
                for (struct dirent *entry; (entry = readdir(dir));) {
                        unsigned fd = (unsigned)strtoul(entry->d_name, NULL, 10);

                        if (entry->d_name[0] != '.' && fd >= first && fd <= last &&
                                fd != (unsigned)dirfd(dir))
                                close_one(fd, at_exec);
                }
                closedir(dir);
                return 0;
        }
        if (getrlimit(RLIMIT_NOFILE, &most) < 0)
                return -1;
        for (unsigned fd = first; fd <= last && fd < most.rlim_cur; fd++)
                close_one(fd, at_exec);
        return 0;
}

int fd_close_range(unsigned first, unsigned last, bool at_exec)
{
        if (syscall(SYS_close_range, first, last, at_exec ? CLOSE_RANGE_CLOEXEC : 0) == 0)
                return 0;
        return errno == ENOSYS ? close_by_number(first, last, at_exec) : -1;
}

int fd_socketpair(int ret_fds[2], struct error *err)
{
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_fds) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot make a socket pair");
        return 0;
}

int fd_fill_stdio(struct error *err)
{
        for (;;) {
                int fd = open("/dev/null", O_RDWR);
                if (fd < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot open /dev/null");
                if (fd > 2) {
                        close(fd);
                        return 0;
                }
        }
}

int fd_write_all(int fd, const void *data, size_t len)
{
        const char *p = data;

        while (len > 0) {
                ssize_t n = write(fd, p, len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -1;
                p += n;
                len -= (size_t)n;
        }
        return 0;
}

int fd_read_all(int fd, struct buffer *out, size_t max, enum code code, struct error *err)
{
        size_t start = out->len;

        for (;;) {
                size_t room = max - (out->len - start);
                size_t had = out->len - start, step = had < 4096 ? 4096 : had > 65536 ? 65536 : had;
                unsigned char *at;
                ssize_t n;

                step = room < step ? room + 1 : step;
                at = buffer_reserve(out, step);

                if (!at)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                n = read(fd, at, step);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot read");
                if (n == 0)
                        return 0;
                if ((size_t)n > room)
                        return error_set(err, code, "larger than %zu bytes", max);
                buffer_advance(out, (size_t)n);
        }
}

static int compare(const void *left, const void *right)
{
        const int *a = left, *b = right;

        return *a < *b ? -1 : *a > *b;
}

void fd_keep_only(int *fds, unsigned count)
{
        unsigned next = 0;

        qsort(fds, count, sizeof *fds, compare);
        for (unsigned i = 0; i < count; i++) {
                if (fds[i] < 0 || (unsigned)fds[i] < next)
                        continue;
                if ((unsigned)fds[i] > next)
                        fd_close_range(next, (unsigned)fds[i] - 1, false);
                next = (unsigned)fds[i] + 1;
        }
        fd_close_range(next, UINT_MAX, false);
}
