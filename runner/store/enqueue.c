/* A new job: an archive and a task's snapshot are stored by their digests, and the job gets its
 * turn, in one transaction. See queue.h. */
#include "store/match.h"
#include "store/queue.h"

#include "text.h"

#include <arpa/inet.h>

enum { MINUTE_MS = 60000, MOST_PER_MINUTE = 1000000 };

struct request {
        struct store *store;
        char job[STORE_MAX_ID], submission[STORE_MAX_ID], task[STORE_MAX_NAME];
        char task_sha256[DIGEST_SIZE], agent[STORE_MAX_AGENT + 1], address[INET6_ADDRSTRLEN + 8];
        char key[STORE_MAX_KEY + 1], llm_score[STORE_MAX_NUMBER], time_used[STORE_MAX_NUMBER];
        char seed[STORE_MAX_NUMBER], match[STORE_MAX_ID];
        uint32_t per_minute, max_tries;
        struct queue_file archive, snapshot;
        char digest[DIGEST_SIZE];
        bool repeated;          /* it is a job of before, asked for with the same key */
        int64_t retry_after_ms; /* > 0: refused */
};

/* --- whose it is ---------------------------------------------------------------------------- */

/* One customer of a network has 2^64 addresses of IPv6. */
static int normalise_address(char *text, size_t size, struct error *err)
{
        static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
        unsigned char bytes[16] = {0};

        if (!*text)
                return 0;
        if (inet_pton(AF_INET, text, bytes) == 1) {
                inet_ntop(AF_INET, bytes, text, (socklen_t)size);
                return 0;
        }
        if (inet_pton(AF_INET6, text, bytes) != 1)
                return error_set(err, CODE_USAGE, "--source-ip %s: not an address", text);
        if (memcmp(bytes, mapped, sizeof mapped) == 0) {
                inet_ntop(AF_INET, bytes + sizeof mapped, text, (socklen_t)size);
                return 0;
        }
        memset(bytes + 8, 0, 8);
        inet_ntop(AF_INET6, bytes, text, (socklen_t)size);
        strncat(text, "/64", size - strlen(text) - 1);
        return 0;
}

/* One after the other, and only then is it read what time it is: who waited would not see those
 * who came before it as such. */
static int look_at_clock(struct request *q, int64_t *ret, struct error *err)
{
        const struct engine *e = q->store->engine;

        if (*q->address && e->lock(q->store->database, q->address, err) < 0)
                return -1;
        return e->now(q->store->database, ret, err);
}

/* As many within a minute as are allowed: the next when the first of those is older. */
static int check_rate(struct request *q, int64_t now, struct error *err)
{
        const struct value values[] = {value_text(q->address), value_number(now - MINUTE_MS),
                value_number((int64_t)q->per_minute - 1), value_number(now)};
        const struct value minute[] = {values[1], values[3]};
        int64_t at;
        int found;

        if (!*q->address || q->per_minute == 0)
                return 0;
        found = store_ask_number(q->store,
                "SELECT at FROM arrivals WHERE address = $1 AND at > $2 AND at <= $4"
                " ORDER BY at DESC LIMIT 1 OFFSET $3",
                values, 4, &at, err);
        if (found < 0)
                return -1;
        if (found > 0) {
                q->retry_after_ms = at + MINUTE_MS - now;
                return 0;
        }
        const struct value arrival[] = {value_text(q->address), value_number(now)};

        /* The clock may have been set back since. */
        return store_do(q->store, "DELETE FROM arrivals WHERE at <= $1 OR at > $2", minute, 2,
                       err) < 0 ||
                               store_do(q->store,
                                       "INSERT INTO arrivals (address, at) VALUES ($1, $2)",
                                       arrival, 2, err) < 0
                       ? -1
                       : 0;
}

/* --- asked for before ----------------------------------------------------------------------- */

static void digest_request(struct request *q)
{
        const char *const asked[] = {q->task_sha256, q->archive.sha256, q->agent, q->llm_score,
                q->time_used, q->seed, q->match};
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
                put_text(&b, asked[i]);
        chain_digest(&b, q->digest);
}

