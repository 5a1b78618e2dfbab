/* Statements of PostgreSQL; see postgres.h. Each row is taken as it comes, so a long answer needs
 * no memory; and whoever asked is looked at while a statement runs. */
#include "store/postgres.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>

/* Types as the server numbers them (pg_type.dat); they never change. */
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25 };

/* An answer while it comes. */
struct answer {
        struct database *database;
        take_row take;
        void *to;
        PGresult *kept; /* all rows, where they are not taken one by one */
        bool keep;
        char tag[32]; /* of the command, such as COMMIT */
        int status;   /* -1: failed, and why */
        struct error why;
};

/* --- values --------------------------------------------------------------------------------- */

/* All travel with their type, as bytes: a text needs no NUL at its end, and quotes are nothing. */
static int send_query(
        struct database *d, const char *sql, const struct value *values, unsigned count)
{
        static const Oid types[] = {[VALUE_NULL] = 0,
                [VALUE_NUMBER] = INT8,
                [VALUE_TEXT] = TEXT,
                [VALUE_BYTES] = BYTEA};
        Oid kinds[STORED_COLUMNS];
        const char *data[STORED_COLUMNS];
        uint64_t numbers[STORED_COLUMNS];
        int lengths[STORED_COLUMNS], formats[STORED_COLUMNS];

        for (unsigned i = 0; i < count && i < STORED_COLUMNS; i++) {
                const struct value *v = &values[i];
                const bool is_number = v->kind == VALUE_NUMBER;

                numbers[i] = htobe64((uint64_t)v->number);
                kinds[i] = types[v->kind];
                data[i] = is_number               ? (const char *)&numbers[i]
                          : v->kind == VALUE_NULL ? NULL
                          : v->text               ? v->text
                                                  : "";
                lengths[i] = is_number ? (int)sizeof numbers[i] : (int)v->len;
                formats[i] = 1;
        }
        return pq.sendQueryParams(d->handle, sql, (int)count, kinds, data, lengths, formats, 0);
}

