/* Does a zip archive agree with itself? */
#ifndef ASSAY_IMAGES_ZIP_DIRECTORY_H
#define ASSAY_IMAGES_ZIP_DIRECTORY_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the archive ends in its file, and how much stands behind its comment. */
struct zip_end {
        uint64_t end, left;
};

/* Does the file end as a zip archive does? */
bool zip_directory_is_there(int fd);

/* Compare the directory at the end of the zip file `fd` with the header before each entry: the
 * same names, without NUL or backslash, no special file, no folder with content, as many entries as
 * it says, and no byte of the file in two of them. -1: archive.damaged, archive.unsafe_path,
 * archive.special_file. */
int zip_directory_check(int fd, struct zip_end *ret, struct error *err);

#endif
