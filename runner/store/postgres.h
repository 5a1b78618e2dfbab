/* PostgreSQL as a store's engine: connections, statements, transactions, and whether everything is
 * as the migrations (schema_postgres.c) made it; a file for each. */
#ifndef ASSAY_STORE_POSTGRES_H
#define ASSAY_STORE_POSTGRES_H

#include "store/libpq.h"
#include "store/schema.h"

/* Where a session looks for names, after PostgreSQL's own; what it has of its own comes last. */
#define POSTGRES_PATH "assay, pg_temp"

struct database {
        PGconn *handle;
        enum store_mode mode;
        int watch;        /* an epoll of the connection and of `told`; -EBADF: nobody has asked */
        int told;         /* an eventfd: what was heard while a statement ran */
        unsigned cursors; /* that are open */
        bool busy;        /* rows of an answer are still to come */
        bool lost;        /* no more use: as PostgreSQL said, or since nobody waits any more */
};

/* --- postgres_connect.c --------------------------------------------------------------------- */

/* As in struct engine. */
int postgres_open(struct database **ret, const char *url, enum store_mode mode, struct error *err);
void postgres_close(struct database *d);
int postgres_connect_again(struct database *d, struct error *err);
void postgres_label(const char *url, char *ret, size_t size);
/* What the library says of the connection. Returns -1. */
int postgres_failed(const struct database *d, const char *what, struct error *err);

/* --- postgres_statement.c ------------------------------------------------------------------- */

/* As in struct engine. */
int postgres_run(struct database *d, const char *sql, const struct value *values, unsigned count,
        take_row take, void *to, struct error *err);
int postgres_each(struct database *d, const char *sql, const struct value *values, unsigned count,
        take_row take, void *to, struct error *err);
int postgres_commit(struct database *d, struct error *err);

/* --- postgres.c ----------------------------------------------------------------------------- */

/* Hear of what is queued, on a connection that is new. */
int postgres_listen(struct database *d, struct error *err);
/* Tell who watches what came with an answer. */
void postgres_hear(struct database *d);

/* --- postgres_check.c ----------------------------------------------------------------------- */

/* As in struct engine. */
int postgres_check_schema(struct database *d, take_row take, void *to, struct error *err);

#endif
