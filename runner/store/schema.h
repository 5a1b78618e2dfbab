/* The tables of a store: their columns, which the two programs share (messages.h), and the
 * statements that make them, an own list for each engine. */
#ifndef ASSAY_STORE_SCHEMA_H
#define ASSAY_STORE_SCHEMA_H

#include "buffer.h"
#include "store/engine.h"
#include "store/messages.h"

struct column {
        const char *name;
        enum value_kind kind;
        bool given; /* by assay */
};

struct table {
        const char *name;
        const struct column *columns;
        unsigned count;
};

extern const struct table store_tables[TABLE_COUNT];

/* "INSERT INTO … VALUES ($1, …)"; "SELECT all columns FROM …", without its end. */
void schema_insert(struct buffer *sql, enum store_table t);
void schema_select(struct buffer *sql, enum store_table t);

enum { SCHEMA_VERSION = 3 };
extern const char *const *const schema_sqlite[SCHEMA_VERSION];
extern const char *const schema_sqlite_queue[], *const schema_sqlite_matches[];
extern const char *const *const schema_postgres[SCHEMA_VERSION];
extern const char *const schema_postgres_queue[], *const schema_postgres_matches[];

/* What all of these make, as the catalogs of PostgreSQL say it: see postgres_check.c. */
struct postgres_object {
        const char *name, *definition;
};
extern const struct postgres_object postgres_objects[];
extern const unsigned postgres_object_count;

#endif
