/* One engine of a store, as its tests drive it: a command a line, in the order of engine.h.
 *
 *   engine-driver URL append|read
 *
 * begin [read], lock NAME, commit, rollback, run SQL, each SQL (which runs SELECT 1 at each row),
 * bytes HEX, now, watch, quiet, wait, heard, notify, lost, again, lock-in. What comes of it is
 * printed; what fails, too. */
#include "store/store.h"

#include <poll.h>
#include <unistd.h>

struct driver {
        const struct engine *engine;
        struct database *database;
        const char *url;
        int watch;
        bool nested;
};

static int print_row(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct driver *d = to;

        for (unsigned i = 0; i < count; i++) {
                printf("%s", i > 0 ? "|" : "");
                if (row[i].kind == VALUE_NUMBER)
                        printf("%lld", (long long)row[i].number);
                else if (row[i].kind == VALUE_TEXT)
                        printf("%.*s", (int)row[i].len, row[i].text);
                for (size_t b = 0; row[i].kind == VALUE_BYTES && b < row[i].len; b++)
                        printf("%02x", (unsigned char)row[i].text[b]);
        }
        printf("\n");
        return d->nested ? d->engine->run(d->database, "SELECT 1", NULL, 0, NULL, NULL, err) : 0;
}

static int run_bytes(struct driver *d, const char *digits, struct error *err)
{
        unsigned char bytes[64];
        size_t len = 0;

        for (; digits[0] && digits[1] && len < sizeof bytes; digits += 2) {
                const char pair[] = {digits[0], digits[1], '\0'};

                bytes[len++] = (unsigned char)strtoul(pair, NULL, 16);
        }
        const struct value v = value_bytes(bytes, len);

        return d->engine->run(d->database, "SELECT $1", &v, 1, print_row, d, err);
}

static int hear(struct driver *d, const char *word)
{
        struct pollfd fd = {.fd = d->watch, .events = POLLIN};

        if (strcmp(word, "quiet") == 0)
                printf("%s\n", poll(&fd, 1, 0) > 0 ? "told" : "quiet");
        else if (strcmp(word, "wait") == 0)
                printf("%s\n", poll(&fd, 1, -1) > 0 ? "told" : "failed");
        else
                d->engine->heard(d->database);
        return 0;
}

static int say(struct driver *d, const char *word, const char *rest, struct error *err)
{
        const struct engine *e = d->engine;
        int64_t time = 0;
        int r;

        if (strcmp(word, "begin") == 0)
                return e->begin(d->database, strcmp(rest, "read") == 0, err);
        if (strcmp(word, "lock") == 0)
                return e->lock(d->database, rest, err);
        if (strcmp(word, "commit") == 0)
                return e->commit(d->database, err);
        if (strcmp(word, "rollback") == 0) {
                e->rollback(d->database);
                return 0;
        }
        d->nested = strcmp(word, "each") == 0;
        if (d->nested)
                return e->each(d->database, rest, NULL, 0, print_row, d, err);
        if (strcmp(word, "run") == 0)
                return e->run(d->database, rest, NULL, 0, print_row, d, err);
        if (strcmp(word, "bytes") == 0)
                return run_bytes(d, rest, err);
        if (strcmp(word, "now") == 0) {
                r = e->now(d->database, &time, err);
                printf("%lld\n", (long long)time);
                return r;
        }
        if (strcmp(word, "watch") == 0)
                return e->watch(d->database, &d->watch, err);
        if (strcmp(word, "notify") == 0)
                return e->notify(d->database, err);
        if (strcmp(word, "lost") == 0) {
                printf("%s\n", e->is_lost(d->database) ? "lost" : "there");
                return 0;
        }
        if (strcmp(word, "again") == 0)
                return e->connect_again(d->database, err);
        if (strcmp(word, "lock-in") == 0)
                return store_lock_in(d->url, e->is_remote, err);
        return hear(d, word);
}

int main(int argc, char **argv)
{
        struct error err = {0};
        struct driver d = {.watch = -1};
        char line[4096];

        if (argc != 3)
                return 2;
        d.url = argv[1];
        d.engine = store_is_postgres(d.url) ? &engine_postgres : &engine_sqlite;
        if (d.engine->open(&d.database, d.url,
                    strcmp(argv[2], "append") == 0 ? STORE_APPEND : STORE_READ, &err) < 0) {
                printf("failed: %s\n", err.text);
                return 1;
        }
        setvbuf(stdout, NULL, _IOLBF, 0);
        while (fgets(line, sizeof line, stdin)) {
                char *rest = line + strcspn(line, " \n");

                if (*rest)
                        *rest++ = '\0';
                rest[strcspn(rest, "\n")] = '\0';
                err = (struct error){0};
                if (say(&d, line, rest, &err) < 0)
                        printf("failed: %s\n", err.text);
                else
                        printf("%s.\n", line);
        }
        d.engine->close(d.database);
        return 0;
}
