/* Writing an image as a file that it can be loaded from, here and elsewhere. */
#ifndef ASSAY_IMAGE_EXPORT_H
#define ASSAY_IMAGE_EXPORT_H

#include "error.h"

#include <stdbool.h>

/* Write the image `reference` with all its names to `file` as an OCI archive ("-": standard
 * output). The configuration is the one that was loaded, so the id stays; layers are not
 * compressed. What is there is replaced only with `force`. Root is given up meanwhile. */
int export_image(const char *reference, const char *file, bool force, struct error *err);

#endif
