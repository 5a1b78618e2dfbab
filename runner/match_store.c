/* Asking a store for matches; see match.h. */
#include "match.h"

#include "text.h"

int match_check_name(const char *what, const char *name, struct error *err)
{
        const size_t len = strlen(name);

        return len > 0 && len <= STORE_MAX_AGENT && text_utf8_valid(name, len)
                       ? 0
                       : error_set(err, CODE_USAGE, "%s %.60s: must be 1 to %d bytes of UTF-8",
                                 what, name, STORE_MAX_AGENT);
}

/* A question to a store, which is open until the answer was read. */
static int open_and_ask(struct store_channel *c, const struct store_order *order,
        enum store_message type, const struct buffer *payload, struct error *err)
{
        return store_channel_open(c, order, err) < 0 ||
                               store_channel_ask(c, type, payload, err) < 0 ||
                               store_channel_wait(c, err) < 0
                       ? -1
                       : 0;
}

static int ask_overdue(const char *url, bool *ret, struct error *err)
{
        const struct store_order order = {.url = url};
        const struct buffer nothing = BUFFER_INIT;
        struct store_channel c = STORE_CHANNEL_INIT;
        struct store_values v = {0};
        int r = open_and_ask(&c, &order, MATCH_OVERDUE, &nothing, err);

        if (r == 0)
                r = store_values_only(&c, 1, &v, err);
        *ret = r == 0 && v.values[0].number > 0;
        store_values_free(&v);
        store_channel_close(&c);
        return r;
}

int match_tell(const char *url, enum store_message type, const struct buffer *payload,
        struct store_values *ret, struct error *err)
{
        const struct store_order order = {.url = url, .for_matches = true};
        struct store_channel c = STORE_CHANNEL_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int r = open_and_ask(&c, &order, type, payload, err);

        if (r == 0 && ret)
                r = store_values_only(&c, PLAYED_COLUMNS, ret, err);
        else if (r == 0 && (r = store_channel_next(&c, &f, err)) > 0)
                r = store_channel_malformed(err);
        store_channel_close(&c);
        return r < 0 ? error_add(err, "--store") : 0;
}

int match_end_overdue(const char *url, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        bool some;

        if (ask_overdue(url, &some, err) < 0)
                return error_add(err, "--store");
        return some ? match_tell(url, MATCH_EXPIRE, &nothing, NULL, err) : 0;
}

int match_each(const char *url, enum store_message type, const char *text, unsigned columns,
        match_take_row take, void *to, struct error *err)
{
        const struct store_order order = {.url = url};
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct store_channel c = STORE_CHANNEL_INIT;
        struct store_values v = {0};
        int r;

        if (text)
                put_text(&payload, text);
        r = open_and_ask(&c, &order, type, &payload, err);
        while (r == 0 && (r = store_values_next(&c, columns, &v, err)) > 0) {
                r = take(to, &v, err);
                store_values_free(&v);
        }
        store_channel_close(&c);
        return r;
}

