/* The runner's side of assay-store; see store_channel.h. */
#include "store_channel.h"

#include "fd.h"
#include "interrupt.h"
#include "spawn.h"
#include "state.h"
#include "text.h"
#include "workspace.h"

#include <limits.h>
#include <unistd.h>

/* --- which one ------------------------------------------------------------------------------ */

static int find_key(char path[PATH_MAX], struct error *err)
{
        const char *named = getenv("ASSAY_STORE_KEY");

        if (!named || !*named)
                return state_file("store", "key", path, err);
        return (size_t)snprintf(path, PATH_MAX, "%s", named) < PATH_MAX
                       ? 0
                       : error_set(err, CODE_USAGE, "ASSAY_STORE_KEY: too long");
}

static int find_database(const char *url, char path[PATH_MAX], struct error *err)
{
        static const char sqlite[] = "sqlite:";
        const char *name = url, *scheme = strstr(url, "://");
        const bool is_file = !store_is_postgres(url);

        if (strncmp(url, sqlite, sizeof sqlite - 1) == 0)
                name = url + sizeof sqlite - 1;
        else if (is_file && scheme)
                return error_set(err, CODE_USAGE,
                        "%.*s: no kind of store (sqlite:PATH, postgresql://HOST/DATABASE)",
                        (int)(scheme - url), url);
        if (!*name && name != url)
                return state_file("store", "results.db", path, err);
        /* A name that SQLite would take for something else is a file's all the same. */
        if (!*name || (size_t)snprintf(path, PATH_MAX, "%s%s", is_file && *name != '/' ? "./" : "",
                              name) >= PATH_MAX)
                return error_set(err, CODE_USAGE, "the store's path is %s",
                        *name ? "too long" : "empty (sqlite:PATH)");
        return 0;
}

int store_check_agent(const char *agent, struct error *err)
{
        const size_t len = strlen(agent);
        bool bad = len == 0 || len > STORE_MAX_AGENT;

        for (size_t at = 0; !bad && at < len;) {
                uint32_t code_point = 0;
                const size_t n =
                        text_utf8_next((const unsigned char *)agent + at, len - at, &code_point);

                bad = n == 0 || text_is_control(code_point);
                at += n;
        }
        return bad ? error_set(err, CODE_USAGE,
                             "--agent %.60s: must be 1 to %d bytes of UTF-8 without control "
                             "characters",
                             agent, STORE_MAX_AGENT)
                   : 0;
}

/* --- frames --------------------------------------------------------------------------------- */

int store_channel_malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "assay-store sent a malformed answer");
}

static int receive(struct store_channel *c, struct frame *f, struct error *err)
{
        struct reader r;
        int n = frame_receive(c->socket, f, FRAME_MAX_PAYLOAD, 0, err);

        if (n == 0 || (n < 0 && errno == ECONNRESET))
                return error_set(err, CODE_INFRA_STORE, "assay-store ended unexpectedly");
        if (n < 0 || f->type != STORE_FAILED)
                return n;
        r = reader_of(f->payload.data, f->payload.len);
        get_error(&r, err);
        return reader_done(&r) ? -1 : store_channel_malformed(err);
}

int store_channel_wait(struct store_channel *c, struct error *err)
{
        struct pollfd answer = {.fd = c->socket, .events = POLLIN};

        while (interrupt_poll(&answer, 1, -1) < 0 && errno == EINTR)
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "while the store was in use");
        return 0;
}

int store_channel_ask(struct store_channel *c, enum store_message type,
        const struct buffer *payload, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (frame_send(c->socket, (uint16_t)type, payload, NULL, 0, err) == 0)
                return 0;
        if (errno != EPIPE && errno != ECONNRESET)
                return -1;
        /* It ended, and has said why. */
        return receive(c, &f, err) < 0 ? -1 : store_channel_malformed(err);
}

int store_channel_next(struct store_channel *c, struct frame *f, struct error *err)
{
        if (receive(c, f, err) < 0)
                return -1;
        if (f->type != STORE_DONE)
                return 1;
        return f->payload.len == 0 ? 0 : store_channel_malformed(err);
}

int store_channel_done(struct store_channel *c, enum store_message type, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (receive(c, &f, err) < 0)
                return -1;
        return f.type == type && f.payload.len == 0 ? 0 : store_channel_malformed(err);
}

/* --- start and end -------------------------------------------------------------------------- */

enum { MAX_VARIABLES = 64 };

/* What PostgreSQL's client library looks at (libpq, "Environment Variables"), NULL at the end. */
static void select_variables(const char *ret[MAX_VARIABLES + 1])
{
        static const char *const prefixes[] = {"PG", "HOME=", "KRB5CCNAME=", "KRB5_CONFIG="};
        unsigned count = 0;

        for (char **v = environ; v && *v && count < MAX_VARIABLES; v++)
                for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
                        if (strncmp(*v, prefixes[i], strlen(prefixes[i])) == 0)
                                ret[count++] = *v;
        ret[count] = NULL;
}