static int nibble(char c)
{
        return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* "\x0aff…", where it stands. */
static struct value decode_bytes(char *text, size_t len)
{
        const size_t bytes = len >= 2 ? (len - 2) / 2 : 0;

        for (size_t i = 0; i < bytes; i++)
                text[i] = (char)(nibble(text[2 + 2 * i]) << 4 | nibble(text[3 + 2 * i]));
        return value_bytes(text, bytes);
}

static struct value decode(const PGresult *result, int row, int column)
{
        char *text = pq.getvalue(result, row, column);
        const size_t len = (size_t)pq.getlength(result, row, column);

        if (pq.getisnull(result, row, column))
                return (struct value){.kind = VALUE_NULL};
        switch (pq.ftype(result, column)) {
        case BOOL:
                return value_number(*text == 't');
        case INT2:
        case INT4:
        case INT8:
                return value_number(strtoll(text, NULL, 10));
        case BYTEA:
                return decode_bytes(text, len);
        default:
                return (struct value){.kind = VALUE_TEXT, .text = text, .len = len};
        }
}

/* --- an answer ------------------------------------------------------------------------------ */

static void fail(struct answer *a, enum code code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static void fail(struct answer *a, enum code code, const char *format, ...)
{
        char text[400];
        va_list values;

        if (a->status < 0)
                return;
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
        a->status = error_set(&a->why, code, "%s", text);
}

/* The server's sentence alone: its details may be rows. After a fatal one it hangs up. */
static void fail_with(struct answer *a, const PGresult *result)
{
        const char *text = pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        const char *severity = pq.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

        if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
                a->database->lost = true;
        if (a->status == 0 && text)
                fail(a, CODE_INFRA_STORE, "the store: %s", text);
        else if (a->status == 0)
                a->status = postgres_failed(a->database, "the store", &a->why);
}

/* Wait for the server, but not without the one who asked. */
static int wait_server(struct answer *a, short events)
{
        struct pollfd fds[] = {
                {.fd = pq.socket(a->database->handle), .events = events}, {.fd = STORE_SOCKET}};

        while (poll(fds, 2, -1) < 0 && errno == EINTR)
                continue;
        if (fds[1].revents == 0 && fds[0].fd >= 0)
                return 0;
        /* The server ends the statement when it sees that the connection was closed. */
        a->database->lost = true;
        fail(a, CODE_INFRA_STORE, "the store: nobody waits for it any more");
        return -1;
}

static int flush(struct answer *a)
{
        PGconn *handle = a->database->handle;
        int r;

        /* Both at once: a server that answers while it is told more would wait for us. */
        while ((r = pq.flush(handle)) > 0)
                if (wait_server(a, POLLIN | POLLOUT) < 0 || pq.consumeInput(handle) == 0)
                        return -1;
        return r;
}

/* The next part of it; NULL: there is none. */
static PGresult *next_part(struct answer *a)
{
        PGconn *handle = a->database->handle;

        while (pq.isBusy(handle))
                if (wait_server(a, POLLIN) < 0)
                        return NULL;
                else if (pq.consumeInput(handle) == 0)
                        break;
        return pq.getResult(handle);
}

static void take_rows(struct answer *a, const PGresult *result)
{
        const int columns = pq.nfields(result), rows = pq.ntuples(result);
        struct value row[STORED_COLUMNS];

        for (int r = 0; r < rows && a->status == 0; r++) {
                for (int i = 0; i < columns && i < STORED_COLUMNS; i++)
                        row[i] = decode(result, r, i);
                if (a->take)
                        a->status = a->take(a->to, row, (unsigned)columns, &a->why) < 0 ? -1 : 0;
        }
}

/* The rows that nobody takes any more need not come. */
static void cancel(struct database *d)
{
        PGcancel *c = pq.getCancel(d->handle);
        char unused[256];

        if (c)
                pq.cancel(c, unused, sizeof unused);
        pq.freeCancel(c);
}

static void take_part(struct answer *a, PGresult *result)
{
        const bool was_well = a->status == 0;

        snprintf(a->tag, sizeof a->tag, "%s", pq.cmdStatus(result));
        switch (pq.resultStatus(result)) {
        case PGRES_COMMAND_OK:
                break;
        case PGRES_SINGLE_TUPLE:
        case PGRES_TUPLES_OK:
                if (a->keep) {
                        pq.clear(a->kept);
                        a->kept = result;
                        return;
                }
                take_rows(a, result);
                if (was_well && a->status < 0)
                        cancel(a->database);
                break;
        case PGRES_FATAL_ERROR:
                fail_with(a, result);
                break;
        default: /* a copy, a pipeline: no statement of ours */
                a->database->lost = true;
                fail(a, CODE_INFRA_STORE, "the store: an answer that was not asked for");
        }
        pq.clear(result);
}

/* One statement from end to end. */
static int ask(struct answer *a, const char *sql, const struct value *values, unsigned count)
{
        struct database *d = a->database;
        PGresult *part;

        if (d->busy || count > STORED_COLUMNS)
                fail(a, CODE_INTERNAL_BUG, "a statement within another's answer");
        else if (d->lost)
                fail(a, CODE_INFRA_STORE, "the store: the connection was lost");
        else if (!send_query(d, sql, values, count) ||
                 (!a->keep && !pq.setSingleRowMode(d->handle)))
                a->status = postgres_failed(d, "the store", &a->why);
        if (a->status < 0)
                return -1;
        d->busy = true;
        /* Where nothing can be sent, what comes says why. */
        flush(a);
        while (!d->lost && (part = next_part(a)))
                take_part(a, part);
        d->busy = false;
        postgres_hear(d);
        return a->status;
}

static int end(struct answer *a, struct error *err)
{
        pq.clear(a->kept);
        if (a->status < 0 && err)
                *err = a->why;
        return a->status;
}

int postgres_run(struct database *d, const char *sql, const struct value *values, unsigned count,
        take_row take, void *to, struct error *err)
{
        struct answer a = {.database = d, .take = take, .to = to};

        ask(&a, sql, values, count);
        return end(&a, err);
}

/* A row at a time, and nothing underway in between. */
static int fetch_all(struct answer *a, const char *sql)
{
        int rows = 1;

        while (rows > 0 && ask(a, sql, NULL, 0) == 0) {
                PGresult *result = a->kept;

                a->kept = NULL;
                rows = pq.ntuples(result);
                take_rows(a, result);
                pq.clear(result);
        }
        return a->status;
}

int postgres_each(struct database *d, const char *sql, const struct value *values, unsigned count,
        take_row take, void *to, struct error *err)
{
        _cleanup_buffer_ struct buffer declare = BUFFER_INIT;
        struct answer a = {.database = d, .take = take, .to = to, .keep = true};
        char fetch[64], close[64];

        d->cursors++;
        snprintf(fetch, sizeof fetch, "FETCH 1 FROM rows_%u", d->cursors);
        snprintf(close, sizeof close, "CLOSE rows_%u", d->cursors);
        buffer_add_format(&declare, "DECLARE rows_%u NO SCROLL CURSOR FOR %s", d->cursors, sql);
        if (ask(&a, buffer_text(&declare), values, count) == 0 && fetch_all(&a, fetch) == 0)
                ask(&a, close, NULL, 0);
        d->cursors--;
        return end(&a, err);
}

/* One that had failed in between is not committed, and COMMIT is content with that. */
int postgres_commit(struct database *d, struct error *err)
{
        struct answer a = {.database = d};

        if (ask(&a, "COMMIT", NULL, 0) == 0 && strcmp(a.tag, "COMMIT") != 0)
                fail(&a, CODE_INFRA_STORE, "the store: the transaction was taken back");
        return end(&a, err);
}
