/* The kinds of source that libarchive reads, in parts: how each gets its bytes (source_tar.c,
 * source_zip.c), and what the submitter is told when one is not as it should be (source_failure.c).
 * For source.c. */
#ifndef ASSAY_IMAGES_SOURCE_ARCHIVE_H
#define ASSAY_IMAGES_SOURCE_ARCHIVE_H

#include "images/source.h"

/* With s->archive there and empty. */
int source_open_tar(struct source *s, struct error *err);
int source_open_zip(struct source *s, struct error *err);
/* After the last entry: look at what stands behind. */
int source_finish_tar(struct source *s, struct error *err);

/* -1, with why the library gave up, in our terms. */
int source_failure(struct source *s, struct error *err);
/* -1, with what the file is instead of an archive that we take. */
int source_refuse_unknown(struct source *s, struct error *err);
/* The file begins with zeros, like an empty tar, but is the image of a disk. */
bool source_is_disk_image(const struct source *s);

#endif
