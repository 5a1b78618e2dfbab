/* Writing a tar archive: what a mask is made of, and what an export puts its files into. */
#ifndef ASSAY_IMAGES_TAR_WRITE_H
#define ASSAY_IMAGES_TAR_WRITE_H

#include "buffer.h"
#include "error.h"

#include <sys/stat.h>

struct tar_writer {
        int fd;
        struct buffer pending;
};

/* An entry: kind, permissions, owner and time (in seconds) are those of `st`. */
int tar_write_entry(
        struct tar_writer *w, const char *path, const struct stat *st, struct error *err);
/* The same of a symbolic link. */
int tar_write_link(struct tar_writer *w, const char *path, const char *target,
        const struct stat *st, struct error *err);
/* A file of so many bytes, which must follow, in any number of pieces. */
int tar_write_file(struct tar_writer *w, const char *path, uint64_t size, struct error *err);
/* The same with the permissions, owner and time of `st`. */
int tar_write_file_of(struct tar_writer *w, const char *path, uint64_t size, const struct stat *st,
        struct error *err);
int tar_write_bytes(struct tar_writer *w, const void *bytes, size_t len, struct error *err);
/* Behind them. */
int tar_write_padding(struct tar_writer *w, uint64_t size, struct error *err);
/* The end mark. */
int tar_write_end(struct tar_writer *w, struct error *err);

#endif
