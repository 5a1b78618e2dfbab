/* Descriptors; see fd.h. */
#include "fd.h"

#include <fcntl.h>
#include <sys/socket.h>
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
