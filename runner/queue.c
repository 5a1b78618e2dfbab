/* The runner's side of a queue; see queue.h. */
#include "queue.h"

#include "images/digest.h"
#include "snapshot.h"
#include "task_digest.h"

#include <stdlib.h>

int queue_open(struct queue *q, const char *url, struct error *err)
{
        const struct store_order order = {.url = url ? url : "sqlite:", .queue = true};

        return store_channel_open(&q->store, &order, err);
}

void queue_close(struct queue *q)
{
        store_channel_close(&q->store);
}

int queue_next(struct queue *q, struct frame *ret, struct error *err)
{
        int r;

        while ((r = store_channel_next(&q->store, ret, err)) > 0 && ret->type == STORE_WAKE)
                q->woken = true;
        return r;
}

int queue_ask(struct queue *q, enum store_message type, const struct buffer *payload,
        const int *fds, unsigned fd_count, struct frame *ret, struct error *err)
{
        if (frame_send(q->store.socket, (uint16_t)type, payload, fds, fd_count, err) < 0)
                return error_set(err, CODE_INFRA_STORE, "assay-store ended unexpectedly");
        return queue_next(q, ret, err) < 0 ? -1 : 0;
}

int queue_ask_number(struct queue *q, enum store_message type, const struct buffer *payload,
        const int *fds, unsigned fd_count, uint64_t *ret, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        if (queue_ask(q, type, payload, fds, fd_count, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        *ret = get_u64(&r);
        return f.type == STORE_ANSWER && reader_done(&r) ? 0 : store_channel_malformed(err);
}

int queue_listen(struct queue *q, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        if (store_channel_next(&q->store, &f, err) < 0)
                return -1;
        q->woken = true;
        return f.type == STORE_WAKE ? 0 : store_channel_malformed(err);
}

int queue_has(struct queue *q, const char *sha256, bool *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        put_text(&payload, sha256);
        if (queue_ask(q, STORE_HAS, &payload, NULL, 0, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        *ret = get_u8(&r);
        return f.type == STORE_ANSWER && reader_done(&r) ? 0 : store_channel_malformed(err);
}

int queue_fetch(void *q, const char *sha256, int fd, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;

        put_text(&payload, sha256);
        if (queue_ask(q, STORE_FETCH, &payload, &fd, 1, &f, err) < 0)
                return -1;
        return f.type == STORE_DONE ? 0 : store_channel_malformed(err);
}

/* It is said of a folder, whosever that is. */
static int not_digested(const char *path, struct error *err)
{
        const struct error why = *err;

        if (code_info(why.code)->class != CLASS_SUBMISSION)
                return error_add(err, "%s", path);
        return error_set(err, CODE_TASK_UNSAFE, "%s: %s", path, why.text);
}

/* What is stored by a digest must have it: else nobody could ever be graded by that task. */
static int make_snapshot(
        struct queue *q, const struct task *t, const char *sha256, int *ret, struct error *err)
{
        char after[DIGEST_SIZE];

        if (snapshot_make(t, ret, err) < 0 || task_digest(t, q->store.socket, after, err) < 0)
                return -1;
        return strcmp(after, sha256) == 0
                       ? 0
                       : error_set(err, CODE_TASK_CHANGED, "it changed while it was read");
}

int queue_offer_task(struct queue *q, const char *path, char ret_sha256[DIGEST_SIZE],
        int *ret_snapshot, struct error *err)
{
        struct task t = TASK_INIT;
        bool there = false;
        int r = task_open(&t, path, err);

        if (r == 0)
                r = task_digest(&t, q->store.socket, ret_sha256, err);
        if (r == 0)
                r = queue_has(q, ret_sha256, &there, err);
        if (r == 0 && !there)
                r = make_snapshot(q, &t, ret_sha256, ret_snapshot, err);
        task_free(&t);
        return r < 0 ? not_digested(path, err) : 0;
}

const char *job_text(const struct job *j, enum job_text which)
{
        return j->texts[which] ? j->texts[which] : "";
}

int job_take(struct job *j, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        for (unsigned i = 0; i < JOB_TEXTS; i++)
                j->texts[i] = get_new_text(&r, STORE_MAX_NAME);
        for (unsigned i = 0; i < JOB_NUMBERS; i++)
                j->numbers[i] = get_u64(&r);
        if (f->type == STORE_ENTRY && reader_done(&r))
                return 0;
        job_free(j);
        return store_channel_malformed(err);
}

void job_free(struct job *j)
{
        for (unsigned i = 0; i < JOB_TEXTS; i++)
                free(j->texts[i]);
        *j = (struct job){.numbers = {0}};
}
