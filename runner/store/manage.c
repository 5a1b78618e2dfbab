/* What an operator asks of the queue; see queue.h. */
#include "store/queue.h"

static const char *const states[] = {
        "queued", "waiting", "running", "done", "parked", "cancelled", NULL};
enum { STATES = 6 };

/* What nobody renews any more does not run, though nobody has looked yet. */
static int count_alive(struct store *s, int64_t now, int64_t *ret, struct error *err)
{
        const struct value at = value_number(now);

        return store_ask_number(s,
                "SELECT count(*) FROM jobs WHERE state = 'running' AND lease_until >= $1", &at, 1,
                ret, err);
}

struct counts {
        uint64_t of[STATES];
};

static int take_count(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct counts *c = to;
        char state[32];

        (void)count;
        (void)err;
        value_copy(&row[0], state, sizeof state);
        for (unsigned i = 0; i < STATES; i++)
                if (strcmp(states[i], state) == 0)
                        c->of[i] = (uint64_t)row[1].number;
        return 0;
}

static int answer_counts(struct store *s, int socket, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct counts c = {{0}};
        int64_t now, oldest, alive, paused;

        if (s->engine->now(s->database, &now, err) < 0 ||
                s->engine->run(s->database, "SELECT state, count(*) FROM jobs GROUP BY state", NULL,
                        0, take_count, &c, err) < 0 ||
                store_ask_number(s,
                        "SELECT min(queued_at) FROM jobs WHERE state IN ('queued', 'waiting')",
                        NULL, 0, &oldest, err) < 0 ||
                count_alive(s, now, &alive, err) < 0 ||
                store_ask_number(s, "SELECT paused FROM queue", NULL, 0, &paused, err) < 0)
                return -1;
        for (unsigned i = 0; i < STATES; i++)
                put_u64(&out, c.of[i]);
        put_u64(&out, oldest > 0 && oldest < now ? (uint64_t)(now - oldest) : 0);
        put_u64(&out, (uint64_t)alive);
        put_u8(&out, paused != 0);
        return frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}

struct upcoming {
        struct buffer tasks;
        uint32_t count;
};

static int take_upcoming(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct upcoming *u = to;

        (void)count;
        (void)err;
        store_put_short(&u->tasks, &row[0]);
        u->count++;
        return 0;
}

static int answer_upcoming(struct store *s, int socket, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct upcoming u = {.tasks = BUFFER_INIT};
        int r = s->engine->run(s->database,
                "SELECT task_sha256 FROM (SELECT task_sha256, round, place FROM jobs"
                " WHERE state = 'queued' ORDER BY round, place, id LIMIT 64) AS soon"
                " GROUP BY task_sha256 ORDER BY min(round), min(place)",
                NULL, 0, take_upcoming, &u, err);

        put_u32(&out, u.count);
        buffer_add(&out, u.tasks.data, u.tasks.len);
        buffer_free(&u.tasks);
        return r < 0 ? -1 : frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}

/* --- the jobs themselves -------------------------------------------------------------------- */

static int send_job(void *to, const struct value *row, unsigned count, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        const int *socket = to;

        for (unsigned i = 0; i < count; i++)
                if (i < JOB_TEXTS)
                        store_put_short(&out, &row[i]);
                else
                        put_u64(&out, row[i].kind == VALUE_NUMBER ? (uint64_t)row[i].number : 0);
        return frame_send(*socket, STORE_ENTRY, &out, NULL, 0, err);
}

#define JOB_COLUMNS                                                                                \
        "SELECT j.id, j.submission_id, j.task, j.agent, j.state, j.result_id, j.code, j.reason,"   \
        " j.worker, r.status, r.outcome, r.final_score, j.tries, j.max_tries, j.queued_at,"        \
        " j.started_at, j.ended_at, j.not_before FROM jobs j"                                      \
        " LEFT JOIN evaluation_results r ON r.id = j.result_id "

