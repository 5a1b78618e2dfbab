/* Looking for files by what is in them, and telling what is in files: for what a submission must
 * not see. */
#ifndef ASSAY_IMAGES_SEARCH_H
#define ASSAY_IMAGES_SEARCH_H

#include "images/merged.h"
#include "images/report.h"

struct wanted {
        uint64_t size;
        uint32_t number;
        char digest[DIGEST_SIZE];
};

enum { SEARCH_MOST_FOUND = 1000 }; /* then it ends */

/* Tell `report` each file of the tree that has the content of one that is wanted. The list is
 * sorted. */
int search_tree(const struct merged *m, struct wanted *list, size_t count, struct report *report,
        struct error *err);

/* Tell `report` the path, size and digest of each file in the directory `root`, which may hold up
 * to `max` names. */
int search_files(int root, uint64_t max, struct report *report, struct error *err);

#endif
