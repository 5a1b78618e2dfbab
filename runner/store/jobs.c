/* A job's row, and its turn; see queue.h. */
#include "store/queue.h"

struct turn {
        int64_t round, place;
};

struct whose {
        char agent[STORE_MAX_AGENT + 1], task[STORE_MAX_NAME];
};

static int take_turn(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct turn *t = to;

        (void)count;
        (void)err;
        *t = (struct turn){row[0].number, row[1].number};
        return 0;
}

/* Behind what was taken last, and behind the agent's own, also where that has had its turn: who
 * comes back at once would keep those waiting who submitted twice. And behind the task's in that
 * round. */
static int find_turn(
        struct store *s, const struct job_row *job, struct turn *ret, struct error *err)
{
        const struct value agent = value_text(job->agent);
        struct turn last = {0, 0};
        int64_t round, place;

        if (s->engine->run(s->database, "SELECT round, place FROM queue", NULL, 0, take_turn, &last,
                    err) < 0)
                return -1;
        *ret = last;
        /* Who is nobody in particular is many. */
        if (*job->agent) {
                if (store_ask_number(s,
                            "SELECT coalesce(max(round) + 1, 0) FROM jobs"
                            " WHERE agent = $1 AND state <> 'cancelled'",
                            &agent, 1, &round, err) < 0)
                        return -1;
                if (round > last.round)
                        *ret = (struct turn){round, 0};
        }
        const struct value values[] = {value_number(ret->round), value_text(job->task)};

        if (store_ask_number(s,
                    "SELECT coalesce(max(place) + 1, 0) FROM jobs"
                    " WHERE round = $1 AND task = $2 AND state = 'queued'",
                    values, 2, &place, err) < 0)
                return -1;
        if (place > ret->place)
                ret->place = place;
        return 0;
}

int queue_add(struct store *s, const struct job_row *job, int64_t now, struct error *err)
{
        struct turn turn;

        if (find_turn(s, job, &turn, err) < 0)
                return -1;
        const struct value row[] = {value_text(job->id), value_text(job->submission),
                value_text(job->task), value_text(job->task_sha256), value_text(job->archive),
                value_text(job->agent), value_text_or_null(job->llm_score),
                value_text_or_null(job->time_used), value_text_or_null(job->seed),
                value_text_or_null(job->match), value_text_or_null(job->rejudges),
                value_text_or_null(job->key), value_text(job->request), value_number(turn.round),
                value_number(turn.place), value_number(job->max_tries), value_number(now)};

        return store_do(s,
                       "INSERT INTO jobs (id, submission_id, task, task_sha256,"
                       " archive_sha256, agent, llm_score, time_used, seed, match_id,"
                       " rejudges, idempotency_key, request_sha256, round, place,"
                       " max_tries, queued_at, state, tries, lease)"
                       " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
                       " $14, $15, $16, $17, 'queued', 0, 0)",
                       row, sizeof row / sizeof *row, err) < 0 ||
                               s->engine->notify(s->database, err) < 0
                       ? -1
                       : 0;
}

static int take_whose(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct whose *w = to;

        (void)count;
        (void)err;
        value_copy(&row[0], w->agent, sizeof w->agent);
        value_copy(&row[1], w->task, sizeof w->task);
        return 0;
}

int queue_again(struct store *s, const char *id, struct error *err)
{
        const struct value name = value_text(id);
        struct whose w = {.agent = ""};
        const struct job_row job = {.id = id, .agent = w.agent, .task = w.task};
        struct turn turn;

        if (s->engine->run(s->database, "SELECT agent, task FROM jobs WHERE id = $1", &name, 1,
                    take_whose, &w, err) < 0 ||
                find_turn(s, &job, &turn, err) < 0)
                return -1;
        const struct value row[] = {name, value_number(turn.round), value_number(turn.place)};

        return store_do(s,
                "UPDATE jobs SET state = 'queued', tries = 0, ended_at = NULL, result_id = NULL,"
                " round = $2, place = $3 WHERE id = $1",
                row, 3, err);
}

static int take_id(void *to, const struct value *row, unsigned count, struct error *err)
{
        (void)count;
        (void)err;
        buffer_add(to, row[0].text, row[0].len);
        buffer_add_char(to, '\0');
        return 0;
}

int queue_ids(struct store *s, const char *sql, const struct value *values, unsigned count,
        struct buffer *ret, struct error *err)
{
        ret->len = 0;
        if (s->engine->run(s->database, sql, values, count, take_id, ret, err) < 0)
                return -1;
        return buffer_ok(ret) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}
