/* Names that nobody else makes, and that sort by when they were made. */
#ifndef ASSAY_ULID_H
#define ASSAY_ULID_H

#include "error.h"

#include <stdbool.h>

enum { ULID_SIZE = 27 };

/* A new ULID: 48 bits of milliseconds, 80 random bits, in Crockford's base 32. */
int ulid_new(char ret[ULID_SIZE], struct error *err);
bool ulid_is(const char *name);

#endif