static int answer_jobs(
        struct store *s, int socket, unsigned type, const char *which, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        const char *const sql =
                type == STORE_JOB ? JOB_COLUMNS "WHERE j.id = $1"
                : *which          ? JOB_COLUMNS "WHERE j.state = $1 ORDER BY j.queued_at, j.id"
                         : JOB_COLUMNS "WHERE j.state IN ('queued', 'waiting', 'running', 'parked')"
                                       " ORDER BY j.queued_at, j.id";
        const struct value value = value_text(which);

        if (s->engine->run(s->database, sql, &value, type == STORE_JOB || *which, send_job, &socket,
                    err) < 0)
                return -1;
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

/* --- changing them -------------------------------------------------------------------------- */

struct change {
        struct store *store;
        unsigned type;
        char job[STORE_MAX_ID];
        bool pause;
        uint64_t count;
};

static int count_row(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct change *c = to;

        (void)row;
        (void)count;
        (void)err;
        c->count++;
        return 0;
}

/* They come after those who wait, in their order of then. */
static int retry(struct change *c, const struct value *job, struct error *err)
{
        _cleanup_buffer_ struct buffer ids = BUFFER_INIT;

        if (store_do(c->store,
                    "UPDATE submissions SET status = 'pending', completed_at = NULL, evaluated = 0"
                    " WHERE id IN (SELECT submission_id FROM jobs"
                    " WHERE state = 'parked' AND (id = $1 OR $1 = ''))",
                    job, 1, err) < 0 ||
                queue_ids(c->store,
                        "SELECT id FROM jobs WHERE state = 'parked' AND (id = $1 OR $1 = '')"
                        " ORDER BY round, place, id",
                        job, 1, &ids, err) < 0)
                return -1;
        for (size_t at = 0; at < ids.len; at += strlen((const char *)ids.data + at) + 1) {
                if (queue_again(c->store, (const char *)ids.data + at, err) < 0)
                        return -1;
                c->count++;
        }
        return c->store->engine->notify(c->store->database, err);
}

static int cancel(struct change *c, const struct value *job, struct error *err)
{
        char ended[STORE_TIME_SIZE];
        int64_t now;

        if (c->store->engine->now(c->store->database, &now, err) < 0)
                return -1;
        store_now(ended);
        const struct value leaves[] = {value_text(ended), *job};
        const struct value values[] = {*job, value_number(now)};

        return job_leave(c->store, "id = $2 AND state IN ('queued', 'waiting', 'parked')", leaves,
                       2, err) < 0 ||
                               c->store->engine->run(c->store->database,
                                       "UPDATE jobs SET state = 'cancelled', ended_at = $2"
                                       " WHERE id = $1 AND state IN ('queued', 'waiting', 'parked')"
                                       " RETURNING 1",
                                       values, 2, count_row, c, err) < 0
                       ? -1
                       : 0;
}

static int pause_or_go(struct change *c, struct error *err)
{
        const struct value pause = value_number(c->pause);
        int64_t now, running;

        if (c->store->engine->now(c->store->database, &now, err) < 0)
                return -1;
        if (store_do(c->store, "UPDATE queue SET paused = $1", &pause, 1, err) < 0 ||
                count_alive(c->store, now, &running, err) < 0 ||
                c->store->engine->notify(c->store->database, err) < 0)
                return -1;
        c->count = (uint64_t)running;
        return 0;
}

static int change(void *to, struct error *err)
{
        struct change *c = to;
        const struct value job = value_text(c->job);

        c->count = 0;
        if (c->store->engine->lock(c->store->database, LOCK_JOBS, err) < 0)
                return -1;
        return c->type == STORE_RETRY    ? retry(c, &job, err)
               : c->type == STORE_CANCEL ? cancel(c, &job, err)
                                         : pause_or_go(c, err);
}

static int answer_change(
        struct store *s, int socket, unsigned type, struct reader *r, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct change c = {.store = s, .type = type};

        if (type == STORE_PAUSE)
                c.pause = get_u8(r);
        else
                get_text(r, c.job, sizeof c.job);
        if (!reader_done(r) || (type == STORE_CANCEL && !*c.job))
                return store_malformed(err);
        if (store_transact(s, change, NULL, &c, err) < 0)
                return -1;
        put_u64(&out, c.count);
        return frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}

int manage_answer(struct store *s, int socket, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        char which[STORE_MAX_ID];

        if (f->type == STORE_QUEUE)
                return reader_done(&r) ? answer_counts(s, socket, err) : store_malformed(err);
        if (f->type == STORE_UPCOMING)
                return reader_done(&r) ? answer_upcoming(s, socket, err) : store_malformed(err);
        if (f->type != STORE_JOBS && f->type != STORE_JOB)
                return answer_change(s, socket, f->type, &r, err);
        get_text(&r, which, sizeof which);
        return reader_done(&r) ? answer_jobs(s, socket, f->type, which, err) : store_malformed(err);
}
