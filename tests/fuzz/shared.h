/* What fuzz targets share. */
#ifndef ASSAY_FUZZ_SHARED_H
#define ASSAY_FUZZ_SHARED_H

#include "fd.h"
#include "tests/programs/tar_text.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What must hold whatever the bytes are. */
static inline void must(bool hold)
{
        if (!hold)
                abort();
}

/* The caller closes it. */
static inline int fuzz_file(const void *data, size_t len)
{
        int fd = memfd_create("input", MFD_CLOEXEC);

        must(fd >= 0 && fd_write_all(fd, data, len) == 0);
        return fd;
}

/* The same of a tar archive, with right sums in its headers: chance never finds them. */
static inline int fuzz_tar_file(const uint8_t *data, size_t len)
{
        enum { BLOCK = 512, SUM_AT = 148, SUM_SIZE = 8, MAGIC_AT = 257 };
        int fd = fuzz_file("", 0);

        for (size_t at = 0; at < len; at += BLOCK) {
                char block[BLOCK] = {0};
                size_t here = len - at < BLOCK ? len - at : BLOCK;
                unsigned sum = 0;

                memcpy(block, data + at, here);
                if (memcmp(block + MAGIC_AT, "ustar", 5) == 0) {
                        memset(block + SUM_AT, ' ', SUM_SIZE);
                        for (size_t i = 0; i < BLOCK; i++)
                                sum += (unsigned char)block[i];
                        snprintf(block + SUM_AT, SUM_SIZE, "%06o", sum);
                }
                must(fd_write_all(fd, block, here) == 0);
        }
        return fd;
}

/* The same of what `write` puts to standard output. */
static inline int fuzz_output(
        void (*write)(const uint8_t *data, size_t len), const uint8_t *data, size_t len)
{
        FILE *usual = stdout;
        char *text = NULL;
        size_t size = 0;
        int fd;

        stdout = open_memstream(&text, &size);
        must(stdout);
        write(data, len);
        fclose(stdout);
        stdout = usual;
        fd = fuzz_file(text, size);
        free(text);
        return fd;
}

/* A new directory below TMPDIR, which tests/fuzz/run removes. */
static inline int fuzz_directory(void)
{
        const char *where = getenv("TMPDIR");
        char path[200];
        int fd;

        snprintf(path, sizeof path, "%s/fuzz.XXXXXX", where ? where : "/tmp");
        must(mkdtemp(path));
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(fd >= 0);
        return fd;
}

/* A file of `len` bytes, in the place of what had its name. */
static inline void fuzz_write(int dir, const char *path, const void *data, size_t len)
{
        _cleanup_fd_ int fd =
                openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

        must(fd >= 0 && fd_write_all(fd, data, len) == 0);
}

/* The text before the next NUL of the input; without one, all the rest. Up to `size` - 1 bytes of
 * it are copied to `ret`. */
static inline size_t fuzz_text(const uint8_t **data, size_t *left, char *ret, size_t size)
{
        size_t len = strnlen((const char *)*data, *left), used = len < size ? len : size - 1;

        memcpy(ret, *data, used);
        ret[used] = '\0';
        len += len < *left;
        *data += len;
        *left -= len;
        return used;
}

#endif
