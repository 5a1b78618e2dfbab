/* Patterns of paths: `*` is any run of characters of one name, `?` one of them, a name `**` any
 * number of folders, also none. Pure. */
#ifndef ASSAY_GLOB_H
#define ASSAY_GLOB_H

#include <stdbool.h>

enum { GLOB_MAX_NAMES = 63 }; /* in a pattern */

bool glob_match(const char *pattern, const char *path);

#endif
