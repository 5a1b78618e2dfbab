/* The names in a directory, by the few system calls that assay-unpack has left. */
#ifndef ASSAY_IMAGES_LISTING_H
#define ASSAY_IMAGES_LISTING_H

#include <dirent.h>
#include <stdbool.h>

struct listing {
        int dir; /* borrowed, open for reading */
        long at, end;
        bool failed; /* with errno */
        _Alignas(struct dirent64) char some[32 << 10];
};

/* Go on reading where the descriptor stands. */
void listing_begin(struct listing *l, int dir);
/* The next name, without . and ..; valid until the next call. NULL at the end, or when it failed.
 */
const struct dirent64 *listing_next(struct listing *l);

#endif
