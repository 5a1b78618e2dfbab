/* Transactions of PostgreSQL, and hearing of what others queue; see postgres.h. */
#include "store/postgres.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Of advisory locks: the first number says that they are ours. */
enum { LOCKS = 0x4173 };

static int command(struct database *d, const char *sql, struct error *err)
{
        return postgres_run(d, sql, NULL, 0, NULL, NULL, err);
}

static int begin(struct database *d, bool read_only, struct error *err)
{
        return command(d,
                read_only ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                          : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                err);
}

static void rollback(struct database *d)
{
        if (!d->lost)
                command(d, "ROLLBACK", NULL);
}

static int lock(struct database *d, const char *name, struct error *err)
{
        const struct value values[] = {value_number(LOCKS), value_number((int32_t)text_hash(name))};

        return postgres_run(d,
                "SELECT pg_advisory_xact_lock(CAST($1 AS integer), CAST($2 AS integer))", values, 2,
                NULL, NULL, err);
}

static int take_number(void *to, const struct value *row, unsigned count, struct error *err)
{
        (void)count;
        (void)err;
        *(int64_t *)to = row[0].number;
        return 0;
}

static int now(struct database *d, int64_t *ret, struct error *err)
{
        return postgres_run(d,
                "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)", NULL,
                0, take_number, ret, err);
}

/* --- hearing of others ---------------------------------------------------------------------- */

/* What came in between, while a statement ran, would not make the connection readable once more. */
static unsigned take_notices(struct database *d)
{
        PGnotify *n;
        unsigned count = 0;

        while (d->watch >= 0 && (n = pq.notifies(d->handle))) {
                pq.freemem(n);
                count++;
        }
        return count;
}

void postgres_hear(struct database *d)
{
        if (take_notices(d) > 0)
                eventfd_write(d->told, 1);
}

int postgres_listen(struct database *d, struct error *err)
{
        struct epoll_event event = {.events = EPOLLIN};

        /* A connection that was made again may have another socket. */
        epoll_ctl(d->watch, EPOLL_CTL_DEL, pq.socket(d->handle), NULL);
        if (epoll_ctl(d->watch, EPOLL_CTL_ADD, pq.socket(d->handle), &event) < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "cannot watch the store");
        eventfd_write(d->told, 1); /* meanwhile nobody listened */
        return command(d, "LISTEN assay_jobs", err);
}

static int watch(struct database *d, int *ret, struct error *err)
{
        struct epoll_event event = {.events = EPOLLIN};

        if (d->watch < 0) {
                d->watch = epoll_create1(EPOLL_CLOEXEC);
                d->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
                if (d->watch < 0 || d->told < 0 ||
                        epoll_ctl(d->watch, EPOLL_CTL_ADD, d->told, &event) < 0)
                        return error_errno(err, CODE_INFRA_STORE, errno, "cannot watch the store");
                if (postgres_listen(d, err) < 0)
                        return -1;
        }
        *ret = d->watch;
        return 0;
}

/* A server that goes says so before it hangs up. */
static bool heard(struct database *d)
{
        struct pollfd server = {.fd = pq.socket(d->handle), .events = POLLIN};
        eventfd_t unused;

        eventfd_read(d->told, &unused);
        while (!d->lost && poll(&server, 1, 0) > 0)
                d->lost = pq.consumeInput(d->handle) == 0;
        take_notices(d);
        return true;
}

static int notify(struct database *d, struct error *err)
{
        return command(d, "NOTIFY assay_jobs", err);
}

static int durable(struct database *d, bool yes, struct error *err)
{
        return command(
                d, yes ? "SET synchronous_commit = on" : "SET synchronous_commit = off", err);
}

static bool is_lost(const struct database *d)
{
        return d->lost || pq.status(d->handle) != CONNECTION_OK;
}

/* --- the version of the tables -------------------------------------------------------------- */

/* Asked of the table itself: what a session knows of names may be older than the lock that it has
 * just waited for. */
static int version(struct database *d, unsigned *ret, struct error *err)
{
        int64_t number = 0, there = 0;

        if (postgres_run(d,
                    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                    " WHERE n.nspname = 'assay' AND c.relname = 'schema_version'",
                    NULL, 0, take_number, &there, err) < 0 ||
                (there && postgres_run(d, "SELECT number FROM schema_version", NULL, 0, take_number,
                                  &number, err) < 0))
                return -1;
        *ret = number < 0 || number > UINT32_MAX ? UINT32_MAX : (unsigned)number;
        return 0;
}

static int set_version(struct database *d, unsigned number, struct error *err)
{
        const struct value value = value_number(number);

        return postgres_run(d,
                "INSERT INTO schema_version (only_row, number) VALUES (1, $1)"
                " ON CONFLICT (only_row) DO UPDATE SET number = excluded.number",
                &value, 1, NULL, NULL, err);
}

/* The server checks its pages itself, where it was made with checksums. */
static int check_pages(struct database *d, take_row take, void *to, struct error *err)
{
        (void)d;
        (void)take;
        (void)to;
        (void)err;
        return 0;
}

const struct engine engine_postgres = {
        .open = postgres_open,
        .close = postgres_close,
        .label = postgres_label,
        .is_remote = true,
        .begin = begin,
        .lock = lock,
        .now = now,
        .watch = watch,
        .heard = heard,
        .notify = notify,
        .is_lost = is_lost,
        .connect_again = postgres_connect_again,
        .skip_locked = " FOR UPDATE SKIP LOCKED",
        .commit = postgres_commit,
        .rollback = rollback,
        .durable = durable,
        .run = postgres_run,
        .each = postgres_each,
        .version = version,
        .set_version = set_version,
        .check_schema = postgres_check_schema,
        .check_pages = check_pages,
        .migrations = schema_postgres,
        .migration_count = SCHEMA_VERSION,
};
