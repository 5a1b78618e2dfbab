/* One job of a worker; see worker.h. */
#include "worker.h"

#include "clock.h"
#include "fd.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the queue says of a job. */
struct claimed {
        char job[STORE_MAX_ID], submission[STORE_MAX_ID], task[STORE_MAX_NAME];
        char task_sha256[DIGEST_SIZE], archive[DIGEST_SIZE], agent[STORE_MAX_AGENT + 1];
        char llm_score[STORE_MAX_NUMBER], time_used[STORE_MAX_NUMBER], seed[STORE_MAX_NUMBER];
        char match[STORE_MAX_ID];
        uint64_t lease, waited_ms;
        uint32_t try;
};

static int take_claimed(struct claimed *c, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        get_text(&r, c->job, sizeof c->job);
        get_text(&r, c->submission, sizeof c->submission);
        get_text(&r, c->task, sizeof c->task);
        get_text(&r, c->task_sha256, sizeof c->task_sha256);
        get_text(&r, c->archive, sizeof c->archive);
        get_text(&r, c->agent, sizeof c->agent);
        get_text(&r, c->llm_score, sizeof c->llm_score);
        get_text(&r, c->time_used, sizeof c->time_used);
        get_text(&r, c->seed, sizeof c->seed);
        get_text(&r, c->match, sizeof c->match);
        c->lease = get_u64(&r);
        c->try = get_u32(&r);
        c->waited_ms = get_u64(&r);
        return reader_done(&r) ? 0 : store_channel_malformed(err);
}

/* 1, or 0: there is nothing at the moment. */
static int ask(struct worker *w, struct claimed *c, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        w->queue.woken = false;
        put_text(&payload, w->name);
        put_u32(&payload, w->options->lease_ms);
        if (queue_ask(&w->queue, STORE_CLAIM, &payload, NULL, 0, &f, err) < 0)
                return -1;
        if (f.type == STORE_CLAIMED)
                return take_claimed(c, &f, err) < 0 ? -1 : 1;
        r = reader_of(f.payload.data, f.payload.len);
        w->look_us = clock_us() + get_u64(&r) * 1000;
        w->paused = get_u8(&r);
        return f.type == STORE_NONE && reader_done(&r) ? 0 : store_channel_malformed(err);
}

/* --- beginning ------------------------------------------------------------------------------ */

/* To memory: on a disk the file systems take long to find a place for a file that lives for
 * milliseconds. */
static int fetch_archive(struct worker *w, const char *sha256, int *ret, struct error *err)
{
        _cleanup_fd_ int fd = memfd_create("archive", MFD_CLOEXEC);

        if (fd < 0)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "an archive of the queue");
        if (queue_fetch(&w->queue, sha256, fd, err) < 0)
                return -1;
        *ret = take_fd(&fd);
        return 0;
}

/* The store is told whose result comes, before anything of a submitter's is met. */
static int open_appender(struct worker *w, const struct claimed *c, const char *result_id, int *ret,
        struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        _cleanup_fd_ int theirs = -EBADF, ours = -EBADF;
        int pair[2];

        if (fd_socketpair(pair, err) < 0)
                return -1;
        ours = pair[0];
        theirs = pair[1];
        put_text(&payload, c->job);
        put_u64(&payload, c->lease);
        put_u32(&payload, w->options->retry_ms);
        put_text(&payload, result_id);
        if (queue_ask(&w->queue, STORE_APPENDER, &payload, &theirs, 1, &f, err) < 0)
                return -1;
        *ret = take_fd(&ours);
        return 0;
}

static int begin(struct worker *w, struct work *k, const struct claimed *c, struct error *err)
{
        struct evaluation_options options = w->options->evaluation;
        struct aside_order order = ASIDE_ORDER_INIT;
        struct evaluation_kept kept = {.watcher = -EBADF};
        struct match_order match = {.id = c->match};
        _cleanup_fd_ int store = -EBADF, supervisor = -EBADF;
        char result_id[ULID_SIZE], task[PATH_MAX], archive[64];
        struct known_task *known;

        if (known_task_find(&w->tasks, c->task_sha256, queue_fetch, &w->queue, task, &known, err) <
                        0 ||
                fetch_archive(w, c->archive, &k->archive, err) < 0 ||
                ulid_new(result_id, err) < 0 || open_appender(w, c, result_id, &store, err) < 0 ||
                keeper_lend(&k->keeper, &supervisor, err) < 0)
                return -1;
        snprintf(archive, sizeof archive, "/proc/self/fd/%d", k->archive);
        options.llm_score = *c->llm_score ? c->llm_score : NULL;
        options.time_used = *c->time_used ? c->time_used : NULL;
        options.seed = *c->seed ? c->seed : NULL;
        memcpy(match.task_sha256, c->task_sha256, sizeof match.task_sha256);
        options.match = *c->match ? &match : NULL;
        order.task = task;
        order.submission = archive;
        order.options = &options;
        order.store = store;
        order.result_id = result_id;
        order.archive = k->archive;
        kept.supervisor = supervisor;
        kept.task = &known->state;
        kept.document = known->document.len > 0 ? &known->document : NULL;
        order.kept = &kept;
        order.pull = w->options->pull && !known->pulled;
        memcpy(k->task_sha256, c->task_sha256, sizeof k->task_sha256);
        k->task_state = known->state;
        return aside_begin(&k->aside, &order, err);
}

