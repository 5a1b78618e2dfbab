/* SHA-256 as text; see digest.h. */
#include "images/digest.h"

#include <stdio.h>

void digest_text(struct sha256_ctx *c, char ret[DIGEST_SIZE])
{
        unsigned char bytes[SHA256_DIGEST_SIZE];

        sha256_digest(c, sizeof bytes, bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}
