/* Matches that begin, and harnesses; see match.h. */
#include "store/match.h"

#include "evaluators/rating.h"
#include "text.h"

/* --- start ---------------------------------------------------------------------------------- */

struct start {
        char id[STORE_MAX_NAME], agent[STORE_MAX_NAME], task[STORE_MAX_NAME],
                digest[STORE_MAX_NAME], path[STORE_MAX_NAME], harness[STORE_MAX_NAME];
        bool memoryless;
        unsigned difficulty;
        uint64_t limit_ms;
};

static bool is_name(const char *text)
{
        return *text && text_utf8_valid(text, strlen(text));
}

static int read_start(struct start *ret, struct reader *r, struct error *err)
{
        get_text(r, ret->agent, sizeof ret->agent);
        get_text(r, ret->task, sizeof ret->task);
        get_text(r, ret->digest, sizeof ret->digest);
        get_text(r, ret->path, sizeof ret->path);
        get_text(r, ret->harness, sizeof ret->harness);
        ret->memoryless = get_u8(r);
        ret->difficulty = get_u8(r);
        ret->limit_ms = get_u64(r);
        get_text(r, ret->id, sizeof ret->id);
        return reader_done(r) && is_name(ret->agent) && is_name(ret->task) &&
                               is_name(ret->digest) && is_name(ret->path) && is_name(ret->id) &&
                               text_utf8_valid(ret->harness, strlen(ret->harness)) &&
                               ret->difficulty < RATING_OPPONENTS && ret->limit_ms > 0 &&
                               ret->limit_ms <= MATCH_LONGEST_MS
                       ? 0
                       : store_malformed(err);
}

/* The next of all matches, and of this agent's at this task. */
static int count(struct store *s, const struct start *m, struct value *row, struct error *err)
{
        const struct value values[] = {value_text(m->agent), value_text(m->task)};
        int64_t number, attempt;

        if (store_ask_number(s, "SELECT max(number) FROM matches", NULL, 0, &number, err) < 0 ||
                store_ask_number(s,
                        "SELECT max(attempt_number) FROM matches WHERE agent = $1 AND task = $2",
                        values, 2, &attempt, err) < 0)
                return -1;
        if (number < 0 || number == INT64_MAX || attempt < 0 || attempt == INT64_MAX)
                return error_set(err, CODE_INFRA_STORE,
                        "its matches were changed (`assay results URL verify` says more)");
        row[PLAYED_NUMBER] = value_number(number + 1);
        row[PLAYED_ATTEMPT] = value_number(attempt + 1);
        return 0;
}

static int insert(struct store *s, const struct start *m, int socket, struct error *err)
{
        const struct rating_opponent *opponent = &rating_opponents[m->difficulty];
        char started[STORE_TIME_SIZE], expires[STORE_TIME_SIZE], mac[DIGEST_SIZE];
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        struct value row[PLAYED_COLUMNS] = {
                [PLAYED_ID] = value_text(m->id),
                [PLAYED_AGENT] = value_text(m->agent),
                [PLAYED_TASK] = value_text(m->task),
                [PLAYED_TASK_SHA256] = value_text(m->digest),
                [PLAYED_TASK_PATH] = value_text(m->path),
                [PLAYED_HARNESS] = value_text_or_null(m->harness),
                [PLAYED_MEMORYLESS] = value_number(m->memoryless),
                [PLAYED_DIFFICULTY] = value_text(opponent->name),
                [PLAYED_OPPONENT] = value_number(opponent->rating),
        };
        int64_t now;

        if (s->engine->now(s->database, &now, err) < 0 || match_expire(s, m->agent, now, err) < 0 ||
                count(s, m, row, err) < 0)
                return -1;
        store_time_text(now, started);
        store_time_text(now + (int64_t)m->limit_ms, expires);
        row[PLAYED_STARTED] = value_text(started);
        row[PLAYED_EXPIRES] = value_text(expires);
        if (match_start_mac(s, row, mac, err) < 0 ||
                match_harness_warning(s, m->harness, m->harness, row, err) < 0)
                return -1;
        row[PLAYED_START_MAC] = value_text(mac);
        schema_insert(&sql, TABLE_MATCHES);
        return store_do(s, buffer_text(&sql), row, PLAYED_COLUMNS, err) < 0 ||
                               s->engine->commit(s->database, err) < 0 ||
                               match_send_row(socket, row, PLAYED_COLUMNS, err) < 0
                       ? -1
                       : 0;
}

