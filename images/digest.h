/* SHA-256 as text. */
#ifndef ASSAY_IMAGES_DIGEST_H
#define ASSAY_IMAGES_DIGEST_H

#include <nettle/sha2.h>

enum { DIGEST_SIZE = 2 * SHA256_DIGEST_SIZE + 1 };

/* What `c` has seen, as 64 hexadecimal digits; it begins anew. */
void digest_text(struct sha256_ctx *c, char ret[DIGEST_SIZE]);

#endif
