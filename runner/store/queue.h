/* The queue of jobs: what a submitter, a worker and an operator ask of a store. Each function
 * answers one frame of messages.h; -1 is said to who asked, and the next may ask. */
#ifndef ASSAY_STORE_QUEUE_H
#define ASSAY_STORE_QUEUE_H

#include "store/store.h"

#include <errno.h>

/* The lock of who changes several jobs. */
#define LOCK_JOBS "jobs"

/* --- files.c: archives and tasks' snapshots, by their digests -------------------------------- */

struct queue_file {
        int fd; /* borrowed; a regular file */
        uint64_t size;
        char sha256[DIGEST_SIZE]; /* of its content */
        char name[DIGEST_SIZE];   /* what it is stored by: the same, or its task's digest */
};

/* Its size and digest, which it is stored by. */
int files_digest(struct queue_file *f, struct error *err);
/* In a transaction: store it, unless it is there. -1 also where it is not what it was hashed as. */
int files_put(struct store *s, const struct queue_file *f, struct error *err);
/* STORE_HAS, STORE_FETCH */
int files_answer(struct store *s, int socket, struct frame *f, struct error *err);

/* --- jobs.c: rows of the table `jobs` --------------------------------------------------------- */

struct job_row {
        const char *id, *submission, *task, *task_sha256, *archive, *agent;
        const char *llm_score, *time_used, *seed, *match, *rejudges, *key, *request;
        uint32_t max_tries;
};

/* In a transaction: it gets its turn. A job of an agent comes a round after the one before, and in
 * a round the tasks take turns: so neither who submits a thousand times nor a task that a thousand
 * submit to keeps the others waiting. */
int queue_add(struct store *s, const struct job_row *job, int64_t now, struct error *err);
/* In a transaction: one that was parked gets its turn as if it had just come. */
int queue_again(struct store *s, const char *id, struct error *err);
/* The ids that a query finds, each with a NUL. */
int queue_ids(struct store *s, const char *sql, const struct value *values, unsigned count,
        struct buffer *ret, struct error *err);

/* --- the frames ------------------------------------------------------------------------------ */

int queue_enqueue(struct store *s, int socket, struct frame *f, struct error *err);
/* STORE_CLAIM, STORE_RENEW, STORE_GIVE_BACK */
int claim_answer(struct store *s, int socket, struct frame *f, struct error *err);
/* STORE_QUEUE, STORE_PAUSE, STORE_RETRY, STORE_CANCEL, STORE_JOBS, STORE_JOB */
int manage_answer(struct store *s, int socket, struct frame *f, struct error *err);

/* STORE_REJUDGE */
int rejudge_answer(struct store *s, int socket, struct frame *f, struct error *err);

/* A queue's process: answer all of the above, and the appenders that STORE_APPENDER brings. */
int queue_serve(struct store *s, int socket, struct error *err);

/* --- job_end.c: how a job ends ---------------------------------------------------------------- */

struct job_lease {
        char job[STORE_MAX_ID]; /* "": none */
        int64_t lease;
        uint32_t retry_ms; /* how long after the first try the second comes */
};

/* What became of a job whose result is about to be stored. */
enum job_fate { JOB_ENDS, JOB_WAITS, JOB_PARKS };

/* In a transaction: it is still that lease's (infra.lease_lost else), and this is what its result
 * makes of it: infra's faults are tried again, later each time, until its tries are used up. */
int job_decide(struct store *s, const struct job_lease *l, bool infra, enum job_fate *ret,
        struct error *err);
/* In a transaction, before they leave the queue without a result: their submissions are no longer
 * waited for, and are what their last results say. `which` is a condition on jobs; $1 is the time
 * as text. */
int job_leave(struct store *s, const char *which, const struct value *values, unsigned count,
        struct error *err);
/* In the same transaction: that happens. */
int job_settle(struct store *s, const struct job_lease *l, enum job_fate fate,
        const char *result_id, const char *code, const char *reason, struct error *err);

#endif
