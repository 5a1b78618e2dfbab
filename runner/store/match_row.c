/* Rows of matches, and their macs; see match.h. */
#include "store/match.h"

static int take(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct match_row *m = to;

        m->rows++;
        for (unsigned i = 0; i < count; i++) {
                struct buffer *text = &m->texts[i];

                m->values[i] = row[i];
                if (row[i].kind != VALUE_TEXT)
                        continue;
                buffer_clear(text);
                buffer_add(text, row[i].text, row[i].len);
                m->values[i].text = buffer_text(text);
                if (!buffer_ok(text))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        return 0;
}

int match_row_ask(struct match_row *ret, struct store *s, const char *sql,
        const struct value *values, unsigned count, struct error *err)
{
        *ret = (struct match_row){0};
        for (unsigned i = 0; i < STORED_COLUMNS; i++)
                ret->texts[i] = (struct buffer)BUFFER_INIT;
        return s->engine->run(s->database, sql, values, count, take, ret, err);
}

void match_row_free(struct match_row *r)
{
        for (unsigned i = 0; i < STORED_COLUMNS; i++)
                buffer_free(&r->texts[i]);
}

int match_find(struct match_row *ret, struct store *s, const char *id, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        const struct value name = value_text(id);

        schema_select(&sql, TABLE_MATCHES);
        buffer_add_text(&sql, " WHERE id = $1");
        if (match_row_ask(ret, s, buffer_text(&sql), &name, 1, err) < 0)
                return -1;
        return ret->rows > 0 ? 0
                             : error_set(err, CODE_MATCH_UNKNOWN,
                                       "%.64s: the store has no such match", id);
}

const char *match_text(const struct match_row *r, unsigned column)
{
        return r->values[column].kind == VALUE_TEXT ? r->values[column].text : "";
}

bool match_has(const struct match_row *r, unsigned column, const char *text)
{
        const struct value *v = &r->values[column];

        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

/* Like all that is shown, it is short, whatever somebody wrote into the database. */
int match_send_row(int socket, const struct value *row, unsigned count, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        put_u32(&out, count);
        for (unsigned i = 0; i < count; i++) {
                const enum value_kind kind = row[i].kind == VALUE_BYTES ? VALUE_NULL : row[i].kind;

                put_u8(&out, (uint8_t)kind);
                if (kind == VALUE_NUMBER)
                        put_u64(&out, (uint64_t)row[i].number);
                else if (kind == VALUE_TEXT)
                        put_bytes(&out, row[i].text,
                                strnlen(row[i].text,
                                        row[i].len < STORE_MAX_NAME ? row[i].len : STORE_MAX_NAME));
        }
        return frame_send(socket, STORE_VALUES, &out, NULL, 0, err);
}

/* --- macs ----------------------------------------------------------------------------------- */

static int finish(const struct store *s, const char *before, const struct buffer *rows,
        char ret[DIGEST_SIZE], struct error *err)
{
        if (!buffer_ok(rows))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_mac(&s->key, before, rows, ret);
        return 0;
}

int match_start_mac(
        const struct store *s, const struct value *match, char ret[DIGEST_SIZE], struct error *err)
{
        _cleanup_buffer_ struct buffer rows = BUFFER_INIT;
        struct value start[PLAYED_COLUMNS] = {0};

        memcpy(start, match, PLAYED_START_MAC * sizeof *start);
        chain_add_row(&rows, TABLE_MATCHES, start);
        return finish(s, "", &rows, ret, err);
}

int match_end_mac(const struct store *s, const char *before, const struct value *match,
        const struct value *history, char ret[DIGEST_SIZE], struct error *err)
{
        _cleanup_buffer_ struct buffer rows = BUFFER_INIT;

        chain_add_row(&rows, TABLE_MATCHES, match);
        chain_add_row(&rows, TABLE_HISTORY, history);
        return finish(s, before, &rows, ret, err);
}

/* A key has 64 digits or none, so the two cannot be taken for another pair. */
void match_harness_mac(
        const struct store *s, const char *name, const char *key, char ret[DIGEST_SIZE])
{
        char text[STORE_MAX_NAME + DIGEST_SIZE + 2];

        snprintf(text, sizeof text, "%s\n%s", key, name);
        chain_mac_text(&s->key, "assay.store.harness/1", text, ret);
}