static int take_one(void *to, const struct store_values *v, struct error *err)
{
        struct store_values *one = to;

        if (one->count > 0)
                return store_channel_malformed(err);
        one->count = v->count;
        for (unsigned i = 0; i < v->count; i++) {
                one->values[i] = v->values[i];
                one->values[i].text = strdup(v->values[i].text);
                if (!one->values[i].text)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        return 0;
}

int match_find(const char *url, const char *id, struct store_values *ret, struct error *err)
{
        *ret = (struct store_values){0};
        if (match_each(url, MATCH_SHOW, id, PLAYED_COLUMNS, take_one, ret, err) < 0)
                return -1;
        return ret->count > 0 ? 0 : store_channel_malformed(err);
}

/* --- as a document -------------------------------------------------------------------------- */

static const struct store_column columns[] = {
        {PLAYED_AGENT, "agent", SHOW_AS_IT_IS},
        {PLAYED_TASK, "task", SHOW_AS_IT_IS},
        {PLAYED_TASK_SHA256, "task_sha256", SHOW_AS_IT_IS},
        {PLAYED_STARTED, "started_at", SHOW_AS_IT_IS},
        {PLAYED_EXPIRES, "expires_at", SHOW_AS_IT_IS},
        {PLAYED_ATTEMPT, "attempt_number", SHOW_AS_IT_IS},
        {PLAYED_DIFFICULTY, "difficulty", SHOW_AS_IT_IS},
        {PLAYED_OPPONENT, "opponent_elo", SHOW_AS_IT_IS},
        {PLAYED_MEMORYLESS, "memoryless", SHOW_BOOLEAN},
        {PLAYED_HARNESS, "harness", SHOW_AS_IT_IS},
        {PLAYED_WARNING, "harness_warning", SHOW_AS_IT_IS},
        {PLAYED_SUBMITTED, "submitted_at", SHOW_AS_IT_IS},
        {PLAYED_ANSWER, "answer_sha256", SHOW_AS_IT_IS},
        {PLAYED_RESULT_ID, "result_id", SHOW_AS_IT_IS},
        {PLAYED_RESULT, "result", SHOW_AS_IT_IS},
        {PLAYED_SCORE, "score", SHOW_DECIMAL},
        {PLAYED_BEFORE, "elo_before", SHOW_AS_IT_IS},
        {PLAYED_AFTER, "elo_after", SHOW_AS_IT_IS},
        {PLAYED_CHANGE, "elo_change", SHOW_AS_IT_IS},
        {PLAYED_VERIFIED, "verified", SHOW_BOOLEAN},
        {PLAYED_BENCHMARK, "benchmark", SHOW_BOOLEAN},
        {PLAYED_TRAJECTORY, "trajectory", SHOW_AS_IT_IS},
        {PLAYED_ENDED, "ended_at", SHOW_AS_IT_IS},
};

void match_json(const struct store_values *m, struct json_writer *w)
{
        static const struct store_column id = {PLAYED_ID, "match_id", SHOW_AS_IT_IS};

        store_values_json(m, &id, 1, w);
        store_values_json(m, columns, sizeof columns / sizeof *columns, w);
}

static void add_text(struct buffer *out, const struct store_values *m, unsigned column)
{
        char number[32], escaped[400];
        const char *text = store_value_text(m, column, number);

        text_escape(escaped, sizeof escaped, text, strlen(text));
        buffer_add_text(out, escaped);
}

static void add_part(
        struct buffer *out, const char *before, const struct store_values *m, unsigned column)
{
        buffer_add_text(out, before);
        add_text(out, m, column);
}

void match_line(const struct store_values *m, struct buffer *out)
{
        const bool ended = m->values[PLAYED_RESULT].kind != STORE_NULL;

        add_part(out, "", m, PLAYED_ID);
        add_part(out, "  ", m, PLAYED_STARTED);
        if (ended)
                add_part(out, "  ", m, PLAYED_RESULT);
        else
                buffer_add_text(out,
                        m->values[PLAYED_SUBMITTED].kind != STORE_NULL ? "  handed in" : "  open");
        add_part(out, "  ", m, PLAYED_AGENT);
        add_part(out, ", ", m, PLAYED_TASK);
        add_part(out, ", attempt ", m, PLAYED_ATTEMPT);
        add_part(out, ", against ", m, PLAYED_OPPONENT);
        if (!ended && m->values[PLAYED_SUBMITTED].kind == STORE_NULL)
                add_part(out, ", until ", m, PLAYED_EXPIRES);
        if (m->values[PLAYED_SCORE].kind != STORE_NULL)
                add_part(out, ", score ", m, PLAYED_SCORE);
        if (ended) {
                add_part(out, ", ", m, PLAYED_BEFORE);
                buffer_add_format(out, " %+lld = ", (long long)m->values[PLAYED_CHANGE].number);
                add_text(out, m, PLAYED_AFTER);
        }
        if (ended && m->values[PLAYED_VERIFIED].number)
                buffer_add_text(
                        out, m->values[PLAYED_BENCHMARK].number ? ", benchmark" : ", verified");
        buffer_add_char(out, '\n');
        if (m->values[PLAYED_WARNING].kind != STORE_NULL) {
                add_part(out, "warning: harness ", m, PLAYED_HARNESS);
                add_part(out, ": ", m, PLAYED_WARNING);
                buffer_add_char(out, '\n');
        }
}
