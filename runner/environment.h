/* The environment of a command in a cell: what every cell has, then what was asked for. Nothing of
 * the caller's. */
#ifndef ASSAY_ENVIRONMENT_H
#define ASSAY_ENVIRONMENT_H

enum { ENVIRONMENT_STANDARD = 6 };

/* Fill `ret_env` (of count + ENVIRONMENT_STANDARD + 1 places, NULL at the end) with pointers; a
 * later NAME=VALUE replaces an earlier one. */
void environment_fill(const char *const *added, unsigned count, const char **ret_env);

#endif
