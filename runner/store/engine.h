/* What the store needs of a database: a struct of functions, a row for each kind. All SQL is the
 * store's own and constant; what comes from outside travels as $1, $2, … in order. */
#ifndef ASSAY_STORE_ENGINE_H
#define ASSAY_STORE_ENGINE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT, VALUE_BYTES };

struct value {
        enum value_kind kind;
        int64_t number;
        const char *text; /* of a text or of bytes; borrowed, not always NUL-terminated */
        size_t len;
};

struct value value_text(const char *text);
struct value value_number(int64_t number);
struct value value_bytes(const void *bytes, size_t len);
/* NULL for "". */
struct value value_text_or_null(const char *text);
/* A copy as a C string, "" for NULL; cut to fit. */
void value_copy(const struct value *v, char *out, size_t size);

/* Called for each row of an answer, whose texts live until it returns. -1 ends the query. */
typedef int (*take_row)(void *to, const struct value *row, unsigned count, struct error *err);

enum store_mode { STORE_APPEND, STORE_SERVE /* the same, for many */, STORE_READ };

struct database; /* an engine's own */

struct engine {
        /* A file or a URL. The caller's rights are needed; a file that is not there is made for
         * appending. */
        int (*open)(
                struct database **ret, const char *path, enum store_mode mode, struct error *err);
        void (*close)(struct database *d);
        /* What messages call it: without a password. */
        void (*label)(const char *path, char *ret, size_t size);
        bool is_remote; /* it is reached by a socket, and no file here is written */
        /* A transaction; for `read_only` it is one view. */
        int (*begin)(struct database *d, bool read_only, struct error *err);
        /* In a transaction that writes: until its end nobody else has the lock of that name. */
        int (*lock)(struct database *d, const char *name, struct error *err);
        int (*commit)(struct database *d, struct error *err);
        void (*rollback)(struct database *d);
        /* Before a transaction: is what it commits on the disk when that is said? It is, as long as
         * nobody says otherwise. */
        int (*durable)(struct database *d, bool yes, struct error *err);
        /* One statement; `take` is NULL where no row is expected, and runs no other statement. */
        int (*run)(struct database *d, const char *sql, const struct value *values, unsigned count,
                take_row take, void *to, struct error *err);
        /* A SELECT within a transaction, whose `take` may run others. */
        int (*each)(struct database *d, const char *sql, const struct value *values, unsigned count,
                take_row take, void *to, struct error *err);
        /* What the time is for all who use this database, in ms since 1970. */
        int (*now)(struct database *d, int64_t *ret, struct error *err);
        /* A descriptor, the engine's, that is readable once another process may be about to commit
         * something. `heard` takes what made it so: did somebody commit since it was last asked? */
        int (*watch)(struct database *d, int *ret, struct error *err);
        bool (*heard)(struct database *d);
        /* In a transaction that queues: wake who watches, once it is committed. */
        int (*notify)(struct database *d, struct error *err);
        /* Was the connection lost? What was not committed is taken back; whether a commit that
         * failed took place has to be looked up, once it is there again. */
        bool (*is_lost)(const struct database *d);
        int (*connect_again)(struct database *d, struct error *err);
        /* The number of migrations applied, and to say that. */
        int (*version)(struct database *d, unsigned *ret, struct error *err);
        int (*set_version)(struct database *d, unsigned version, struct error *err);
        /* Call `take` with the name of each table, index or rule of the migrations that is not as
         * they made it, and of each index or rule that is not theirs. */
        int (*check_schema)(struct database *d, take_row take, void *to, struct error *err);
        /* Call `take` with what the database itself finds wrong: an index that says something else
         * than its table, a value of another type than its column. */
        int (*check_pages)(struct database *d, take_row take, void *to, struct error *err);
        const char *skip_locked; /* ends a SELECT that takes a row nobody else is about to take */
        const char *const *const *migrations; /* lists of statements, NULL at the end of each */
        unsigned migration_count;
};

/* FNV-1a: a number for a text, in which others may have it too. */
uint32_t text_hash(const char *text);

extern const struct engine engine_sqlite, engine_postgres;

#endif
