/* References to images in registries, as they are written for docker. Pure. */
#ifndef ASSAY_IMAGE_REFERENCE_H
#define ASSAY_IMAGE_REFERENCE_H

#include "image/store.h"

struct reference {
        char name[IMAGE_STORE_NAME_MAX + 1]; /* registry and path: docker.io/library/debian */
        char digest[DIGEST_SIZE];            /* or "" */
        char text[IMAGE_STORE_NAME_MAX + 1]; /* in full: NAME:TAG or NAME@sha256:DIGEST */
};

/* Read `[docker://][REGISTRY/]PATH[:TAG][@sha256:DIGEST]`. What is not told is docker.io, library/
 * and latest; beside a digest a tag says nothing. -1: usage. */
int reference_parse(struct reference *ret, const char *text, struct error *err);
/* The digest at the end of a reference, or NULL. */
const char *reference_digest(const char *text);

#endif
