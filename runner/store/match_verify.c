/* Were matches, ratings or scores of workflows changed? See match.h and verify.c. */
#include "store/match.h"

struct check {
        struct store *store;
        match_report report;
        void *to;
        int64_t last;             /* number of a match */
        char before[DIGEST_SIZE]; /* of the agent's history */
        char agent[STORE_MAX_NAME];
        int64_t position;
};

static bool is(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

static int tell(struct check *c, const struct value *where, const char *what, struct error *err)
{
        char name[STORE_MAX_NAME];

        value_copy(where, name, sizeof name);
        return c->report(c->to, name, what, err);
}

static int check_start(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        const int64_t number = row[PLAYED_NUMBER].number;
        char mac[DIGEST_SIZE];

        (void)count;
        if (number != c->last + 1 &&
                tell(c, &row[PLAYED_ID], "matches before this one were removed", err) < 0)
                return -1;
        c->last = number;
        if (match_start_mac(c->store, row, mac, err) < 0)
                return -1;
        return is(&row[PLAYED_START_MAC], mac)
                       ? 0
                       : tell(c, &row[PLAYED_ID], "what this match was started with was changed",
                                 err);
}

static int check_history(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        struct match_row m;
        char mac[DIGEST_SIZE] = "";
        int r;

        (void)count;
        if (!is(&row[HISTORY_AGENT], c->agent)) {
                value_copy(&row[HISTORY_AGENT], c->agent, sizeof c->agent);
                *c->before = '\0';
                c->position = 0;
        }
        value_copy(&row[HISTORY_MATCH], mac, sizeof mac);
        r = match_find(&m, c->store, mac, err);
        if (r == 0)
                r = match_end_mac(c->store, c->before, m.values, row, mac, err);
        else if (err->code == CODE_MATCH_UNKNOWN)
                r = 0;
        match_row_free(&m);
        if (r == 0 &&
                (!is(&row[HISTORY_MAC], mac) || row[HISTORY_POSITION].number != ++c->position))
                r = tell(c, &row[HISTORY_MATCH],
                        "this match, or what it did to the rating of its agent, was changed, or "
                        "one before it was removed",
                        err);
        c->position = row[HISTORY_POSITION].number;
        value_copy(&row[HISTORY_MAC], c->before, sizeof c->before);
        return r;
}

static int check_workflow(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        char mac[DIGEST_SIZE];

        (void)count;
        if (match_workflow_mac(c->store, row, mac, err) < 0)
                return -1;
        return is(&row[FLOW_MAC], mac)
                       ? 0
                       : tell(c, &row[FLOW_RESULT], "the score of this workflow was changed", err);
}

static int check_harness(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        char name[STORE_MAX_NAME], key[STORE_MAX_NAME], mac[DIGEST_SIZE];

        (void)count;
        value_copy(&row[HARNESS_NAME], name, sizeof name);
        value_copy(&row[HARNESS_KEY], key, DIGEST_SIZE);
        match_harness_mac(c->store, name, key, mac);
        return is(&row[HARNESS_MAC], mac)
                       ? 0
                       : tell(c, &row[HARNESS_NAME], "this harness was changed", err);
}

static int report_row(void *to, const struct value *row, unsigned count, struct error *err)
{
        char what[STORE_MAX_NAME];

        (void)count;
        value_copy(&row[1], what, sizeof what);
        return tell(to, &row[0], what, err);
}

/* Each row of these is a problem. */
static const char *const rest[] = {
        "SELECT id, 'this match has ended, and its agent''s history does not know it' FROM matches"
        " WHERE result IS NOT NULL AND id NOT IN (SELECT match_id FROM rating_history)",
        "SELECT id, 'the result of this match is not what its score was' FROM matches m"
        " WHERE result IN ('win', 'draw', 'loss') AND NOT EXISTS (SELECT 1"
        "  FROM evaluation_results r WHERE r.id = m.result_id AND r.task = m.task"
        "  AND r.task_sha256 = m.task_sha256"
        "  AND (r.outcome = m.result OR (r.status <> 'graded' AND m.result = 'loss')))",
        "SELECT agent, 'this rating is not what the last match made it' FROM ratings g"
        " WHERE NOT EXISTS (SELECT 1 FROM rating_history h WHERE h.agent = g.agent"
        "  AND h.position = g.matches AND h.elo_after = g.elo AND h.streak = g.streak"
        "  AND h.best_streak = g.best_streak AND NOT EXISTS (SELECT 1 FROM rating_history l"
        "   WHERE l.agent = h.agent AND l.position > h.position))",
        "SELECT DISTINCT agent, 'the rating of this agent was removed' FROM rating_history"
        " WHERE agent NOT IN (SELECT agent FROM ratings)",
};

static int each(
        struct check *c, enum store_table t, const char *order, take_row take, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;

        schema_select(&sql, t);
        buffer_add_format(&sql, " ORDER BY %s", order);
        return c->store->engine->run(c->store->database, buffer_text(&sql), NULL, 0, take, c, err);
}

int match_verify(struct store *s, match_report report, void *to, struct error *err)
{
        struct check c = {.store = s, .report = report, .to = to};

        if (each(&c, TABLE_MATCHES, "number", check_start, err) < 0 ||
                each(&c, TABLE_HISTORY, "agent, position", check_history, err) < 0 ||
                each(&c, TABLE_WORKFLOWS, "result_id", check_workflow, err) < 0 ||
                s->engine->run(s->database, "SELECT name, key, mac FROM harnesses ORDER BY name",
                        NULL, 0, check_harness, &c, err) < 0)
                return -1;
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
                if (s->engine->run(s->database, rest[i], NULL, 0, report_row, &c, err) < 0)
                        return -1;
        return 0;
}
