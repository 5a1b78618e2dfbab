/* What a tar archive says of an entry beside its content, as far as layers of images keep it. */
#ifndef ASSAY_IMAGES_ATTRIBUTES_H
#define ASSAY_IMAGES_ATTRIBUTES_H

#include <archive_entry.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Permissions and the sticky bit; never set-id. */
mode_t attributes_mode(struct archive_entry *e);
struct timespec attributes_mtime(struct archive_entry *e);

/* It has extended attributes that are kept: those of users, but for what an overlay file system
 * would read as its own. */
bool attributes_any(struct archive_entry *e);
/* Give them to the file `fd`; what its file system did not take is counted. */
void attributes_keep(struct archive_entry *e, int fd, uint64_t *lost);

#endif
