/* Writing a tar archive of directories and empty files: what a mask is made of. */
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
/* The end mark. */
int tar_write_end(struct tar_writer *w, struct error *err);

#endif
