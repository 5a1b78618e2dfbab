/* The key of a store: a file of 64 hexadecimal digits outside of the database, so that who changes
 * the database cannot make its macs. */
#ifndef ASSAY_STORE_KEY_H
#define ASSAY_STORE_KEY_H

#include "store/chain.h"

/* Read it; `make`: where there is none, make one for its owner alone. */
int key_read(struct chain_key *ret, const char *path, bool make, struct error *err);

#endif
