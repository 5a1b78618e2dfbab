/* Does a zip archive agree with itself? */
#ifndef ASSAY_IMAGES_ZIP_DIRECTORY_H
#define ASSAY_IMAGES_ZIP_DIRECTORY_H

#include "error.h"

/* Compare the directory at the end of the zip file `fd` with the header before each entry: the
 * same name, without NUL, and no byte of the file in two entries. -1: archive.damaged,
 * archive.unsafe_path. */
int zip_directory_check(int fd, struct error *err);

#endif
