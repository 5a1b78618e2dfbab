/* How a job ends, in the transaction that stores its result; see queue.h. */
#include "store/queue.h"

enum { MOST_WAIT_MS = 300000, MOST_DOUBLINGS = 16 };

struct tries {
        int64_t now, most;
};

static int take_tries(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct tries *t = to;

        (void)count;
        (void)err;
        *t = (struct tries){row[0].number, row[1].number};
        return 0;
}

static int find_tries(
        struct store *s, const struct job_lease *l, struct tries *ret, struct error *err)
{
        const struct value values[] = {value_text(l->job), value_number(l->lease)};

        *ret = (struct tries){0, 0};
        if (s->engine->run(s->database,
                    "SELECT tries, max_tries FROM jobs WHERE id = $1 AND lease = $2"
                    " AND state = 'running'",
                    values, 2, take_tries, ret, err) < 0)
                return -1;
        return ret->most > 0 ? 0
                             : error_set(err, CODE_LEASE_LOST,
                                       "job %s is another worker's by now, or was ended", l->job);
}

int job_decide(struct store *s, const struct job_lease *l, bool infra, enum job_fate *ret,
        struct error *err)
{
        struct tries t;

        if (find_tries(s, l, &t, err) < 0)
                return -1;
        *ret = !infra ? JOB_ENDS : t.now < t.most ? JOB_WAITS : JOB_PARKS;
        return 0;
}

/* Twice as long each time. */
static int64_t wait_ms(uint32_t first, int64_t tries)
{
        int64_t ms = first;

        for (int64_t i = 1; i < tries && i < MOST_DOUBLINGS && ms < MOST_WAIT_MS; i++)
                ms *= 2;
        return ms < MOST_WAIT_MS ? ms : MOST_WAIT_MS;
}

#define LAST_STATUS                                                                                \
        "(SELECT r.status FROM evaluation_results r WHERE r.submission_id = submissions.id"        \
        " ORDER BY r.number DESC LIMIT 1)"

int job_leave(struct store *s, const char *which, const struct value *values, unsigned count,
        struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;

        buffer_add_format(&sql,
                "UPDATE submissions SET status = CASE " LAST_STATUS " WHEN 'graded' THEN"
                "  'completed' WHEN 'pending' THEN 'pending' ELSE 'failed' END,"
                " evaluated = CASE " LAST_STATUS " WHEN 'graded' THEN 1 ELSE 0 END,"
                " completed_at = CASE " LAST_STATUS " WHEN 'pending' THEN NULL ELSE $1 END"
                " WHERE id IN (SELECT submission_id FROM jobs WHERE %s)"
                " AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.submission_id = submissions.id"
                "  AND o.state IN ('queued', 'waiting', 'running') AND o.id NOT IN"
                "  (SELECT id FROM jobs WHERE %s))",
                which, which);
        return buffer_ok(&sql) ? store_do(s, buffer_text(&sql), values, count, err)
                               : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int job_settle(struct store *s, const struct job_lease *l, enum job_fate fate,
        const char *result_id, const char *code, const char *reason, struct error *err)
{
        static const char *const states[] = {
                [JOB_ENDS] = "done", [JOB_WAITS] = "waiting", [JOB_PARKS] = "parked"};
        const struct value nothing = {.kind = VALUE_NULL};
        struct tries t;
        char ended[STORE_TIME_SIZE];
        int64_t now;

        if (find_tries(s, l, &t, err) < 0 || s->engine->now(s->database, &now, err) < 0)
                return -1;
        store_now(ended);
        const bool waits = fate == JOB_WAITS;
        const struct value values[] = {value_text(l->job), value_text(states[fate]),
                waits ? value_number(now + wait_ms(l->retry_ms, t.now)) : nothing,
                waits ? nothing : value_number(now), value_text_or_null(waits ? "" : result_id),
                value_text_or_null(code), value_text_or_null(reason)};
        const struct value submission[] = {value_text(ended), value_text(l->job)};

        if (fate == JOB_PARKS && !*result_id && job_leave(s, "id = $2", submission, 2, err) < 0)
                return -1;
        return store_do(s,
                       "UPDATE jobs SET state = $2, not_before = $3, ended_at = $4,"
                       " result_id = $5, code = $6, reason = $7, lease_until = NULL"
                       " WHERE id = $1",
                       values, 7, err) < 0 ||
                               s->engine->notify(s->database, err) < 0
                       ? -1
                       : 0;
}