static int give_back(struct worker *w, const char *job, uint64_t lease, const struct error *why,
        struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;

        w->counts.given_back++;
        put_text(&payload, job);
        put_u64(&payload, lease);
        put_u32(&payload, w->options->retry_ms);
        put_error(&payload, why);
        if (queue_ask(&w->queue, STORE_GIVE_BACK, &payload, NULL, 0, &f, err) == 0)
                return 0;
        if (err->code != CODE_LEASE_LOST)
                return -1;
        *err = (struct error){.code = CODE_NONE}; /* its result ended it, or it is another's */
        return 0;
}

/* A machine that can grade nothing would use up the tries of all jobs: after some in a row it takes
 * none for a while, and then for twice as long each time. */
static void note_fault(struct worker *w, enum code code)
{
        enum { FAULTS = 3, MOST_REST_MS = 60000 };
        uint64_t ms = w->options->retry_ms;

        if (code == CODE_INTERRUPTED || code == CODE_LEASE_LOST)
                return;
        /* What the store lacks, every other machine would lack. */
        if (code_info(code)->class != CLASS_INFRA || code == CODE_JOB_FILE) {
                w->faults = 0;
                return;
        }
        if (++w->faults < FAULTS)
                return;
        for (unsigned i = FAULTS; i < w->faults && ms < MOST_REST_MS; i++)
                ms *= 2;
        w->rest_us = clock_us() + (ms < MOST_REST_MS ? ms : MOST_REST_MS) * 1000;
}

int worker_claim(struct worker *w, struct work *free, struct error *err)
{
        struct claimed c = {.lease = 0};
        struct error why = {0};
        const uint64_t at = clock_us();
        const int found = ask(w, &c, err);

        if (found <= 0)
                return found;
        w->counts.claimed++;
        free->archive = -EBADF;
        if (begin(w, free, &c, &why) < 0) {
                note_fault(w, why.code);
                free->archive = fd_close(free->archive);
                return give_back(w, c.job, c.lease, &why, err) < 0 ? -1 : 1;
        }
        memcpy(free->job, c.job, sizeof free->job);
        memcpy(free->submission, c.submission, sizeof free->submission);
        memcpy(free->task, c.task, sizeof free->task);
        free->lease = c.lease;
        free->try = c.try;
        free->started_us = clock_us();
        free->lost = free->late = false;
        free->told_us = 0;
        w->counts.claim_to_start_us += free->started_us - at;
        w->running++;
        return 1;
}

void worker_tell(struct work *k)
{
        if (k->aside.pid <= 0)
                return;
        kill(k->aside.pid, SIGTERM);
        if (k->told_us == 0)
                k->told_us = clock_us();
}

/* --- while it runs, and when it ends --------------------------------------------------------- */

int worker_renew(struct worker *w, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        w->renew_us = clock_us() + (uint64_t)w->options->lease_ms * 1000 / 3;
        if (w->running == 0)
                return 0;
        put_u32(&payload, w->options->lease_ms);
        put_u32(&payload, w->running);
        for (unsigned i = 0; i < w->options->jobs; i++)
                if (w->works[i].aside.socket >= 0) {
                        put_text(&payload, w->works[i].job);
                        put_u64(&payload, w->works[i].lease);
                }
        if (queue_ask(&w->queue, STORE_RENEW, &payload, NULL, 0, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        for (unsigned i = 0; i < w->options->jobs; i++) {
                struct work *k = &w->works[i];

                if (k->aside.socket < 0 || get_u8(&r) || k->lost)
                        continue;
                /* It may just have ended, and only we do not know it yet. */
                k->lost = true;
                worker_tell(k);
        }
        return reader_done(&r) ? 0 : store_channel_malformed(err);
}

void worker_answer(struct work *k)
{
        struct watched found;

        known_task_look(k->task_sha256, &k->task_state, &found);
        aside_answer(&k->aside, &found);
}

int worker_end(struct worker *w, struct work *k, struct error *err)
{
        struct aside_result *r = &k->aside.result;
        struct error why = r->failed;
        int result = 0;

        /* Whoever killed it: that is no fault of the submission's. */
        if (why.code == CODE_INTERNAL_HELPER)
                error_set(&why, CODE_WORKER_LOST, "the evaluation's process was killed");
        if (k->late && (why.code != CODE_NONE || r->code == CODE_INTERRUPTED))
                error_set(&why, CODE_JOB_LIMIT, "the job took longer than it may");
        else if (why.code == CODE_NONE && r->code == CODE_INTERRUPTED)
                error_set(&why, CODE_INTERRUPTED, "the worker was told to end");
        w->counts.lost += k->lost;
        note_fault(w, why.code != CODE_NONE ? why.code : r->code);
        if (code_info(why.code != CODE_NONE ? why.code : r->code)->class == CLASS_INFRA)
                keeper_end(&k->keeper); /* it may be the supervisor's, or of what it found here */
        if (why.code == CODE_NONE) {
                w->counts.ended++;
                w->counts.by_status[r->status]++;
                known_task_pulled(&w->tasks, k->task_sha256);
        } else if (!k->lost) {
                result = give_back(w, k->job, k->lease, &why, err);
        }
        if (!w->options->quiet) {
                /* What an evaluation says is no line of its own. */
                const bool scored = r->score && scorer_is_decimal(r->score);

                printf("%s  %s  %s%s%s\n", k->job, k->task,
                        why.code != CODE_NONE ? code_info(why.code)->name : status_name(r->status),
                        scored ? " " : "", scored ? r->score : "");
                fflush(stdout);
        }
        aside_free(&k->aside);
        k->archive = fd_close(k->archive);
        w->running--;
        return result;
}
