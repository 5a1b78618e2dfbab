/* Bringing an image from a registry into the store. */
#ifndef ASSAY_IMAGE_PULL_H
#define ASSAY_IMAGE_PULL_H

#include "image/load.h"

struct pull_options {
        const char *name;       /* a further name, or NULL */
        const char *tls_verify; /* "true", "false", or NULL for what skopeo is set up to */
        bool quiet;
};

/* Fetch the image that `reference` means and load it. What a registry may ask for (credentials,
 * certificates, policies) skopeo knows: it is run with the caller's rights and environment. */
int image_pull(const char *reference, const struct pull_options *o,
        const struct load_listener *listener, struct error *err);
/* The same of each name (NULL at the end) that this machine does not have, by processes of their
 * own: this one keeps its rights. */
int image_pull_missing(char *const *names, struct error *err);

#endif