static int find_repeated(struct request *q, struct error *err)
{
        const struct value key = value_text(q->key);
        char digest[DIGEST_SIZE];
        int found;

        if (!*q->key)
                return 0;
        if (q->store->engine->lock(q->store->database, q->key, err) < 0)
                return -1;
        found = store_ask_text(q->store,
                "SELECT request_sha256 FROM jobs WHERE idempotency_key = $1", &key, 1, digest,
                sizeof digest, err);
        if (found <= 0)
                return found;
        if (strcmp(digest, q->digest) != 0)
                return error_set(err, CODE_SUBMIT_KEY,
                        "--idempotency-key %s: was given with another submission", q->key);
        q->repeated = true;
        return store_ask_text(q->store, "SELECT id FROM jobs WHERE idempotency_key = $1", &key, 1,
                       q->job, sizeof q->job, err) < 0 ||
                               store_ask_text(q->store,
                                       "SELECT submission_id FROM jobs WHERE idempotency_key = $1",
                                       &key, 1, q->submission, sizeof q->submission, err) < 0
                       ? -1
                       : 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int add_submission(struct request *q, struct error *err)
{
        struct store_submission s = {
                .task = q->task, .archive = q->archive.sha256, .agent = q->agent};
        const struct value address[] = {value_text_or_null(q->address), value_text(q->submission)};

        snprintf(s.id, sizeof s.id, "%s", q->submission);
        if (store_find_submission(q->store, &s, err) < 0)
                return -1;
        snprintf(q->submission, sizeof q->submission, "%.*s", STORE_MAX_ID - 1, s.id);
        const struct value now[] = {address[0], value_text(q->submission)};

        return store_do(q->store,
                "UPDATE submissions SET source_ip = $1, status = 'pending', completed_at = NULL,"
                " evaluated = 0 WHERE id = $2",
                now, 2, err);
}

static int add_job(struct request *q, int64_t now, struct error *err)
{
        const struct job_row job = {
                .id = q->job,
                .submission = q->submission,
                .task = q->task,
                .task_sha256 = q->task_sha256,
                .archive = q->archive.sha256,
                .agent = q->agent,
                .llm_score = q->llm_score,
                .time_used = q->time_used,
                .seed = q->seed,
                .match = q->match,
                .rejudges = "",
                .key = q->key,
                .request = q->digest,
                .max_tries = q->max_tries,
        };

        return queue_add(q->store, &job, now, err);
}

/* From here on the time of the match stands still. */
static int enter_match(struct request *q, int64_t now, struct error *err)
{
        const struct match_answer answer = {q->task, q->task_sha256, q->archive.sha256, now};
        struct append_order order = {.job = NULL};

        if (!*q->match)
                return 0;
        snprintf(order.agent, sizeof order.agent, "%s", q->agent);
        snprintf(order.match, sizeof order.match, "%s", q->match);
        return match_hand_in(q->store, &order, &answer, err);
}

static int add_all(void *to, struct error *err)
{
        struct request *q = to;
        int64_t now;

        q->repeated = false;
        q->retry_after_ms = 0;
        if (find_repeated(q, err) < 0)
                return -1;
        if (q->repeated)
                return 1;
        if (look_at_clock(q, &now, err) < 0 || check_rate(q, now, err) < 0)
                return -1;
        if (q->retry_after_ms > 0)
                return 1;
        return enter_match(q, now, err) < 0 || files_put(q->store, &q->archive, err) < 0 ||
                               (q->snapshot.fd >= 0 &&
                                       files_put(q->store, &q->snapshot, err) < 0) ||
                               add_submission(q, err) < 0 || add_job(q, now, err) < 0
                       ? -1
                       : 0;
}

/* Was it committed before the connection was lost? */
static int is_there(void *to, struct error *err)
{
        struct request *q = to;
        const struct value job = value_text(q->job);
        int64_t count;

        if (store_ask_number(
                    q->store, "SELECT count(*) FROM jobs WHERE id = $1", &job, 1, &count, err) < 0)
                return -1;
        return count > 0;
}

static bool is_id(const char *text)
{
        return *text && text_utf8_valid(text, strlen(text));
}

static bool take(struct request *q, struct reader *r)
{
        get_text(r, q->job, sizeof q->job);
        get_text(r, q->submission, sizeof q->submission);
        get_text(r, q->task, sizeof q->task);
        get_text(r, q->task_sha256, sizeof q->task_sha256);
        get_text(r, q->agent, sizeof q->agent);
        get_text(r, q->address, sizeof q->address);
        get_text(r, q->key, sizeof q->key);
        get_text(r, q->llm_score, sizeof q->llm_score);
        get_text(r, q->time_used, sizeof q->time_used);
        get_text(r, q->seed, sizeof q->seed);
        get_text(r, q->match, sizeof q->match);
        q->per_minute = get_u32(r);
        q->max_tries = get_u32(r);
        return reader_done(r) && is_id(q->job) && is_id(q->submission) && is_id(q->task) &&
               text_utf8_valid(q->agent, strlen(q->agent)) &&
               text_utf8_valid(q->key, strlen(q->key)) && q->per_minute <= MOST_PER_MINUTE &&
               q->max_tries > 0;
}

int queue_enqueue(struct store *s, int socket, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct request q = {.store = s, .archive.fd = -EBADF, .snapshot.fd = -EBADF};

        if (!take(&q, &r) || f->fd_count < 1 || f->fd_count > 2)
                return store_malformed(err);
        q.archive.fd = f->fds[0];
        if (f->fd_count == 2)
                q.snapshot.fd = f->fds[1];
        if (normalise_address(q.address, sizeof q.address, err) < 0 ||
                files_digest(&q.archive, err) < 0 ||
                (q.snapshot.fd >= 0 && files_digest(&q.snapshot, err) < 0))
                return -1;
        /* A snapshot is stored by the digest of the task that it is of. */
        snprintf(q.snapshot.name, sizeof q.snapshot.name, "%s", q.task_sha256);
        digest_request(&q);
        if (store_transact(s, add_all, is_there, &q, err) < 0)
                return -1;
        put_text(&out, q.job);
        put_text(&out, q.submission);
        put_u8(&out, q.repeated);
        put_u64(&out, (uint64_t)q.retry_after_ms);
        return frame_send(socket, STORE_QUEUED, &out, NULL, 0, err);
}
