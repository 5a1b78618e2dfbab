/* Is a layer of the store still what was unpacked? Its tar is rebuilt (rebuild.h) and read as if it
 * was unpacked again, and each name of the directory compared with what it would be made. */
#ifndef ASSAY_IMAGES_VERIFY_H
#define ASSAY_IMAGES_VERIFY_H

#include "images/report.h"

/* Verify the layer `name` below the directory `store`. What a file system makes of a time or an
 * owner is tried in the directory `scratch`, whose owner is who unpacks. Opaque directories go to
 * `report`. That the digest is the right one, the caller finds out. -1: image.corrupt names the
 * first path that differs. */
int layer_verify(int store, const char *name, int scratch, uint64_t max_entries,
        struct report *report, struct layer_outcome *ret, struct error *err);
/* Only write its tar to the file `out`. */
int layer_write_tar(
        int store, const char *name, int out, struct layer_outcome *ret, struct error *err);

#endif
