/* Does a zip archive agree with itself? */
#ifndef ASSAY_IMAGES_ZIP_DIRECTORY_H
#define ASSAY_IMAGES_ZIP_DIRECTORY_H

#include "error.h"

#include <stdbool.h>

/* Does the file end as a zip archive does? */
bool zip_directory_is_there(int fd);

/* Compare the directory at the end of the zip file `fd` with the header before each entry: the
 * same names, without NUL or backslash, no special file, and no byte of the file in two entries.
 * -1: archive.damaged, archive.unsafe_path, archive.special_file. */
int zip_directory_check(int fd, struct error *err);

#endif
