/* The members of a file with container images, by name: a directory, or a tar file that is not
 * compressed, which is the same packed. */
#ifndef ASSAY_IMAGES_BUNDLE_H
#define ASSAY_IMAGES_BUNDLE_H

#include "error.h"

#include <errno.h>
#include <stdint.h>

enum { BUNDLE_MAX_MEMBERS = 100000 };

struct bundle {
        int fd; /* borrowed */
        bool is_directory;
        void *members; /* of a tar file; of tsearch() */
        size_t names;  /* their bytes */
};

/* Where the content of a member stands. */
struct place {
        int fd;     /* to read it from: the bundle's own, or `opened` */
        int opened; /* owned; -EBADF in a tar file */
        uint64_t offset, length;
};

/* Know the members of the directory or regular file `fd`. -1: image.unsupported when it is
 * neither a directory nor a plain tar file (the text names what it is compressed with),
 * image.invalid when it is damaged, cut off, or has a name twice. */
int bundle_open(struct bundle *b, int fd, struct error *err);
void bundle_close(struct bundle *b);
#define _cleanup_bundle_ __attribute__((cleanup(bundle_close)))

/* Find the regular file `name` (relative, in normal form): 1, or 0 when there is none, or -1.
 * Links of a tar file are followed inside it; in a directory a link is refused. `ret` is to be
 * closed after 1. */
int bundle_find(const struct bundle *b, const char *name, struct place *ret, struct error *err);
void place_close(struct place *p);
#define PLACE_INIT                                                                                 \
        {                                                                                          \
                .fd = -EBADF, .opened = -EBADF                                                     \
        }
#define _cleanup_place_ __attribute__((cleanup(place_close)))

#endif
