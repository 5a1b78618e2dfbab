/* What there is of matches and ratings; see match.h. */
#include "store/match.h"

static int send_row(void *to, const struct value *row, unsigned count, struct error *err)
{
        return match_send_row(*(const int *)to, row, count, err);
}

static int send_all(struct store *s, int socket, const char *sql, const struct value *values,
        unsigned count, struct error *err)
{
        return s->engine->run(s->database, sql, values, count, send_row, &socket, err);
}

int match_show(struct store *s, int socket, const char *id, struct error *err)
{
        struct match_row m;
        int r = match_find(&m, s, id, err);

        if (r == 0)
                r = match_send_row(socket, m.values, PLAYED_COLUMNS, err);
        match_row_free(&m);
        return r;
}

static int list(struct store *s, int socket, const char *agent, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        const struct value value = value_text(agent);

        schema_select(&sql, TABLE_MATCHES);
        buffer_add_text(&sql, *agent ? " WHERE agent = $1 ORDER BY number" : " ORDER BY number");
        return send_all(s, socket, buffer_text(&sql), &value, *agent != '\0', err);
}

static int history(struct store *s, int socket, const char *agent, struct error *err)
{
        const struct value value = value_text(agent);

        return send_all(s, socket,
                "SELECT h.agent, h.position, h.match_id, h.elo_before, h.elo_after, h.streak,"
                " h.best_streak, h.at, h.mac, m.result, m.elo_change"
                " FROM rating_history h JOIN matches m ON m.id = h.match_id"
                " WHERE h.agent = $1 ORDER BY h.position",
                &value, 1, err);
}

/* The best of each agent, of each attempt's last revision; of equal ones the earlier. Where tasks
 * have different scales, it counts how much of the full score it is. */
#define LEADERS(of_task)                                                                           \
        "SELECT b.agent, b.final_score, b.scale, b.task, b.id, b.completed_at,"                    \
        " g.elo, g.matches, g.streak, g.best_streak FROM ("                                        \
        " SELECT s.agent, r.final_score, r.scale, r.task, r.id, r.completed_at, r.number,"         \
        "  r.final_score_number / r.scale AS part,"                                                \
        "  row_number() OVER (PARTITION BY s.agent"                                                \
        "   ORDER BY r.final_score_number / r.scale DESC, r.number) AS place"                      \
        "  FROM evaluation_results r JOIN submissions s ON s.id = r.submission_id"                 \
        "  WHERE r.status = 'graded' AND s.agent <> ''" of_task                                    \
        "  AND NOT EXISTS (SELECT 1 FROM evaluation_results l"                                     \
        "   WHERE l.submission_id = r.submission_id AND l.attempt = r.attempt"                     \
        "   AND l.revision > r.revision)"                                                          \
        ") b LEFT JOIN ratings g ON g.agent = b.agent"                                             \
        " WHERE b.place = 1 ORDER BY b.part DESC, b.number"

static int leaders(struct store *s, int socket, const char *task, struct error *err)
{
        const struct value value = value_text(task);

        return *task ? send_all(s, socket, LEADERS(" AND r.task = $1"), &value, 1, err)
                     : send_all(s, socket, LEADERS(""), NULL, 0, err);
}

static int overdue(struct store *s, int socket, struct error *err)
{
        char now[STORE_TIME_SIZE], patience[STORE_TIME_SIZE];
        int64_t ms;

        if (s->engine->now(s->database, &ms, err) < 0)
                return -1;
        store_time_text(ms, now);
        match_patience(ms, patience);
        const struct value values[] = {value_text(now), value_text(patience)};

        return send_all(s, socket, "SELECT count(*)" MATCH_OVERDUE_ONES, values, 2, err);
}

/* Of each task the last score counts. */
static int scores(struct store *s, int socket, struct error *err)
{
        return send_all(s, socket,
                "SELECT agent, score_exact FROM ("
                " SELECT agent, score_exact, completed_at, result_id,"
                "  row_number() OVER (PARTITION BY agent"
                "   ORDER BY completed_at DESC, result_id DESC) AS place FROM ("
                "  SELECT agent, score_exact, completed_at, result_id,"
                "   row_number() OVER (PARTITION BY agent, task"
                "    ORDER BY completed_at DESC, result_id DESC) AS newest FROM workflow_scores"
                " ) t WHERE newest = 1"
                ") w WHERE place <= 100 ORDER BY agent, completed_at, result_id",
                NULL, 0, err);
}

static const struct {
        unsigned type;
        int (*by_text)(struct store *s, int socket, const char *text, struct error *err);
        int (*all)(struct store *s, int socket, struct error *err);
} answers[] = {
        {MATCH_SHOW, match_show, NULL},
        {MATCH_LIST, list, NULL},
        {MATCH_HISTORY, history, NULL},
        {MATCH_LEADERS, leaders, NULL},
        {MATCH_OVERDUE, NULL, overdue},
        {MATCH_SCORES, NULL, scores},
};

int match_read(struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        char text[STORE_MAX_NAME] = "";

        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
                if (answers[i].type != type)
                        continue;
                if (answers[i].by_text)
                        get_text(r, text, sizeof text);
                if (!reader_done(r))
                        return store_malformed(err);
                if (answers[i].by_text ? answers[i].by_text(s, socket, text, err) < 0
                                       : answers[i].all(s, socket, err) < 0)
                        return -1;
                return 1;
        }
        return 0;
}
