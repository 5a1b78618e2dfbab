/* Files that the caller names; see input.h. */
#include "input.h"

#include "fd.h"
#include "interrupt.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(const char *path)
{
        if (strcmp(path, "-") == 0)
                return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int input_open_file(const char *path)
{
        int fd = input_open(path);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
                return fd;
        fd_close(fd);
        errno = EISDIR;
        return -1;
}

/* What can be read now, when there is something: 0 at the end. */
static ssize_t read_some(int fd, char *chunk, size_t size, struct error *err)
{
        for (;;) {
                struct pollfd ready = {.fd = fd, .events = POLLIN};
                ssize_t n;

                interrupt_poll(&ready, 1, -1);
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                n = read(fd, chunk, size);
                if (n >= 0)
                        return n;
                if (errno != EINTR && errno != EAGAIN)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot read");
        }
}

/* Put what comes from *fd into `copy`, which takes its place. */
static int copy_to(int *fd, int copy, uint64_t max, uint64_t *ret_bytes, struct error *err)
{
        char chunk[65536];
        uint64_t total = 0;
        ssize_t n = 1;

        while (n > 0 && total <= max) {
                n = read_some(*fd, chunk, sizeof chunk, err);
                if (n < 0)
                        return -1;
                total += (uint64_t)n;
                if (fd_write_all(copy, chunk, (size_t)n) < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot keep a copy of it");
        }
        if (lseek(copy, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot rewind");
        fd_close(*fd);
        *fd = copy;
        *ret_bytes = total;
        return 0;
}

static int copy_to_memory(int *fd, uint64_t max, uint64_t *ret_bytes, struct error *err)
{
        int copy = memfd_create("input", MFD_CLOEXEC);

        if (copy < 0)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot keep it in memory");
        if (copy_to(fd, copy, max, ret_bytes, err) == 0)
                return 0;
        fd_close(copy);
        return -1;
}

int input_keep(int *fd, int dir, struct error *err)
{
        uint64_t bytes;
        struct stat st;
        int copy;

        if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
                return 0;
        copy = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (copy < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "cannot keep a copy of it");
        if (copy_to(fd, copy, UINT64_MAX, &bytes, err) == 0)
                return 0;
        fd_close(copy);
        return -1;
}

int input_settle(int *fd, uint64_t max, uint64_t *ret_bytes, struct error *err)
{
        struct stat st;

        if (fstat(*fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot measure it");
        if (!S_ISREG(st.st_mode) || lseek(*fd, 0, SEEK_SET) < 0)
                return copy_to_memory(fd, max, ret_bytes, err);
        *ret_bytes = (uint64_t)st.st_size;
        return 0;
}

int input_digest(int fd, uint64_t *ret_bytes, char ret[DIGEST_SIZE], struct error *err)
{
        enum { CHUNK = 1 << 18 };
        unsigned char *chunk = malloc(CHUNK);
        struct sha256_ctx seen;
        uint64_t at = 0;
        ssize_t n = -1;

        if (!chunk)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        sha256_init(&seen);
        while ((n = pread(fd, chunk, CHUNK, (off_t)at)) > 0) {
                sha256_update(&seen, (size_t)n, chunk);
                at += (uint64_t)n;
        }
        free(chunk);
        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read");
        digest_text(&seen, ret);
        *ret_bytes = at;
        return 0;
}
