/* SQLite as a store's engine; see engine.h. WAL, so that who reads does not wait for who writes;
 * a commit is on the disk before it is said to be one. */
#include "store/engine.h"

#include "fd.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_TRIES = 3000, SHORT_PAUSES = 50, PAUSE_MS = 20, STEPS_BETWEEN = 1 << 20 };

enum { KEPT = 64 };

struct database {
        sqlite3 *handle;
        sqlite3_stmt *kept[KEPT]; /* statements, each where the hash of its text says */
        int watch;                /* an inotify; -EBADF: nobody has asked */
        unsigned seen;            /* of the database, when somebody last asked */
        char path[STORE_MAX_PATH];
};

static int failed(const struct database *d, const char *what, struct error *err)
{
        return error_set(err, CODE_INFRA_STORE, "%s: %s", what,
                d->handle ? sqlite3_errmsg(d->handle) : "out of memory");
}

static int execute(struct database *d, const char *sql, struct error *err)
{
        return sqlite3_exec(d->handle, sql, NULL, NULL, NULL) == SQLITE_OK
                       ? 0
                       : failed(d, "the store", err);
}

/* One that has statements does not close. */
static void close_handle(struct database *d)
{
        for (unsigned i = 0; i < KEPT; i++)
                sqlite3_finalize(d->kept[i]);
        sqlite3_close(d->handle);
}

static void close_it(struct database *d)
{
        if (!d)
                return;
        fd_close(d->watch);
        close_handle(d);
        free(d);
}

/* While others write: a minute at most, and not without the one who asked. Nonzero: try again. */
static int wait_busy(void *unused, int tries)
{
        struct pollfd peer = {.fd = STORE_SOCKET};

        (void)unused;
        return tries < BUSY_TRIES && poll(&peer, 1, tries < SHORT_PAUSES ? 1 : PAUSE_MS) == 0;
}

/* A database of somebody's may let a statement run for ever: nonzero ends it, and its transaction,
 * when nobody waits for it any more. */
static int is_left(void *unused)
{
        struct pollfd peer = {.fd = STORE_SOCKET};

        (void)unused;
        return poll(&peer, 1, 0) > 0;
}

