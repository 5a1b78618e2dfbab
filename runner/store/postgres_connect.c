/* Connections to PostgreSQL; see postgres.h. Which server, as whom, and by what proof is libpq's to
 * find out, from the URL, the environment and its files. */
#include "store/postgres.h"

#include "fd.h"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { LOOK_EACH_MS = 100, OLDEST_SERVER = 140000 };

/* A wait for others is a minute at most, and a server or a client that is gone is noticed. What is
 * committed is on a disk, also where a role's own setting says that it need not. */
static const char settings[] =
        "SET search_path = " POSTGRES_PATH "; SET client_min_messages = error;"
        "SET lock_timeout = '60s'; SET statement_timeout = 0;"
        "SET idle_in_transaction_session_timeout = '2min';"
        "SET client_connection_check_interval = '1s'; SET tcp_keepalives_idle = 10;"
        "SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET bytea_output = hex;"
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'";
/* Who reads may be slow, and keeps nobody waiting. */
static const char only_reading[] = "SET default_transaction_read_only = on;"
                                   "SET idle_in_transaction_session_timeout = 0";

/* --- names ---------------------------------------------------------------------------------- */

/* What follows a URL's user and password. An @ elsewhere than before the host could be part of a
 * password, and then the rest of it would be taken for a host, and be named: NULL. */
static const char *behind_user(const char *url)
{
        const char *start = strstr(url, "://");
        const char *at;

        if (!start)
                return NULL;
        start += strlen("://");
        at = start + strcspn(start, "@/");
        if (*at == '@')
                start = at + 1;
        return strchr(start, '@') ? NULL : start;
}

void postgres_label(const char *url, char *ret, size_t size)
{
        const char *rest = behind_user(url);

        snprintf(ret, size, "postgresql://%.*s", rest ? (int)strcspn(rest, "?") : 3,
                rest ? rest : "...");
}

/* libpq would name what it does not understand, and that could be a password. */
static int check_url(const char *url, struct error *err)
{
        PQconninfoOption *parsed = behind_user(url) ? pq.conninfoParse(url, NULL) : NULL;

        if (!parsed)
                return error_set(err, CODE_USAGE,
                        "the store's URL is not PostgreSQL's (postgresql://USER@HOST/DATABASE; "
                        "in a name or a password @ : / ? %% are %%40 %%3A %%2F %%3F %%25)");
        pq.conninfoFree(parsed);
        return 0;
}

/* In one line. */
int postgres_failed(const struct database *d, const char *what, struct error *err)
{
        char line[400];
        size_t len;

        snprintf(line, sizeof line, "%s", d->handle ? pq.errorMessage(d->handle) : "out of memory");
        for (char *c = line; *c; c++)
                if (*c == '\n' || *c == '\t')
                        *c = ' ';
        for (len = strlen(line); len > 0 && line[len - 1] == ' '; len--)
                line[len - 1] = '\0';
        return error_set(err, CODE_INFRA_STORE, "%s: %s", what, line);
}

/* --- connecting ----------------------------------------------------------------------------- */

static void end_when_left(int signal_number)
{
        struct pollfd peer = {.fd = STORE_SOCKET};

        (void)signal_number;
        if (poll(&peer, 1, 0) > 0)
                _exit(1);
}

/* libpq tries one address after the other, and cannot be asked to stop when nobody waits any more.
 */
static void look_for_peer(bool on)
{
        const struct sigaction action = {
                .sa_handler = on ? end_when_left : SIG_DFL, .sa_flags = SA_RESTART};
        const struct timeval each = {.tv_usec = on ? LOOK_EACH_MS * 1000 : 0};
        const struct itimerval timer = {.it_interval = each, .it_value = each};

        if (on)
                sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
        if (!on)
                sigaction(SIGALRM, &action, NULL);
}

static int simple(struct database *d, const char *sql, struct error *err)
{
        PGresult *result = pq.exec(d->handle, sql);
        const ExecStatusType status = pq.resultStatus(result);

        pq.clear(result);
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
                       ? 0
                       : postgres_failed(d, "the store", err);
}

static void ignore_notice(void *unused, const char *message)
{
        (void)unused;
        (void)message;
}

/* A new connection, or the old one made again. */
static int set_up(struct database *d, struct error *err)
{
        const char *encoding;

        if (pq.status(d->handle) != CONNECTION_OK)
                return postgres_failed(d, "no connection", err);
        pq.setNoticeProcessor(d->handle, ignore_notice, NULL);
        if (pq.serverVersion(d->handle) < OLDEST_SERVER)
                return error_set(err, CODE_INFRA_STORE,
                        "the server is PostgreSQL %d, and a store needs %d or later",
                        pq.serverVersion(d->handle) / 10000, OLDEST_SERVER / 10000);
        encoding = pq.parameterStatus(d->handle, "server_encoding");
        if (!encoding || strcmp(encoding, "UTF8") != 0)
                return error_set(err, CODE_INFRA_STORE,
                        "the database's encoding is %s, and a store needs UTF8 (CREATE DATABASE … "
                        "ENCODING 'UTF8' TEMPLATE template0)",
                        encoding ? encoding : "unknown");
        if (simple(d, settings, err) < 0 ||
                (d->mode == STORE_READ && simple(d, only_reading, err) < 0))
                return -1;
        if (pq.setnonblocking(d->handle, 1) != 0)
                return postgres_failed(d, "the store", err);
        d->lost = d->busy = false;
        d->cursors = 0;
        return d->watch >= 0 ? postgres_listen(d, err) : 0;
}

/* What the URL says comes later in the list, and so is what counts. */
static void connect_first(struct database *d, const char *url)
{
        const char *const names[] = {"connect_timeout", "keepalives_idle", "keepalives_interval",
                "keepalives_count", "tcp_user_timeout", "fallback_application_name", "dbname",
                "client_encoding", NULL};
        const char *const values[] = {getenv("PGCONNECT_TIMEOUT") ? NULL : "10", "10", "5", "3",
                "30000", "assay", url, "UTF8", NULL};

        look_for_peer(true);
        d->handle = pq.connectdbParams(names, values, 1);
        look_for_peer(false);
}

int postgres_open(struct database **ret, const char *url, enum store_mode mode, struct error *err)
{
        struct database *d;
        char label[STORE_MAX_PATH];

        if (libpq_load(err) < 0 || check_url(url, err) < 0)
                return -1;
        d = calloc(1, sizeof *d);
        if (!d)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        d->mode = mode;
        d->watch = d->told = -EBADF;
        connect_first(d, url);
        if (set_up(d, err) == 0) {
                *ret = d;
                return 0;
        }
        postgres_label(url, label, sizeof label);
        postgres_close(d);
        return error_add(err, "%s", label);
}

int postgres_connect_again(struct database *d, struct error *err)
{
        look_for_peer(true);
        pq.reset(d->handle);
        look_for_peer(false);
        return set_up(d, err);
}

void postgres_close(struct database *d)
{
        if (!d)
                return;
        fd_close(d->watch);
        fd_close(d->told);
        pq.finish(d->handle);
        free(d);
}
