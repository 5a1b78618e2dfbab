/* What a tar archive says of an entry beside its content, as far as layers of images keep it. */
#ifndef ASSAY_IMAGES_ATTRIBUTES_H
#define ASSAY_IMAGES_ATTRIBUTES_H

#include <archive_entry.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct attributes {
        mode_t mode; /* permissions and the sticky bit; never set-id */
        uid_t uid;
        gid_t gid;
        struct timespec mtime;
};

void attributes_read(struct archive_entry *e, struct attributes *ret);

/* It has extended attributes that are kept: those of users, but for what an overlay file system
 * would read as its own. */
bool attributes_any(struct archive_entry *e);
/* Give them to the file `fd`; what its file system did not take is counted. */
void attributes_keep(struct archive_entry *e, int fd, uint64_t *lost);

#endif
