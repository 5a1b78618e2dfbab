/* From an archive to a tree. */
#ifndef ASSAY_IMAGES_UNPACK_H
#define ASSAY_IMAGES_UNPACK_H

#include "images/inspect.h"
#include "images/report.h"

struct request {
        bool built; /* by a build, of a submission that was judged before */
        uint64_t max_entries;
        uint64_t max_unpacked;
        bool strip_common_root;
        bool links_drop;
        struct required *required; /* owned */
        uint32_t required_count;
        struct pattern *patterns; /* owned */
        uint32_t pattern_count;
};

/* Unpack the archive `fd` below the directory `root` and look at what came out. Warnings go to
 * `report`. -1: the submission is rejected (or we failed); the tree may be there in part. */
int unpack(int fd, int root, const struct request *request, struct report *report,
        struct outcome *ret, struct error *err);

#endif
