/* The regular files of a tree that somebody else wrote: their paths, never their content. */
#ifndef ASSAY_FILES_H
#define ASSAY_FILES_H

#include "error.h"

#include <stdbool.h>

struct files {
        char **paths; /* in no order */
        unsigned count;
        bool cut; /* there are more, or a folder could not be listed */
};

/* All below `root`, at most `most`, each path behind `prefix` and a slash (behind nothing where
 * that is
 * ""). No link is followed. -1: no memory. To be freed in any case. */
int files_below(int root, const char *prefix, unsigned most, struct files *ret, struct error *err);
void files_free(struct files *f);

#endif
