/* Matches end here; see match.h. What an answer is worth is decided from the score of its result,
 * and the rating from the last row of the agent's history: nothing of that is said by assay. */
#include "store/match.h"

#include "evaluators/rating.h"

enum { LEAST_WIN = 700, LEAST_DRAW = 400, MOST_SCORE = 1000 };
enum { WIN, DRAW, LOSS, EXPIRED };
static const char *const results[] = {"win", "draw", "loss", "expired"};

static int tampered(struct error *err)
{
        return error_set(err, CODE_INFRA_STORE,
                "its matches were changed (`assay results URL verify` says more)");
}

static bool is(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

/* --- the rating ----------------------------------------------------------------------------- */

/* What came of a match. */
struct outcome {
        unsigned result;
        bool verified;
        const char *ended; /* a time */
};

/* The last row of the agent's history, or one of before the first. */
struct standing {
        int64_t position, elo, streak, best;
        char mac[DIGEST_SIZE];
};

static int find_standing(
        struct store *s, const struct value *agent, struct standing *ret, struct error *err)
{
        enum { POSITION, ELO, STREAK, BEST, MAC };
        struct match_row row;
        int r = match_row_ask(&row, s,
                "SELECT position, elo_after, streak, best_streak, mac FROM rating_history"
                " WHERE agent = $1 ORDER BY position DESC LIMIT 1",
                agent, 1, err);

        *ret = (struct standing){.elo = RATING_FIRST};
        if (r == 0 && row.rows > 0) {
                ret->position = row.values[POSITION].number;
                ret->elo = row.values[ELO].number;
                ret->streak = row.values[STREAK].number;
                ret->best = row.values[BEST].number;
                value_copy(&row.values[MAC], ret->mac, sizeof ret->mac);
        }
        match_row_free(&row);
        if (r == 0 && (ret->position < 0 || ret->position > INT32_MAX || ret->elo < RATING_LEAST ||
                              ret->elo > RATING_MOST || ret->streak < 0 || ret->best < 0))
                return tampered(err);
        return r;
}

static int64_t rate(const struct standing *before, const struct match_row *m,
        const struct outcome *o, bool benchmark)
{
        const struct match match = {
                .own = (int32_t)before->elo,
                .opponent = (int32_t)m->values[PLAYED_OPPONENT].number,
                .result = o->result,
                .matches = (uint32_t)before->position,
                .verified = o->verified,
                .benchmark = benchmark,
        };

        return o->result == EXPIRED ? before->elo : rating_after(&match);
}

static int update_match(struct store *s, const struct match_row *m, struct error *err)
{
        static const unsigned set[] = {PLAYED_TRAJECTORY, PLAYED_RESULT_ID, PLAYED_RESULT,
                PLAYED_SCORE, PLAYED_BEFORE, PLAYED_AFTER, PLAYED_CHANGE, PLAYED_VERIFIED,
                PLAYED_BENCHMARK, PLAYED_ENDED, PLAYED_ID};
        struct value values[sizeof set / sizeof *set];

        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
                values[i] = m->values[set[i]];
        return store_do(s,
                "UPDATE matches SET trajectory = $1, result_id = $2, result = $3, score = $4,"
                " elo_before = $5, elo_after = $6, elo_change = $7, verified = $8, benchmark = $9,"
                " ended_at = $10 WHERE id = $11",
                values, sizeof set / sizeof *set, err);
}

static int insert_history(
        struct store *s, const struct match_row *m, struct value *row, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        const struct value rating[] = {m->values[PLAYED_AGENT], row[HISTORY_AFTER],
                row[HISTORY_POSITION], row[HISTORY_STREAK], row[HISTORY_BEST]};

        schema_insert(&sql, TABLE_HISTORY);
        if (store_do(s, buffer_text(&sql), row, HISTORY_COLUMNS, err) < 0)
                return -1;
        return store_do(s,
                "INSERT INTO ratings (agent, elo, matches, streak, best_streak)"
                " VALUES ($1, $2, $3, $4, $5)"
                " ON CONFLICT (agent) DO UPDATE SET elo = excluded.elo, matches = excluded.matches,"
                " streak = excluded.streak, best_streak = excluded.best_streak",
                rating, 5, err);
}

/* The rest of the match's row, and the agent's next of history. */
static int end_match(
        struct store *s, struct match_row *m, const struct outcome *o, struct error *err)
{
        struct value *v = m->values;
        const bool benchmark =
                o->verified && v[PLAYED_MEMORYLESS].number == 1 && v[PLAYED_ATTEMPT].number == 1;
        struct standing before;
        char mac[DIGEST_SIZE];
        int64_t after, streak;

        if (find_standing(s, &v[PLAYED_AGENT], &before, err) < 0)
                return -1;
        if (v[PLAYED_OPPONENT].number < 0 || v[PLAYED_OPPONENT].number > RATING_MOST)
                return tampered(err);
        after = rate(&before, m, o, benchmark);
        streak = o->result == WIN ? before.streak + 1 : 0;
        v[PLAYED_RESULT] = value_text(results[o->result]);
        v[PLAYED_BEFORE] = value_number(before.elo);
        v[PLAYED_AFTER] = value_number(after);
        v[PLAYED_CHANGE] = value_number(after - before.elo);
        v[PLAYED_VERIFIED] = value_number(o->verified);
        v[PLAYED_BENCHMARK] = value_number(benchmark);
        v[PLAYED_ENDED] = value_text(o->ended);
        struct value history[HISTORY_COLUMNS] = {
                [HISTORY_AGENT] = v[PLAYED_AGENT],
                [HISTORY_POSITION] = value_number(before.position + 1),
                [HISTORY_MATCH] = v[PLAYED_ID],
                [HISTORY_BEFORE] = v[PLAYED_BEFORE],
                [HISTORY_AFTER] = v[PLAYED_AFTER],
                [HISTORY_STREAK] = value_number(streak),
                [HISTORY_BEST] = value_number(streak > before.best ? streak : before.best),
                [HISTORY_AT] = v[PLAYED_ENDED],
        };

        if (match_end_mac(s, before.mac, v, history, mac, err) < 0)
                return -1;
        history[HISTORY_MAC] = value_text(mac);
        return update_match(s, m, err) < 0 ? -1 : insert_history(s, m, history, err);
}

/* --- by its answer -------------------------------------------------------------------------- */

enum way { SCORED, LOST, WAITS, STAYS };

/* What a result without a score means: a rejected answer, and one that a limit ended, has lost; a
 * verdict may still come; for everything else the agent can do nothing. */
static enum way way_of(const struct value *row)
{
        const struct value *status = &row[STORED_STATUS], *class = &row[STORED_CLASS];

        if (is(status, "graded"))
                return SCORED;
        if (is(status, "pending") || is(class, "judge"))
                return WAITS;
        return is(status, "rejected") || is(class, "submission") || is(class, "limit") ? LOST
                                                                                       : STAYS;
}

/* 0 to 1000, and what that is; assay must say the same. */
static int result_of(const struct value *row, unsigned *ret, struct error *err)
{
        char text[16], *end;
        unsigned long score;

        value_copy(&row[STORED_FINAL], text, sizeof text);
        score = strtoul(text, &end, 10);
        *ret = score >= LEAST_WIN ? WIN : score >= LEAST_DRAW ? DRAW : LOSS;
        return *text < '0' || *text > '9' || *end || score > MOST_SCORE ||
                               row[STORED_SCALE].number != MOST_SCORE ||
                               !is(&row[STORED_OUTCOME], results[*ret])
                       ? error_set(err, CODE_INTERNAL_FRAME, "a match's result is not as agreed")
                       : 0;
}

static int settle(
        struct store *s, struct match_row *m, const struct match_end *end, struct error *err)
{
        const struct value *row = end->result;
        const enum way way = way_of(row);
        struct outcome o = {.result = LOSS, .ended = end->now};

        if (way == STAYS)
                return 0;
        if (!is(&row[STORED_TASK], match_text(m, PLAYED_TASK)) ||
                !is(&row[STORED_TASK_SHA256], match_text(m, PLAYED_TASK_SHA256)))
                return error_set(err, CODE_MATCH_TASK,
                        "the task is not the one that the match was started with");
        m->values[PLAYED_RESULT_ID] = row[STORED_ID];
        if (way == WAITS)
                return update_match(s, m, err);
        if (way == SCORED && result_of(row, &o.result, err) < 0)
                return -1;
        m->values[PLAYED_SCORE] = row[STORED_FINAL];
        o.verified = way == SCORED && (is(&m->values[PLAYED_TRAJECTORY], "signed") ||
                                              is(&m->values[PLAYED_TRAJECTORY], "self-reported"));
        return end_match(s, m, &o, err);
}

static struct value name_trajectory(const struct match_entry *e)
{
        if (!e->hashing)
                return value_text_or_null("");
        if (!e->valid || e->signature == SIGNATURE_BAD)
                return value_text("invalid");
        return value_text(e->signature == SIGNATURE_GOOD ? "signed" : "self-reported");
}

/* A verdict that comes later ends the match that waits for it, if one does. */
static int find_waiting(
        struct store *s, const char *supersedes, char id[STORE_MAX_NAME], struct error *err)
{
        const struct value result = value_text(supersedes);

        return store_ask_text(s, "SELECT id FROM matches WHERE result_id = $1 AND result IS NULL",
                &result, 1, id, STORE_MAX_NAME, err);
}

int match_settle(struct store *s, const struct match_end *end, struct error *err)
{
        char id[STORE_MAX_NAME];
        struct match_row m;
        int r;

        snprintf(id, sizeof id, "%s", end->match);
        if (!*id && *end->supersedes && find_waiting(s, end->supersedes, id, err) < 0)
                return -1;
        if (!*id)
                return 0;
        if (*end->match && !end->entry->entered)
                return error_set(err, CODE_INTERNAL_FRAME, "a match ends without an answer");
        r = match_find(&m, s, id, err);
        if (r == 0 && *end->match)
                m.values[PLAYED_TRAJECTORY] = name_trajectory(end->entry);
        if (r == 0 && m.values[PLAYED_RESULT].kind != VALUE_NULL)
                r = error_set(err, CODE_MATCH_ENDED, "the match %.64s has ended: %s", id,
                        match_text(&m, PLAYED_RESULT));
        if (r == 0)
                r = settle(s, &m, end, err);
        match_row_free(&m);
        return r;
}

/* --- by its time ---------------------------------------------------------------------------- */

/* It ended when its time was over, whenever somebody notices. */
static int expire_one(struct store *s, const char *id, struct error *err)
{
        struct match_row m;
        int r = match_find(&m, s, id, err);

        if (r == 0) {
                const struct outcome o = {
                        .result = EXPIRED, .ended = match_text(&m, PLAYED_EXPIRES)};

                r = end_match(s, &m, &o, err);
        }
        match_row_free(&m);
        return r;
}

/* Longer than the intake may take. */
void match_patience(int64_t now, char ret[STORE_TIME_SIZE])
{
        const int64_t ms = INT64_C(10) * 60 * 1000;

        store_time_text(now > ms ? now - ms : 0, ret);
}

int match_expire(struct store *s, const char *agent, int64_t then, struct error *err)
{
        char id[STORE_MAX_NAME], now[STORE_TIME_SIZE], patience[STORE_TIME_SIZE];
        int r;

        store_time_text(then, now);
        match_patience(then, patience);
        const struct value values[] = {value_text(now), value_text(patience), value_text(agent)};

        while ((r = store_ask_text(s,
                        "SELECT id" MATCH_OVERDUE_ONES
                        " AND ($3 = '' OR agent = $3) ORDER BY expires_at, number LIMIT 1",
                        values, 3, id, sizeof id, err)) > 0)
                if (expire_one(s, id, err) < 0)
                        return -1;
        return r;
}