/* Where several do this at a new database, SQLite does not wait by itself. */
static int use_wal(struct database *d, struct error *err)
{
        int r, tries = 0;

        do
                r = sqlite3_exec(d->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        while ((r & 0xff) == SQLITE_BUSY && wait_busy(NULL, tries++));
        return r == SQLITE_OK ? 0 : failed(d, "the store", err);
}

static int set_up(struct database *d, enum store_mode mode, struct error *err)
{
        sqlite3_extended_result_codes(d->handle, 1);
        sqlite3_busy_handler(d->handle, wait_busy, NULL);
        sqlite3_progress_handler(d->handle, STEPS_BETWEEN, is_left, NULL);
        sqlite3_db_config(d->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(d->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        /* Who submits does not wait for the file to be brought up to date with what is beside it.
         */
        sqlite3_db_config(d->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, mode == STORE_SERVE, NULL);
        sqlite3_limit(d->handle, SQLITE_LIMIT_ATTACHED, 0);
        if (execute(d,
                    "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
                    "PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY",
                    err) < 0)
                return -1;
        return mode == STORE_READ ? execute(d, "PRAGMA query_only = ON", err) : use_wal(d, err);
}

/* Other names of somebody's files: SQLite writes to what is beside the database, and as root gives
 * it to the database's owner. */
static int check_beside(const char *path, struct error *err)
{
        static const char *const names[] = {"-wal", "-shm", "-journal"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char name[STORE_MAX_PATH + 16];
                struct stat st;

                snprintf(name, sizeof name, "%s%s", path, names[i]);
                if (lstat(name, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_nlink > 1))
                        return error_set(
                                err, CODE_INFRA_STORE, "%s: not a file of the store's alone", name);
        }
        return 0;
}

/* A file of its own, and none is made at the other end of a link: the directory may be somebody
 * else's, who would have root make a file where they please. */
static int check_file(const char *path, enum store_mode mode, struct error *err)
{
        struct stat st, link;
        char real[PATH_MAX];

        if (mode != STORE_READ) {
                _cleanup_fd_ int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

                if (made < 0 && errno != EEXIST)
                        return error_errno(err, CODE_INFRA_STORE, errno, "%s", path);
        }
        if (stat(path, &st) < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "%s", path);
        if (!S_ISREG(st.st_mode))
                return error_set(err, CODE_INFRA_STORE, "%s: not a file", path);
        if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != 0 &&
                link.st_uid != geteuid())
                return error_set(err, CODE_INFRA_STORE, "%s: a link of somebody else's", path);
        if (!realpath(path, real))
                return error_errno(err, CODE_INFRA_STORE, errno, "%s", path);
        return check_beside(real, err);
}

static int open_it(struct database **ret, const char *path, enum store_mode mode, struct error *err)
{
        struct database *d;

        if (check_file(path, mode, err) < 0)
                return -1;
        d = calloc(1, sizeof *d);
        if (!d)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        d->watch = -EBADF;
        snprintf(d->path, sizeof d->path, "%s", path);
        if (sqlite3_open_v2(path, &d->handle, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
                failed(d, path, err);
        else if (set_up(d, mode, err) < 0)
                error_add(err, "%s", path);
        else {
                *ret = d;
                return 0;
        }
        close_it(d);
        return -1;
}

static void label(const char *path, char *ret, size_t size)
{
        snprintf(ret, size, "%s", path);
}

static int begin(struct database *d, bool read_only, struct error *err)
{
        return execute(d, read_only ? "BEGIN" : "BEGIN IMMEDIATE", err);
}

static int commit(struct database *d, struct error *err)
{
        return execute(d, "COMMIT", err);
}

static int durable(struct database *d, bool yes, struct error *err)
{
        return execute(d, yes ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", err);
}

static void rollback(struct database *d)
{
        sqlite3_exec(d->handle, "ROLLBACK", NULL, NULL, NULL);
}

/* Who writes is alone. */
static int lock(struct database *d, const char *name, struct error *err)
{
        (void)d;
        (void)name;
        (void)err;
        return 0;
}

/* All who use it are on one machine. */
static int now(struct database *d, int64_t *ret, struct error *err)
{
        struct timespec t;

        (void)d;
        (void)err;
        clock_gettime(CLOCK_REALTIME, &t);
        *ret = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
        return 0;
}

/* Whatever is committed is written to the file beside the database. */
static int watch(struct database *d, int *ret, struct error *err)
{
        char name[STORE_MAX_PATH + 16];

        snprintf(name, sizeof name, "%s-wal", d->path);
        if (d->watch < 0)
                d->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (d->watch < 0 || inotify_add_watch(d->watch, name, IN_MODIFY) < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "cannot watch %s", name);
        *ret = d->watch;
        return 0;
}

static int notify(struct database *d, struct error *err)
{
        (void)d;
        (void)err;
        return 0;
}

static bool is_lost(const struct database *d)
{
        (void)d;
        return false;
}

static int bind(sqlite3_stmt *statement, const struct value *values, unsigned count)
{
        int r = SQLITE_OK;

        for (unsigned i = 0; i < count && r == SQLITE_OK; i++) {
                const struct value *v = &values[i];
                char name[16];
                int at;

                /* SQLite numbers them in the order in which they are met. */
                snprintf(name, sizeof name, "$%u", i + 1);
                at = sqlite3_bind_parameter_index(statement, name);
                if (at > 0 && v->kind == VALUE_NUMBER)
                        r = sqlite3_bind_int64(statement, at, v->number);
                else if (at > 0 && v->kind == VALUE_TEXT)
                        r = sqlite3_bind_text64(
                                statement, at, v->text, v->len, SQLITE_STATIC, SQLITE_UTF8);
                else if (at > 0 && v->kind == VALUE_BYTES)
                        r = sqlite3_bind_blob64(statement, at, v->text, v->len, SQLITE_STATIC);
        }
        return r;
}

static int take_all(sqlite3_stmt *statement, take_row take, void *to, struct error *err)
{
        struct value row[STORED_COLUMNS];
        int r, count = sqlite3_column_count(statement);

        while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
                for (int i = 0; i < count && i < STORED_COLUMNS; i++) {
                        const int type = sqlite3_column_type(statement, i);

                        row[i] = (struct value){.kind = VALUE_NULL};
                        if (type == SQLITE_INTEGER)
                                row[i] = value_number(sqlite3_column_int64(statement, i));
                        else if (type == SQLITE_BLOB)
                                row[i] = value_bytes(sqlite3_column_blob(statement, i),
                                        (size_t)sqlite3_column_bytes(statement, i));
                        else if (type != SQLITE_NULL)
                                row[i] = (struct value){.kind = VALUE_TEXT,
                                        .text = (const char *)sqlite3_column_text(statement, i),
                                        .len = (size_t)sqlite3_column_bytes(statement, i)};
                        if (row[i].kind == VALUE_TEXT && !row[i].text)
                                return SQLITE_NOMEM;
                }
                if (take && take(to, row, (unsigned)count, err) < 0)
                        return SQLITE_ABORT;
        }
        return r;
}

static sqlite3_stmt **find_place(struct database *d, const char *sql)
{
        return &d->kept[text_hash(sql) % KEPT];
}

/* To prepare one takes longer than to run it. One that is running cannot be used again; and some
 * pragmas act when they are prepared, so none is kept. */
static int prepare(struct database *d, const char *sql, sqlite3_stmt **ret)
{
        sqlite3_stmt **place = find_place(d, sql);

        if (strncmp(sql, "PRAGMA", 6) == 0 || sqlite3_stmt_busy(*place))
                return sqlite3_prepare_v2(d->handle, sql, -1, ret, NULL);
        if (!*place || strcmp(sqlite3_sql(*place), sql) != 0) {
                int r;

                sqlite3_finalize(*place);
                r = sqlite3_prepare_v3(d->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, place, NULL);
                if (r != SQLITE_OK)
                        return r;
        }
        *ret = *place;
        return SQLITE_OK;
}

static void let_go(struct database *d, sqlite3_stmt *statement)
{
        if (!statement)
                return;
        if (*find_place(d, sqlite3_sql(statement)) != statement) {
                sqlite3_finalize(statement);
                return;
        }
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement); /* they are borrowed */
}

static int run(struct database *d, const char *sql, const struct value *values, unsigned count,
        take_row take, void *to, struct error *err)
{
        sqlite3_stmt *statement = NULL;
        struct error why = {0};
        int r = prepare(d, sql, &statement);

        if (r == SQLITE_OK)
                r = bind(statement, values, count);
        if (r == SQLITE_OK)
                r = take_all(statement, take, to, &why);
        if (r != SQLITE_DONE && r != SQLITE_OK) {
                if (why.code == CODE_NONE)
                        failed(d, "the store", &why);
                if (err)
                        *err = why;
                r = -1;
        }
        let_go(d, statement);
        return r < 0 ? -1 : 0;
}

static int take_version(void *to, const struct value *row, unsigned count, struct error *err)
{
        (void)count;
        (void)err;
        *(unsigned *)to = (unsigned)row[0].number;
        return 0;
}

static int version(struct database *d, unsigned *ret, struct error *err)
{
        return run(d, "PRAGMA user_version", NULL, 0, take_version, ret, err);
}

/* The file is written to before what is written counts. */
static bool heard(struct database *d)
{
        const unsigned before = d->seen;
        char events[4096];

        while (read(d->watch, events, sizeof events) > 0)
                continue;
        return run(d, "PRAGMA data_version", NULL, 0, take_version, &d->seen, NULL) < 0 ||
               d->seen != before;
}

static int set_version(struct database *d, unsigned number, struct error *err)
{
        char sql[64];

        snprintf(sql, sizeof sql, "PRAGMA user_version = %u", number);
        return execute(d, sql, err);
}

/* --- is everything as the migrations made it? ------------------------------------------------ */

static int make_model(struct database *model, struct error *err)
{
        if (sqlite3_open(":memory:", &model->handle) != SQLITE_OK)
                return failed(model, "the store", err);
        for (unsigned i = 0; i < SCHEMA_VERSION; i++)
                for (const char *const *sql = schema_sqlite[i]; *sql; sql++)
                        if (execute(model, *sql, err) < 0)
                                return -1;
        return 0;
}

/* What is in one and should be in the other as well. */
struct comparison {
        struct database *with;
        take_row take;
        void *to;
        bool same;
};

static int is_there(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct comparison *c = to;

        (void)row;
        (void)count;
        (void)err;
        c->same = true;
        return 0;
}

/* A row of one of them: name, sql. */
static int compare(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct comparison *c = to;

        (void)count;
        c->same = false;
        if (run(c->with, "SELECT 1 FROM sqlite_schema WHERE name = $1 AND sql = $2", row, 2,
                    is_there, c, err) < 0)
                return -1;
        return c->same ? 0 : c->take(c->to, row, 1, err);
}

/* Nothing is missing; and nothing was added that acts on the tables. Tables and views of somebody's
 * own do not. What sort a row is says its sql: SQLite asks nothing else. */
static int check_schema(struct database *d, take_row take, void *to, struct error *err)
{
        struct database model = {.watch = -EBADF};
        struct comparison missing = {.with = d, .take = take, .to = to};
        struct comparison added = {.with = &model, .take = take, .to = to};
        int r = make_model(&model, err);

        if (r == 0)
                r = run(&model,
                        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
                        NULL, 0, compare, &missing, err);
        if (r == 0)
                r = run(d,
                        "SELECT name, sql FROM sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE %'"
                        " AND sql NOT LIKE 'CREATE VIEW %' ORDER BY name",
                        NULL, 0, compare, &added, err);
        close_handle(&model);
        return r;
}

static int check_pages(struct database *d, take_row take, void *to, struct error *err)
{
        return run(d,
                "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
                NULL, 0, take, to, err);
}

const struct engine engine_sqlite = {
        .open = open_it,
        .close = close_it,
        .label = label,
        .begin = begin,
        .lock = lock,
        .now = now,
        .watch = watch,
        .heard = heard,
        .notify = notify,
        .is_lost = is_lost,
        .skip_locked = "",
        .commit = commit,
        .rollback = rollback,
        .durable = durable,
        .run = run,
        .each = run,
        .version = version,
        .set_version = set_version,
        .check_schema = check_schema,
        .check_pages = check_pages,
        .migrations = schema_sqlite,
        .migration_count = SCHEMA_VERSION,
};
