/* Taking jobs, keeping them and giving them back; see queue.h. A job is its worker's for as long as
 * the lease is renewed; whoever takes it next gets a higher lease, and only the highest counts. */
#include "store/queue.h"

enum { MOST_MS = 3600000, IDLE_MS = 10000 };

struct claim {
        struct store *store;
        char worker[STORE_MAX_KEY + 1], job[STORE_MAX_ID];
        uint32_t lease_ms;
        int64_t now, round, place;
        struct buffer out;
        bool found, paused;
        int64_t next; /* when it may be different; 0: nothing is known of */
};

/* --- what time alone changes ---------------------------------------------------------------- */

/* What was put off is due; what a worker no longer renews is anybody's, or has used up its tries.
 */
static int lapse(struct claim *c, struct error *err)
{
        char now[STORE_TIME_SIZE];

        store_now(now);
        const struct value at = value_number(c->now);
        const struct value ended[] = {value_text(now), at};
        const struct value parked[] = {at, value_text(code_info(CODE_WORKER_LOST)->name)};
        int64_t due;

        if (store_ask_number(c->store,
                    "SELECT (SELECT count(*) FROM jobs WHERE state = 'waiting' AND not_before <= "
                    "$1) + (SELECT count(*) FROM jobs WHERE state = 'running' AND lease_until < "
                    "$1)",
                    &at, 1, &due, err) < 0)
                return -1;
        if (due == 0)
                return 0;
        /* Who changes several jobs is alone, or two could wait for each other. */
        if (c->store->engine->lock(c->store->database, LOCK_JOBS, err) < 0)
                return -1;
        return store_do(c->store,
                       "UPDATE jobs SET state = 'queued', not_before = NULL"
                       " WHERE state = 'waiting' AND not_before <= $1",
                       &at, 1, err) < 0 ||
                               job_leave(c->store,
                                       "state = 'running' AND lease_until < $2"
                                       " AND tries >= max_tries",
                                       ended, 2, err) < 0 ||
                               store_do(c->store,
                                       "UPDATE jobs SET state = 'parked', code = $2,"
                                       " reason = 'whoever graded it ended without a result, '"
                                       " || tries || ' times', ended_at = $1, lease_until = NULL"
                                       " WHERE state = 'running' AND lease_until < $1"
                                       " AND tries >= max_tries",
                                       parked, 2, err) < 0 ||
                               store_do(c->store,
                                       "UPDATE jobs SET state = 'queued', lease_until = NULL"
                                       " WHERE state = 'running' AND lease_until < $1",
                                       &at, 1, err) < 0
                       ? -1
                       : 0;
}

static int take_next_time(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct claim *c = to;

        (void)err;
        for (unsigned i = 0; i < count; i++)
                if (row[i].kind == VALUE_NUMBER && (c->next == 0 || row[i].number < c->next))
                        c->next = row[i].number;
        return 0;
}

static int find_next_time(struct claim *c, struct error *err)
{
        return c->store->engine->run(c->store->database,
                "SELECT (SELECT min(not_before) FROM jobs WHERE state = 'waiting'),"
                " (SELECT min(lease_until) FROM jobs WHERE state = 'running')",
                NULL, 0, take_next_time, c, err);
}

/* --- one job -------------------------------------------------------------------------------- */

enum { CLAIM_TEXTS = 10 }; /* of STORE_CLAIMED, in its order */

static int take_job(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct claim *c = to;

        (void)count;
        (void)err;
        for (unsigned i = 0; i < CLAIM_TEXTS; i++)
                put_bytes(&c->out, row[i].kind == VALUE_TEXT ? row[i].text : "",
                        row[i].kind == VALUE_TEXT ? row[i].len : 0);
        value_copy(&row[0], c->job, sizeof c->job);
        put_u64(&c->out, (uint64_t)row[CLAIM_TEXTS].number + 1);
        put_u32(&c->out, (uint32_t)row[CLAIM_TEXTS + 1].number + 1);
        put_u64(&c->out, (uint64_t)(c->now - row[CLAIM_TEXTS + 2].number));
        c->round = row[CLAIM_TEXTS + 3].number;
        c->place = row[CLAIM_TEXTS + 4].number;
        c->found = true;
        return 0;
}

static int find_job(struct claim *c, struct error *err)
{
        char sql[512];

        snprintf(sql, sizeof sql,
                "SELECT id, submission_id, task, task_sha256, archive_sha256, agent, llm_score,"
                " time_used, seed, match_id, lease, tries, queued_at, round, place FROM jobs"
                " WHERE state = 'queued' ORDER BY round, place, id LIMIT 1%s",
                c->store->engine->skip_locked);
        return c->store->engine->run(c->store->database, sql, NULL, 0, take_job, c, err);
}

static int mark_job(struct claim *c, struct error *err)
{
        const struct value job[] = {value_text(c->job), value_number(c->now),
                value_number(c->now + c->lease_ms), value_text(c->worker)};
        const struct value turn[] = {value_number(c->round), value_number(c->place)};

        return store_do(c->store,
                       "UPDATE jobs SET state = 'running', lease = lease + 1,"
                       " tries = tries + 1, started_at = $2, lease_until = $3,"
                       " worker = $4 WHERE id = $1",
                       job, 4, err) < 0 ||
                               store_do(c->store,
                                       "UPDATE queue SET round = $1, place = $2 WHERE round < $1"
                                       " OR (round = $1 AND place < $2)",
                                       turn, 2, err) < 0
                       ? -1
                       : 0;
}

