/* Rows of a store as they come, and as columns of a document. */
#ifndef ASSAY_STORE_VALUES_H
#define ASSAY_STORE_VALUES_H

#include "report/json.h"
#include "store_channel.h"

enum { STORE_MAX_VALUES = 32 };

enum store_value_kind { STORE_NULL, STORE_INTEGER, STORE_STRING };

struct store_values {
        unsigned count;
        struct store_value {
                enum store_value_kind kind;
                int64_t number;
                char *text; /* "" where it is none */
        } values[STORE_MAX_VALUES];
};

/* The next row of an answer, of that many columns. 1: it is there, to be freed; 0: there are no
 * more. */
int store_values_next(
        struct store_channel *c, unsigned count, struct store_values *ret, struct error *err);
/* The only row of an answer. 0, or -1. */
int store_values_only(
        struct store_channel *c, unsigned count, struct store_values *ret, struct error *err);
void store_values_free(struct store_values *v);

/* How a column is shown. */
enum store_show { SHOW_AS_IT_IS, SHOW_DECIMAL, SHOW_BOOLEAN };
struct store_column {
        unsigned column;
        const char *key;
        enum store_show how;
};
/* Members of the object that is open. */
void store_values_json(const struct store_values *v, const struct store_column *columns,
        size_t count, struct json_writer *w);
/* One of them as text; "" for NULL. */
const char *store_value_text(const struct store_values *v, unsigned column, char out[32]);

#endif
