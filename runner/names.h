/* The names of what is in a directory. */
#ifndef ASSAY_NAMES_H
#define ASSAY_NAMES_H

#include "error.h"

/* All but "." and "..", in the order of their bytes: a new list of new texts, NULL at the end. NULL
 * with `err`, whose code is `code` when the directory cannot be listed. */
char **names_in(int directory, enum code code, struct error *err);
void names_free(char **names);

#endif