static int claim(void *to, struct error *err)
{
        struct claim *c = to;
        int64_t paused;

        c->found = false;
        c->next = 0;
        c->out.len = 0;
        if (c->store->engine->now(c->store->database, &c->now, err) < 0 || lapse(c, err) < 0 ||
                store_ask_number(c->store, "SELECT paused FROM queue", NULL, 0, &paused, err) < 0)
                return -1;
        c->paused = paused != 0;
        if (!c->paused && find_job(c, err) < 0)
                return -1;
        return c->found ? mark_job(c, err) : find_next_time(c, err);
}

/* A new connection is durable. */
static int set_durable(struct store *s, bool yes, struct error *err)
{
        return s->engine->durable(s->database, yes, err) == 0 ? 0 : store_connect_again(s, err);
}

static int answer_claim(struct store *s, int socket, struct reader *r, struct error *err)
{
        struct claim c = {.store = s, .out = BUFFER_INIT};
        struct error unsaid;
        int result;

        get_text(r, c.worker, sizeof c.worker);
        c.lease_ms = get_u32(r);
        if (!reader_done(r) || c.lease_ms == 0 || c.lease_ms > MOST_MS)
                return store_malformed(err);
        /* A claim that a machine forgets as it fails is a job that waits still. Whatever is
         * committed afterwards has to last: else nothing goes on. */
        if (set_durable(s, false, err) < 0)
                return -1;
        result = store_transact(s, claim, NULL, &c, err);
        if (set_durable(s, true, result == 0 ? err : &unsaid) < 0)
                result = -1;
        if (result == 0 && !c.found) {
                const int64_t wait = c.next == 0 ? IDLE_MS : c.next - c.now + 1;

                c.out.len = 0;
                put_u64(&c.out, wait < 1 ? 1 : wait > IDLE_MS ? IDLE_MS : (uint64_t)wait);
                put_u8(&c.out, c.paused);
        }
        if (result == 0)
                result = frame_send(
                        socket, c.found ? STORE_CLAIMED : STORE_NONE, &c.out, NULL, 0, err);
        buffer_free(&c.out);
        return result;
}

/* --- keeping them --------------------------------------------------------------------------- */

struct renewal {
        struct store *store;
        uint32_t ms, count;
        struct job_lease leases[STORE_MAX_LEASES];
        bool held[STORE_MAX_LEASES];
};

static int renew(void *to, struct error *err)
{
        struct renewal *n = to;
        int64_t now, unused;

        if (n->store->engine->lock(n->store->database, LOCK_JOBS, err) < 0 ||
                n->store->engine->now(n->store->database, &now, err) < 0)
                return -1;
        for (uint32_t i = 0; i < n->count; i++) {
                const struct value values[] = {value_number(now + n->ms),
                        value_text(n->leases[i].job), value_number(n->leases[i].lease)};
                const int found = store_ask_number(n->store,
                        "UPDATE jobs SET lease_until = $1 WHERE id = $2 AND lease = $3"
                        " AND state = 'running' RETURNING 1",
                        values, 3, &unused, err);

                if (found < 0)
                        return -1;
                n->held[i] = found > 0;
        }
        return 0;
}

static int answer_renew(struct store *s, int socket, struct reader *r, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct renewal n = {.store = s, .ms = get_u32(r), .count = get_u32(r)};

        if (n.count > STORE_MAX_LEASES || n.ms == 0 || n.ms > MOST_MS)
                return store_malformed(err);
        for (uint32_t i = 0; i < n.count; i++) {
                get_text(r, n.leases[i].job, sizeof n.leases[i].job);
                n.leases[i].lease = (int64_t)get_u64(r);
        }
        if (!reader_done(r))
                return store_malformed(err);
        if (store_transact(s, renew, NULL, &n, err) < 0)
                return -1;
        for (uint32_t i = 0; i < n.count; i++)
                put_u8(&out, n.held[i]);
        return frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}

/* --- giving one back ------------------------------------------------------------------------ */

struct giving {
        struct store *store;
        struct job_lease lease;
        struct error why;
};

static int give_back(void *to, struct error *err)
{
        struct giving *g = to;
        const struct code_info *code = code_info(g->why.code);
        const struct value values[] = {value_text(g->lease.job), value_number(g->lease.lease)};
        enum job_fate fate;

        if (g->why.code == CODE_INTERRUPTED)
                return store_do(g->store,
                        "UPDATE jobs SET state = 'queued', tries = tries - 1, lease_until = NULL"
                        " WHERE id = $1 AND lease = $2 AND state = 'running'",
                        values, 2, err);
        if (job_decide(g->store, &g->lease, code->class == CLASS_INFRA, &fate, err) < 0)
                return -1;
        return job_settle(g->store, &g->lease, fate == JOB_WAITS ? JOB_WAITS : JOB_PARKS, "",
                code->name, g->why.text, err);
}

static int answer_give_back(struct store *s, int socket, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        struct giving g = {.store = s};

        get_text(r, g.lease.job, sizeof g.lease.job);
        g.lease.lease = (int64_t)get_u64(r);
        g.lease.retry_ms = get_u32(r);
        get_error(r, &g.why);
        if (!reader_done(r))
                return store_malformed(err);
        return store_transact(s, give_back, NULL, &g, err) < 0
                       ? -1
                       : frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

int claim_answer(struct store *s, int socket, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        return f->type == STORE_CLAIM   ? answer_claim(s, socket, &r, err)
               : f->type == STORE_RENEW ? answer_renew(s, socket, &r, err)
                                        : answer_give_back(s, socket, &r, err);
}
