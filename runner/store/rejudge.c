/* Grading again what has a result: a new job for the same submission, whose result is its next
 * attempt; see queue.h. */
#include "store/queue.h"

#include "ulid.h"

enum { MOST_AT_ONCE = 1000000 };

struct again {
        char id[STORE_MAX_ID], submission[STORE_MAX_ID], task[STORE_MAX_NAME];
        char task_sha256[DIGEST_SIZE], archive[DIGEST_SIZE], agent[STORE_MAX_AGENT + 1];
        char llm_score[STORE_MAX_NUMBER], time_used[STORE_MAX_NUMBER], seed[STORE_MAX_NUMBER];
        char result[STORE_MAX_ID];
        uint32_t max_tries;
};

struct rejudge {
        struct store *store;
        char task[STORE_MAX_NAME], result[STORE_MAX_ID], task_sha256[DIGEST_SIZE];
        bool infra;
        struct queue_file snapshot;
        struct buffer ids; /* of the jobs that are to be done again, each with a NUL */
        uint64_t count;
};

/* The last job of each submission, where it has ended; what was cancelled never was one. */
static int find_jobs(struct rejudge *j, struct error *err)
{
        const struct value values[] = {value_text(j->task), value_text(j->result),
                value_number(j->infra), value_number(MOST_AT_ONCE)};

        return queue_ids(j->store,
                "SELECT j.id FROM jobs j LEFT JOIN evaluation_results r ON r.id = j.result_id"
                " WHERE j.state IN ('done', 'parked') AND (j.task = $1 OR $1 = '')"
                " AND (j.result_id = $2 OR $2 = '')"
                " AND (CAST($3 AS INTEGER) = 0 OR r.class = 'infra' OR j.state = 'parked')"
                " AND NOT EXISTS (SELECT 1 FROM jobs n WHERE n.submission_id = j.submission_id"
                "  AND n.state <> 'cancelled' AND (n.queued_at > j.queued_at OR (n.queued_at = "
                "j.queued_at AND n.id > j.id)))"
                " ORDER BY j.queued_at, j.id LIMIT $4",
                values, 4, &j->ids, err);
}

static int take_again(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct again *a = to;
        const struct {
                char *to;
                size_t size;
        } texts[] = {{a->submission, sizeof a->submission}, {a->task, sizeof a->task},
                {a->task_sha256, sizeof a->task_sha256}, {a->archive, sizeof a->archive},
                {a->agent, sizeof a->agent}, {a->llm_score, sizeof a->llm_score},
                {a->time_used, sizeof a->time_used}, {a->seed, sizeof a->seed},
                {a->result, sizeof a->result}};
        enum { TEXTS = sizeof texts / sizeof *texts };

        (void)count;
        (void)err;
        for (unsigned i = 0; i < TEXTS; i++)
                value_copy(&row[i], texts[i].to, texts[i].size);
        a->max_tries = (uint32_t)row[TEXTS].number;
        return 0;
}

static int add_again(struct rejudge *j, const char *id, int64_t now, struct error *err)
{
        const struct value name = value_text(id);
        struct again a = {.max_tries = 0};

        if (ulid_new(a.id, err) < 0 ||
                j->store->engine->run(j->store->database,
                        "SELECT submission_id, task, task_sha256, archive_sha256, agent, llm_score,"
                        " time_used, seed, result_id, max_tries FROM jobs WHERE id = $1",
                        &name, 1, take_again, &a, err) < 0)
                return -1;
        const struct job_row job = {
                .id = a.id,
                .submission = a.submission,
                .task = a.task,
                .task_sha256 = *j->task_sha256 ? j->task_sha256 : a.task_sha256,
                .archive = a.archive,
                .agent = a.agent,
                .llm_score = a.llm_score,
                .time_used = a.time_used,
                .seed = a.seed,
                .match = "",
                .rejudges = *a.result ? a.result : id,
                .key = "",
                .request = "",
                .max_tries = a.max_tries,
        };
        const struct value submission = value_text(a.submission);

        return queue_add(j->store, &job, now, err) < 0 ||
                               store_do(j->store,
                                       "UPDATE submissions SET status = 'pending',"
                                       " completed_at = NULL, evaluated = 0 WHERE id = $1",
                                       &submission, 1, err) < 0
                       ? -1
                       : 0;
}

static int add_all(void *to, struct error *err)
{
        struct rejudge *j = to;
        int64_t now;

        j->count = 0;
        if (j->store->engine->lock(j->store->database, LOCK_JOBS, err) < 0 ||
                j->store->engine->now(j->store->database, &now, err) < 0 || find_jobs(j, err) < 0 ||
                (j->snapshot.fd >= 0 && files_put(j->store, &j->snapshot, err) < 0))
                return -1;
        for (size_t at = 0; at < j->ids.len; at += strlen((const char *)j->ids.data + at) + 1) {
                if (add_again(j, (const char *)j->ids.data + at, now, err) < 0)
                        return -1;
                j->count++;
        }
        return 0;
}

int rejudge_answer(struct store *s, int socket, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct rejudge j = {.store = s, .ids = BUFFER_INIT, .snapshot.fd = -EBADF};
        int result;

        get_text(&r, j.task, sizeof j.task);
        get_text(&r, j.result, sizeof j.result);
        j.infra = get_u8(&r);
        get_text(&r, j.task_sha256, sizeof j.task_sha256);
        if (!reader_done(&r) || f->fd_count > 1 || (f->fd_count == 1 && !*j.task_sha256) ||
                (!*j.task && !*j.result && !j.infra))
                return store_malformed(err);
        if (f->fd_count == 1) {
                j.snapshot.fd = f->fds[0];
                if (files_digest(&j.snapshot, err) < 0)
                        return -1;
                snprintf(j.snapshot.name, sizeof j.snapshot.name, "%s", j.task_sha256);
        }
        result = store_transact(s, add_all, NULL, &j, err);
        buffer_free(&j.ids);
        if (result < 0)
                return -1;
        put_u64(&out, j.count);
        return frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}
