/* Opening a store; see store.h. */
#include "store/store.h"

#include "store/key.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { CONNECT_TRIES = 600, CONNECT_PAUSE_MS = 100 };

/* A line is short, whatever somebody had stored or wrote into the database: one of them may not
 * keep all others from being listed. */
void store_put_short(struct buffer *out, const struct value *v)
{
        const size_t len = v->kind != VALUE_TEXT     ? 0
                           : v->len > STORE_MAX_NAME ? STORE_MAX_NAME
                                                     : v->len;

        put_bytes(out, v->text, strnlen(len > 0 ? v->text : "", len));
}

int store_send_failed(int socket, const struct error *why)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_error(&payload, why);
        return frame_send(socket, STORE_FAILED, &payload, NULL, 0, NULL);
}

int store_malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "the store was sent a malformed frame");
}

/* --- transactions --------------------------------------------------------------------------- */

int store_connect_again(struct store *s, struct error *err)
{
        struct pollfd peer = {.fd = STORE_SOCKET};

        for (int tries = 0; s->engine->is_lost(s->database); tries++) {
                /* Not for somebody who is gone. */
                if (poll(&peer, 1, tries > 0 ? CONNECT_PAUSE_MS : 0) > 0 || tries == CONNECT_TRIES)
                        return -1;
                if (s->engine->connect_again(s->database, err) == 0)
                        return 0;
        }
        return -1;
}

static int try_once(
        struct store *s, int (*body)(void *to, struct error *err), void *to, struct error *err)
{
        const struct engine *e = s->engine;
        int r = e->begin(s->database, false, err);

        if (r < 0)
                return -1;
        r = body(to, err);
        if (r == 0 && e->commit(s->database, err) == 0)
                return 0;
        e->rollback(s->database);
        return r > 0 ? 0 : -1;
}

int store_transact(struct store *s, int (*body)(void *to, struct error *err),
        int (*is_done)(void *to, struct error *err), void *to, struct error *err)
{
        int r;

        while ((r = try_once(s, body, to, err)) < 0 && store_connect_again(s, err) == 0) {
                const int done = is_done ? is_done(to, err) : 0;

                if (done > 0)
                        return 0;
        }
        return r;
}

int store_do(struct store *s, const char *sql, const struct value *values, unsigned count,
        struct error *err)
{
        return s->engine->run(s->database, sql, values, count, NULL, NULL, err);
}

struct answer {
        char *text;
        size_t size;
        int64_t number;
        int rows;
};

static int take_answer(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct answer *a = to;

        (void)count;
        (void)err;
        if (a->text)
                value_copy(&row[0], a->text, a->size);
        a->number = row[0].kind == VALUE_NUMBER ? row[0].number : 0;
        a->rows++;
        return 0;
}

int store_ask_text(struct store *s, const char *sql, const struct value *values, unsigned count,
        char *ret, size_t size, struct error *err)
{
        struct answer a = {.text = ret, .size = size};

        *ret = '\0';
        return s->engine->run(s->database, sql, values, count, take_answer, &a, err) < 0 ? -1
                                                                                         : a.rows;
}

int store_ask_number(struct store *s, const char *sql, const struct value *values, unsigned count,
        int64_t *ret, struct error *err)
{
        struct answer a = {.rows = 0};
        int r = s->engine->run(s->database, sql, values, count, take_answer, &a, err);

        *ret = a.number;
        return r < 0 ? -1 : a.rows;
}

int store_find_submission(struct store *s, struct store_submission *sub, struct error *err)
{
        const struct value same[] = {
                value_text(sub->archive), value_text(sub->task), value_text(sub->agent)};
        char now[STORE_TIME_SIZE], found[STORE_MAX_NAME];
        int r = s->engine->lock(s->database, sub->archive, err);

        if (r < 0)
                return -1;
        r = store_ask_text(s,
                "SELECT id FROM submissions WHERE archive_sha256 = $1 AND task = $2"
                " AND agent = $3 ORDER BY received_at, id LIMIT 1",
                same, 3, found, sizeof found, err);

        if (r < 0)
                return -1;
        if (r > 0) {
                snprintf(sub->id, sizeof sub->id, "%s", found);
                return 0;
        }
        store_now(now);
        const struct value row[] = {value_text(sub->id), value_text(sub->task),
                value_text_or_null(sub->archive), value_text(sub->agent), value_text(now)};

        return store_do(s,
                "INSERT INTO submissions (id, task, archive_sha256, agent, received_at, status,"
                " evaluated) VALUES ($1, $2, $3, $4, $5, 'pending', 0)",
                row, 5, err);
}