static int start(struct store *s, int socket, struct reader *r, struct error *err)
{
        struct start m;

        return read_start(&m, r, err) < 0 ? -1 : insert(s, &m, socket, err);
}

/* --- harnesses ------------------------------------------------------------------------------ */

static int add_harness(struct store *s, struct reader *r, struct error *err)
{
        char name[STORE_MAX_NAME], key[STORE_MAX_NAME], mac[DIGEST_SIZE], now[STORE_TIME_SIZE];

        get_text(r, name, sizeof name);
        get_text(r, key, sizeof key);
        if (!reader_done(r) || !is_name(name) ||
                (*key && (strlen(key) != 2 * CHAIN_KEY_SIZE ||
                                 strspn(key, "0123456789abcdef") != strlen(key))))
                return store_malformed(err);
        store_now(now);
        match_harness_mac(s, name, key, mac);
        const struct value values[] = {
                value_text(name), value_text_or_null(key), value_text(now), value_text(mac)};

        return store_do(s,
                       "INSERT INTO harnesses (name, key, registered_at, mac)"
                       " VALUES ($1, $2, $3, $4)"
                       " ON CONFLICT (name) DO UPDATE SET key = excluded.key,"
                       " registered_at = excluded.registered_at, mac = excluded.mac",
                       values, 4, err) < 0
                       ? -1
                       : s->engine->commit(s->database, err);
}

int match_harness_find(struct match_row *ret, struct store *s, const char *name, struct error *err)
{
        const struct value value = value_text(name);
        char mac[DIGEST_SIZE];

        if (match_row_ask(ret, s, "SELECT name, key, mac FROM harnesses WHERE name = $1", &value, 1,
                    err) < 0)
                return -1;
        if (ret->rows == 0)
                return 0;
        match_harness_mac(s, name, match_text(ret, HARNESS_KEY), mac);
        return match_has(ret, HARNESS_MAC, mac)
                       ? 1
                       : error_set(err, CODE_INFRA_STORE, "the harness %.100s was changed", name);
}

int match_harness_warning(struct store *s, const char *harness, const char *started_with,
        struct value *row, struct error *err)
{
        struct match_row found;
        int r = *harness ? match_harness_find(&found, s, harness, err) : 1;

        if (*harness)
                match_row_free(&found);
        if (r >= 0)
                row[PLAYED_WARNING] = r == 0 ? value_text("the harness is not registered with this "
                                                          "store (assay match harness)")
                                      : strcmp(harness, started_with) != 0
                                              ? value_text("the match was not started with this "
                                                           "harness")
                                              : value_text_or_null("");
        return r < 0 ? -1 : 0;
}

/* -------------------------------------------------------------------------------------------- */

static int expire_all(struct store *s, struct reader *r, struct error *err)
{
        int64_t now;

        if (!reader_done(r))
                return store_malformed(err);
        return s->engine->now(s->database, &now, err) < 0 || match_expire(s, "", now, err) < 0
                       ? -1
                       : s->engine->commit(s->database, err);
}

static int answer(struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        switch (type) {
        case MATCH_START:
                return start(s, socket, r, err);
        case MATCH_EXPIRE:
                return expire_all(s, r, err);
        case MATCH_HARNESS:
                return add_harness(s, r, err);
        default:
                return store_malformed(err);
        }
}

int match_take(struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        if (s->engine->begin(s->database, false, err) < 0)
                return -1;
        if (s->engine->lock(s->database, "results", err) < 0 ||
                answer(s, socket, type, r, err) < 0) {
                s->engine->rollback(s->database);
                return -1;
        }
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}
