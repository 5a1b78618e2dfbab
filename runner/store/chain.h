/* What makes a row that was changed behind our back visible: each result of a submission has an
 * HMAC over the one before it and over all of its own rows. Pure. */
#ifndef ASSAY_STORE_CHAIN_H
#define ASSAY_STORE_CHAIN_H

#include "buffer.h"
#include "images/digest.h"
#include "store/schema.h"

#include <nettle/hmac.h>

enum { CHAIN_KEY_SIZE = 32 };

struct chain_key {
        unsigned char bytes[CHAIN_KEY_SIZE];
};

/* One row in the form that is authenticated: the table's name, then name and value of each column
 * that is not NULL, but not the mac itself. Columns that a later version adds are NULL in rows of
 * before, so their form stays the same. */
void chain_add_row(struct buffer *b, enum store_table t, const struct value *row);
/* The mac of a result: of the one of before ("": it is the first) and of its rows. */
void chain_mac(const struct chain_key *key, const char *before, const struct buffer *rows,
        char ret[DIGEST_SIZE]);
/* The same for anything else; `purpose` keeps one use from being taken for another. */
void chain_mac_text(
        const struct chain_key *key, const char *purpose, const char *text, char ret[DIGEST_SIZE]);
/* The digest of a rubric: of its criteria's rows. */
void chain_digest(const struct buffer *rows, char ret[DIGEST_SIZE]);

/* Over all results in order: what is kept elsewhere to notice that the last ones were removed. */
struct chain_head {
        struct hmac_sha256_ctx hmac;
        uint64_t count;
};
void chain_head_begin(struct chain_head *h, const struct chain_key *key);
void chain_head_add(struct chain_head *h, const char *mac);
/* As text: how many, and a mac over them; what was added stays. */
void chain_head_text(const struct chain_head *h, char ret[STORE_HEAD_SIZE]);

#endif
