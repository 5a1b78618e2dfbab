/* What a file with container images says: an OCI layout (a directory, or packed as an OCI archive),
 * a docker-archive, or a `dir:` of skopeo. Layers are not read, only found. To the last `assay
 * image pull` adds reference.json: the document, manifest or index, that its reference meant. */
#ifndef ASSAY_IMAGES_IMAGE_H
#define ASSAY_IMAGES_IMAGE_H

#include "images/image_json.h"
#include "images/report.h"

struct image_request {
        char architecture[32];
        char wanted[IMAGE_MAX_NAME + 1]; /* a name, or empty for all */
};

/* Tell `report` every image of the directory or file `fd` that is for Linux on this architecture,
 * and has the name wanted; `ret_count` is how many there were, at least one. */
int image_read(int fd, const struct image_request *request, struct report *report,
        uint32_t *ret_count, struct error *err);

#endif
