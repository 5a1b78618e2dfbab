/* The environment of a command in a cell: what every cell has, then what was asked for. Nothing of
 * the caller's. */
#ifndef ASSAY_ENVIRONMENT_H
#define ASSAY_ENVIRONMENT_H

#include "error.h"

/* A new list, NULL at the end, of pointers to texts that stay where they are: what every cell has,
 * then the list `image` (or NULL), then `count` that were `added`; a later NAME=VALUE replaces an
 * earlier one. NULL: no memory. */
const char **environment_make(
        const char *const *image, const char *const *added, unsigned count, struct error *err);
/* The same for submissions, which get no more of it than PATH, HOME and LANG. */
const char **environment_make_plain(
        const char *const *image, const char *const *added, unsigned count, struct error *err);

#endif
