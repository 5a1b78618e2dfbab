/* Grading what is in a queue: jobs are taken as long as there are places, each is graded in a
 * process of its own (aside.h), whose result is stored by the queue's store in the transaction that
 * ends the job. This process keeps the caller's rights, and reads nothing but frames. */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "aside.h"
#include "keeper.h"
#include "known_task.h"
#include "queue.h"

struct worker_options {
        const char *store; /* NULL: the machine's own */
        unsigned jobs;     /* at once */
        uint32_t lease_ms, retry_ms;
        uint64_t limit_us; /* that a job may take, all in all */
        bool until_empty;  /* end when nothing is left */
        bool pull;         /* fetch images that a task needs */
        struct evaluation_options evaluation;
        const char *status_file; /* NULL: none */
        const char *metrics;     /* a port of this machine's loopback, or a file; NULL: none */
        bool quiet;
};

/* Since it began. */
struct worker_counts {
        uint64_t claimed, ended, given_back, lost;
        uint64_t by_status[STATUS_ERROR + 1];
        uint64_t claim_to_start_us; /* of all: from being asked for to the evaluation's process */
};

/* A place for a job. */
struct work {
        struct aside aside; /* at work when it has a socket */
        struct keeper keeper;
        char job[STORE_MAX_ID], submission[STORE_MAX_ID], task[STORE_MAX_NAME];
        uint64_t lease;
        uint32_t try;
        int archive;
        char task_sha256[DIGEST_SIZE];
        struct task_state task_state; /* when it began */
        uint64_t started_us;
        bool lost;        /* somebody else has it by now */
        bool late;        /* it took too long */
        uint64_t told_us; /* when it was told to end; 0: it was not */
};

/* Images are fetched for tasks whose turn comes soon. */
struct warming {
        pid_t pid; /* 0: nobody does */
        int pidfd;
        char sha256[DIGEST_SIZE]; /* of the task; of one that failed last, which its job tries */
        uint64_t look_us;         /* when to look for the next one */
};

struct worker {
        const struct worker_options *options;
        char name[STORE_MAX_KEY + 1]; /* host and process, for who looks at the queue */
        struct queue queue;
        struct work *works; /* options->jobs */
        unsigned running;
        int signals;             /* a signalfd */
        bool draining, stopping; /* no more jobs; and those at work are given back */
        bool paused;             /* the queue is */
        uint64_t look_us;        /* when to ask for a job again */
        uint64_t renew_us;       /* when to renew the leases */
        unsigned faults;         /* of this machine, in a row */
        uint64_t rest_us;        /* until then it takes no job because of them */
        struct known_tasks tasks;
        struct warming warming;
        struct worker_counts counts;
        struct health *health;
};

/* Until a signal, or the queue is empty. 0, or -1: what it had taken was given back, where that was
 * possible. */
int worker_run(const struct worker_options *o, struct error *err);

/* worker_job.c: take the next job and begin it. 1, or 0: there is none. */
int worker_claim(struct worker *w, struct work *free, struct error *err);
/* Tell it to end. It has as long as a lease for that. */
void worker_tell(struct work *k);
/* It asks whether its task is still what it was. */
void worker_answer(struct work *k);
/* It has ended: what became of it is said to the queue, where its result did not. */
int worker_end(struct worker *w, struct work *k, struct error *err);
/* Renew all leases; who lost one is stopped. */
int worker_renew(struct worker *w, struct error *err);

/* worker_warm.c: fetch images before the jobs that need them, one task's at a time. */
int worker_warm(struct worker *w, struct error *err);
/* Its descriptor is readable. */
void worker_warmed(struct worker *w);
void worker_warm_end(struct worker *w);

/* worker_health.c: what others may see of it. */
struct health;
int health_open(struct worker *w, struct error *err);
/* Its listening socket, or -EBADF; when it is readable somebody asks. */
int health_socket(const struct worker *w);
void health_answer(struct worker *w);
/* Something has changed, or some time has passed. */
void health_write(struct worker *w);
void health_close(struct worker *w);

#endif
