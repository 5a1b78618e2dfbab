/* The result that a new revision takes the place of; it stays as it is. */
#ifndef ASSAY_STORE_SUPERSEDED_H
#define ASSAY_STORE_SUPERSEDED_H

#include "store/store.h"

/* What was decided before the score came, and so is the same in the new row. */
struct superseded {
        struct value values[STORED_COLUMNS];
        struct buffer texts[STORED_COLUMNS]; /* of these values */
};

/* Within the transaction that appends the new one. -1: result.final, where it waits for no score
 * or was superseded already. To be freed in any case. */
int superseded_find(struct superseded *ret, struct store *s, const char *id, struct error *err);
/* Put what stays the same into the new row, whatever was there. */
void superseded_keep(const struct superseded *s, struct value *row);
void superseded_free(struct superseded *s);

#endif