void store_time_text(int64_t ms, char ret[STORE_TIME_SIZE])
{
        const time_t seconds = (time_t)(ms / 1000);
        char text[STORE_TIME_SIZE];
        struct tm tm;

        gmtime_r(&seconds, &tm);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(ret, STORE_TIME_SIZE, "%.19s.%03dZ", text, (int)(ms % 1000));
}

int store_time_parse(const char *text, int64_t *ret_ms, struct error *err)
{
        char again[STORE_TIME_SIZE];
        struct tm tm = {0};
        const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

        *ret_ms = rest && *rest == '.' ? 1000 * (int64_t)timegm(&tm) + strtol(rest + 1, NULL, 10)
                                       : -1;
        if (*ret_ms >= 0) {
                store_time_text(*ret_ms, again);
                if (strcmp(text, again) == 0)
                        return 0;
        }
        return error_set(err, CODE_INFRA_STORE, "%.40s: no time that a store would write", text);
}

void store_now(char ret[STORE_TIME_SIZE])
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        store_time_text((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, ret);
}

/* The database remembers which key its macs are of, without telling it. */
static void name_key(const struct store *s, char ret[DIGEST_SIZE])
{
        chain_mac_text(&s->key, "assay.store.key/1", "", ret);
}

static int migrate(struct store *s, const char *key, struct error *err)
{
        const struct engine *e = s->engine;
        unsigned version;

        /* Another one may have been here first. */
        if (e->version(s->database, &version, err) < 0)
                return -1;
        for (unsigned i = version; i < e->migration_count; i++)
                for (const char *const *sql = e->migrations[i]; *sql; sql++)
                        if (store_do(s, *sql, NULL, 0, err) < 0)
                                return -1;
        if (version == 0) {
                char mac[DIGEST_SIZE];

                if (key_read(&s->key, key, true, err) < 0)
                        return -1;
                name_key(s, mac);
                if (store_do(s, "INSERT INTO store (only_row, key_mac) VALUES (1, $1)",
                            &(struct value){VALUE_TEXT, 0, mac, strlen(mac)}, 1, err) < 0)
                        return -1;
        }
        return e->set_version(s->database, e->migration_count, err);
}

static int bring_up_to_date(
        struct store *s, const char *key, enum store_mode mode, struct error *err)
{
        const struct engine *e = s->engine;
        unsigned version;

        if (e->version(s->database, &version, err) < 0)
                return -1;
        if (version > e->migration_count)
                return error_set(err, CODE_INFRA_STORE,
                        "a newer Assay made this store (version %u of its tables, this one knows "
                        "%u)",
                        version, e->migration_count);
        if (version == e->migration_count)
                return 0;
        if (mode == STORE_READ)
                return error_set(err, CODE_INFRA_STORE,
                        version == 0 ? "this is no store of results"
                                     : "an older Assay made this store; the next result that is "
                                       "stored brings it up to date");
        if (e->begin(s->database, false, err) < 0)
                return -1;
        if (e->lock(s->database, "schema", err) == 0 && migrate(s, key, err) == 0 &&
                e->commit(s->database, err) == 0)
                return 0;
        e->rollback(s->database);
        return -1;
}

static int check_key(struct store *s, const char *key, struct error *err)
{
        char expected[DIGEST_SIZE], found[DIGEST_SIZE];

        if (key_read(&s->key, key, false, err) < 0)
                return -1;
        name_key(s, found);
        if (store_ask_text(
                    s, "SELECT key_mac FROM store", NULL, 0, expected, sizeof expected, err) < 0)
                return -1;
        return strcmp(expected, found) == 0
                       ? 0
                       : error_set(err, CODE_INFRA_STORE, "%s is not the key of this store", key);
}

int store_open(
        struct store *s, const char *path, const char *key, enum store_mode mode, struct error *err)
{
        char label[STORE_MAX_PATH];

        *s = (struct store){.engine = store_is_postgres(path) ? &engine_postgres : &engine_sqlite};
        if (s->engine->open(&s->database, path, mode, err) < 0)
                return -1;
        if (bring_up_to_date(s, key, mode, err) == 0 && check_key(s, key, err) == 0)
                return 0;
        s->engine->label(path, label, sizeof label);
        return error_add(err, "%s", label);
}

void store_close(struct store *s)
{
        if (s->database)
                s->engine->close(s->database);
        s->database = NULL;
}
