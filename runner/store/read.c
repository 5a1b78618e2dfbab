/* Listing and showing results; see messages.h. */
#include "store/match.h"

struct listing {
        int socket;
        unsigned rows;
};

static int send_entry(void *to, const struct value *row, unsigned count, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        const struct listing *l = to;

        put_u64(&out, (uint64_t)row[0].number);
        for (unsigned i = 1; i < count - 2; i++)
                store_put_short(&out, &row[i]);
        put_u32(&out, (uint32_t)row[count - 2].number);
        put_u32(&out, (uint32_t)row[count - 1].number);
        return frame_send(l->socket, STORE_ENTRY, &out, NULL, 0, err);
}

static int list(struct store *s, struct listing *l, struct error *err)
{
        return s->engine->run(s->database,
                "SELECT r.number, r.id, r.submission_id, r.task, s.agent, r.status, r.outcome,"
                " r.final_score, r.code, r.completed_at, r.attempt, r.revision"
                " FROM evaluation_results r JOIN submissions s ON s.id = r.submission_id"
                " ORDER BY r.number",
                NULL, 0, send_entry, l, err);
}

static int send_pieces(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct listing *l = to;

        (void)count;
        l->rows++;
        for (size_t at = 0; at < row[0].len; at += STORE_MAX_PIECE) {
                const size_t left = row[0].len - at;
                _cleanup_buffer_ struct buffer out = BUFFER_INIT;

                put_bytes(&out, row[0].text + at, left < STORE_MAX_PIECE ? left : STORE_MAX_PIECE);
                if (frame_send(l->socket, STORE_PIECE, &out, NULL, 0, err) < 0)
                        return -1;
        }
        return 0;
}

static int show(
        struct store *s, struct listing *l, const char *sql, struct reader *r, struct error *err)
{
        char id[STORE_MAX_NAME];
        struct value value;

        get_text(r, id, sizeof id);
        if (!reader_done(r))
                return store_malformed(err);
        value = value_text(id);
        if (s->engine->run(s->database, sql, &value, 1, send_pieces, l, err) < 0)
                return -1;
        return l->rows > 0 ? 0 : error_set(err, CODE_USAGE, "%s: the store has no such result", id);
}

static int answer_head(struct store *s, struct listing *l, struct error *err)
{
        char head[STORE_HEAD_SIZE];
        struct value value;

        if (verify_head(s, head, err) < 0)
                return -1;
        value = value_text(head);
        return send_pieces(l, &value, 1, err);
}

static int verify(struct store *s, int socket, struct reader *r, struct error *err)
{
        char head[STORE_HEAD_SIZE];

        get_text(r, head, sizeof head);
        return reader_done(r) ? verify_answer(s, socket, head, err) : store_malformed(err);
}

static int answer(struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        struct listing l = {.socket = socket};
        const int matches = match_read(s, socket, type, r, err);

        if (matches != 0)
                return matches;
        if (type == STORE_SHOW)
                return show(s, &l, "SELECT result FROM evaluation_results WHERE id = $1", r, err);
        if (type == STORE_PASS_DATA)
                return show(s, &l, "SELECT eval_pass_data FROM evaluation_results WHERE id = $1", r,
                        err);
        if (type == STORE_VERIFY)
                return verify(s, socket, r, err);
        if (!reader_done(r))
                return store_malformed(err);
        return type == STORE_LIST   ? list(s, &l, err)
               : type == STORE_HEAD ? answer_head(s, &l, err)
                                    : store_malformed(err);
}

int read_take(struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        int result;

        if (s->engine->begin(s->database, true, err) < 0)
                return -1;
        result = answer(s, socket, type, r, err);
        s->engine->rollback(s->database);
        return result < 0 ? -1 : frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}
