/* The runner's side of a store's queue (store/messages.h): for who keeps the caller's rights. */
#ifndef ASSAY_QUEUE_H
#define ASSAY_QUEUE_H

#include "images/digest.h"
#include "store_channel.h"

struct queue {
        struct store_channel store; /* readable at any time: then queue_listen() */
        bool woken;                 /* there may be something to claim, or to look at */
};

#define QUEUE_INIT                                                                                 \
        {                                                                                          \
                .store = STORE_CHANNEL_INIT                                                        \
        }

/* `url` NULL: the machine's own. */
int queue_open(struct queue *q, const char *url, struct error *err);
void queue_close(struct queue *q);

/* Ask, with descriptors to lend; `ret` becomes the answer, of one of two types. */
int queue_ask(struct queue *q, enum store_message type, const struct buffer *payload,
        const int *fds, unsigned fd_count, struct frame *ret, struct error *err);
/* The next of several answers. 1, or 0 at the end. */
int queue_next(struct queue *q, struct frame *ret, struct error *err);
/* The same where the answer is one number. */
int queue_ask_number(struct queue *q, enum store_message type, const struct buffer *payload,
        const int *fds, unsigned fd_count, uint64_t *ret, struct error *err);
/* The socket is readable though nothing was asked: take that. -1: the store has ended. */
int queue_listen(struct queue *q, struct error *err);

/* Is that file there? */
int queue_has(struct queue *q, const char *sha256, bool *ret, struct error *err);
/* Write it to `fd`. */
int queue_fetch(void *q, const char *sha256, int fd, struct error *err);
/* A task for the store: its digest, and its snapshot (-EBADF) where the store lacks it. */
int queue_offer_task(struct queue *q, const char *path, char ret_sha256[DIGEST_SIZE],
        int *ret_snapshot, struct error *err);

/* A row of the queue. */
struct job {
        char *texts[JOB_TEXTS];
        uint64_t numbers[JOB_NUMBERS];
};
enum job_text {
        JOB_ID,
        JOB_SUBMISSION,
        JOB_TASK,
        JOB_AGENT,
        JOB_STATE,
        JOB_RESULT,
        JOB_CODE,
        JOB_REASON,
        JOB_WORKER,
        JOB_STATUS,
        JOB_OUTCOME,
        JOB_SCORE,
};
enum job_number { JOB_TRIES, JOB_MOST_TRIES, JOB_QUEUED, JOB_STARTED, JOB_ENDED, JOB_NOT_BEFORE };
/* "" where there is none. */
const char *job_text(const struct job *j, enum job_text which);
int job_take(struct job *j, struct frame *f, struct error *err);
void job_free(struct job *j);

#endif
