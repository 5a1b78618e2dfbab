/* The members of a tar file that is not compressed: where the content of each stands, without
 * reading it. For files of tools (container images), whose members must be found again by offset;
 * submissions are read by source.h. Stricter than other readers: what two of them could
 * understand differently is refused. */
#ifndef ASSAY_IMAGES_TAR_WALK_H
#define ASSAY_IMAGES_TAR_WALK_H

#include "buffer.h"
#include "images/name.h"

enum { TAR_BLOCK = 512 };

enum tar_kind { TAR_FILE, TAR_DIRECTORY, TAR_SYMLINK, TAR_HARDLINK };

struct tar_member {
        enum tar_kind kind;
        struct path name; /* empty only for the directory that holds everything */
        char target[UNPACK_MAX_PATH + 1];
        uint64_t offset, length; /* of a file's content */
};

struct tar_walk {
        int fd; /* borrowed */
        uint64_t at, end;
        uint64_t headers, max_headers;
        struct buffer name, target; /* for the next member, where an extension told them */
        uint64_t size;
        bool has_size, extended;
};

/* A block of 512 bytes has the sum that every tar header has. */
bool tar_sum_is_right(const unsigned char *block);

/* Walk the regular file `fd`, which may have at most `max` members. */
int tar_walk_open(struct tar_walk *w, int fd, uint64_t max, struct error *err);
void tar_walk_close(struct tar_walk *w);
#define _cleanup_tar_walk_ __attribute__((cleanup(tar_walk_close)))

/* The next member. 1, or 0 at the end mark, or -1 with image.invalid (also where the file ends
 * without the mark) or image.unsupported. */
int tar_walk_next(struct tar_walk *w, struct tar_member *ret, struct error *err);

#endif