static int start(struct store_channel *c, const struct store_order *order, const char *database,
        struct error *err)
{
        const char *variables[MAX_VARIABLES + 1];
        const char *const argv[] = {"assay-store",
                order->queue         ? "queue"
                : order->result_id   ? "append"
                : order->for_matches ? "match"
                                     : "read",
                NULL};
        _cleanup_fd_ int program = spawn_find("assay-store", err);
        _cleanup_fd_ int theirs = -EBADF;
        struct spawn spawn = SPAWN_INIT;
        int pair[2];

        if (program < 0 || fd_socketpair(pair, err) < 0)
                return -1;
        c->socket = pair[0];
        theirs = pair[1];
        spawn.program = program;
        spawn.argv = argv;
        select_variables(variables);
        spawn.envp = store_is_postgres(database) ? variables : NULL;
        spawn.fd_count = STORE_SOCKET + 1;
        spawn.fds[0] = spawn.fds[1] = -EBADF;
        spawn.fds[2] = STDERR_FILENO;
        spawn.fds[STORE_SOCKET] = theirs;
        return spawn_process(&spawn, &c->pidfd, err) < 0 ? -1 : 0;
}

/* A password in the URL or in the environment: whoever takes this process over later, when it has
 * given its rights up, would log in as the caller. No other store is opened after that one. */
static void forget_password(const char *url)
{
        char *secrets[] = {strstr(url, "//"), getenv("PGPASSWORD")};

        for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
                if (secrets[i])
                        memset(secrets[i], '*', strlen(secrets[i]));
}

int store_channel_open(struct store_channel *c, const struct store_order *order, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        char database[PATH_MAX], key[PATH_MAX], submission[ULID_SIZE] = "";
        int r;

        if (find_database(order->url, database, err) < 0 || find_key(key, err) < 0 ||
                (order->result_id && ulid_new(submission, err) < 0) ||
                start(c, order, database, err) < 0)
                return -1;
        put_text(&payload, database);
        put_text(&payload, key);
        put_text(&payload, order->agent ? order->agent : "");
        put_text(&payload, order->result_id ? order->result_id : "");
        put_text(&payload, submission);
        put_text(&payload, order->supersedes ? order->supersedes : "");
        put_text(&payload, order->match ? order->match : "");
        put_text(&payload, order->harness ? order->harness : "");
        r = store_channel_ask(c, STORE_OPEN, &payload, err);
        if (store_is_postgres(order->url) &&
                (order->queue || (order->result_id && *order->result_id)))
                forget_password(order->url);
        explicit_bzero(database, sizeof database);
        explicit_bzero(payload.data, payload.len);
        return r < 0 || store_channel_wait(c, err) < 0 ||
                               store_channel_done(c, STORE_READY, err) < 0
                       ? -1
                       : 0;
}

/* Its socket at an end, it takes back what was not committed, and leaves. */
void store_channel_close(struct store_channel *c)
{
        c->socket = fd_close(c->socket);
        if (c->pidfd >= 0)
                spawn_wait(c->pidfd, NULL);
        c->pidfd = fd_close(c->pidfd);
}

/* --- appending ------------------------------------------------------------------------------ */

int store_channel_begin(struct store_channel *c, const char *task, const char *archive,
        unsigned *ret_attempt, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        put_text(&payload, task);
        put_text(&payload, archive);
        if (store_channel_ask(c, STORE_BEGIN, &payload, err) < 0 ||
                store_channel_wait(c, err) < 0 || receive(c, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        *ret_attempt = get_u32(&r);
        return f.type == STORE_ATTEMPT && reader_done(&r) && *ret_attempt > 0
                       ? 0
                       : store_channel_malformed(err);
}

int store_channel_text(struct store_channel *c, enum store_table table, unsigned column,
        const char *text, struct error *err)
{
        const size_t len = text ? strlen(text) : 0;

        if (len > STORE_MAX_TEXT)
                return error_set(
                        err, CODE_INFRA_STORE, "a text of more than %d bytes", STORE_MAX_TEXT);
        for (size_t at = 0; at < len; at += STORE_MAX_PIECE) {
                const size_t left = len - at;
                _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

                put_u8(&payload, (uint8_t)table);
                put_u8(&payload, (uint8_t)column);
                put_bytes(&payload, text + at, left < STORE_MAX_PIECE ? left : STORE_MAX_PIECE);
                if (store_channel_ask(c, STORE_TEXT, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

int store_channel_texts(struct store_channel *c, enum store_table table,
        const struct store_text *texts, size_t count, struct error *err)
{
        for (size_t i = 0; i < count; i++)
                if (store_channel_text(c, table, texts[i].column, texts[i].text, err) < 0)
                        return -1;
        return 0;
}

int store_channel_number(struct store_channel *c, enum store_table table, unsigned column,
        uint64_t number, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, (uint8_t)table);
        put_u8(&payload, (uint8_t)column);
        put_u64(&payload, number);
        return store_channel_ask(c, STORE_NUMBER, &payload, err);
}

int store_channel_row(struct store_channel *c, enum store_table table, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, (uint8_t)table);
        return store_channel_ask(c, STORE_ROW, &payload, err);
}

int store_channel_commit(struct store_channel *c, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return store_channel_ask(c, STORE_COMMIT, &nothing, err) < 0
                       ? -1
                       : store_channel_done(c, STORE_DONE, err);
}
