/* Opening a store; see store.h. */
#include "store/store.h"

#include "store/key.h"

#include <time.h>

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

void store_now(char ret[STORE_TIME_SIZE])
{
        char seconds[STORE_TIME_SIZE];
        struct timespec now;
        struct tm tm;

        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &tm);
        strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(ret, STORE_TIME_SIZE, "%.19s.%03ldZ", seconds, now.tv_nsec / 1000000);
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
