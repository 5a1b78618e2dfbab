/* The process of a queue: who keeps the caller's rights asks on one socket, and the evaluations
 * that it was told of append their results on others; see queue.h. */
#include "store/queue.h"

#include "fd.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        MAX_FRAME = STORE_MAX_PIECE + 64,
        SECONDS_TO_BEGIN = 5,
        SECONDS_TO_ANSWER = 20,
        LOOK_MS = 2,
        LOOKS = 100
};

struct appender {
        int socket;
        struct append *append;
};

struct queue {
        struct store *store;
        int socket;
        unsigned looks; /* how often to look still for what may have been committed */
        int watch;      /* readable when another process may commit; -EBADF: nobody waits for it */
        bool waits;     /* who was told that there is nothing to do is to be woken */
        struct appender appenders[STORE_MAX_LEASES];
        unsigned count, next; /* which of them comes first */
};

typedef int (*answer)(struct store *s, int socket, struct frame *f, struct error *err);

static const struct {
        enum store_message type;
        answer answer;
        bool again; /* it has no transaction, and says nothing before it knows all */
} answers[] = {
        {STORE_HAS, files_answer, true},
        {STORE_FETCH, files_answer, true},
        {STORE_ENQUEUE, queue_enqueue, false},
        {STORE_CLAIM, claim_answer, false},
        {STORE_RENEW, claim_answer, false},
        {STORE_GIVE_BACK, claim_answer, false},
        {STORE_QUEUE, manage_answer, true},
        {STORE_UPCOMING, manage_answer, true},
        {STORE_JOBS, manage_answer, false},
        {STORE_JOB, manage_answer, false},
        {STORE_PAUSE, manage_answer, false},
        {STORE_RETRY, manage_answer, false},
        {STORE_CANCEL, manage_answer, false},
        {STORE_REJUDGE, rejudge_answer, false},
};

/* --- evaluations ---------------------------------------------------------------------------- */

static int take_order(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct append_order *order = to;

        (void)count;
        (void)err;
        value_copy(&row[0], order->agent, sizeof order->agent);
        value_copy(&row[1], order->match, sizeof order->match);
        return 0;
}

/* What the job says of its result. */
static int find_order(
        struct store *s, const struct job_lease *l, struct append_order *ret, struct error *err)
{
        const struct value values[] = {value_text(l->job), value_number(l->lease)};

        return s->engine->run(s->database,
                "SELECT agent, match_id FROM jobs WHERE id = $1 AND lease = $2", values, 2,
                take_order, ret, err);
}

static int add_appender(struct queue *q, struct frame *f, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        struct reader r = reader_of(f->payload.data, f->payload.len);
        struct append_order order = {.agent = ""};
        struct job_lease lease = {.job = ""};
        struct appender *a = &q->appenders[q->count];

        get_text(&r, lease.job, sizeof lease.job);
        lease.lease = (int64_t)get_u64(&r);
        lease.retry_ms = get_u32(&r);
        get_text(&r, order.result_id, sizeof order.result_id);
        if (!reader_done(&r) || f->fd_count != 1 || q->count == STORE_MAX_LEASES)
                return store_malformed(err);
        if (find_order(q->store, &lease, &order, err) < 0)
                return -1;
        order.job = &lease;
        *a = (struct appender){.append = append_new(q->store, &order, err)};
        if (!a->append)
                return -1;
        a->socket = take_fd(&f->fds[0]);
        q->count++;
        return frame_send(q->socket, STORE_DONE, &nothing, NULL, 0, err);
}

static void drop_appender(struct queue *q, unsigned i)
{
        fd_close(q->appenders[i].socket);
        append_free(q->appenders[i].append);
        q->appenders[i] = q->appenders[--q->count];
}

static volatile int served; /* the socket of the evaluation that has the database */

/* It took too long: what it says from now on is not heard. */
static void cut_off(int unused)
{
        (void)unused;
        shutdown(served, SHUT_RDWR);
}

/* From its first word to its last it has the database for itself: nobody else could write. How long
 * that may take says append.c. */
static void serve_appender(struct queue *q, unsigned i)
{
        struct appender *a = &q->appenders[i];
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error why = {0};
        bool over = false;

        served = a->socket;
        alarm(SECONDS_TO_BEGIN);
        do {
                struct reader payload;
                int r = frame_receive(a->socket, &f, MAX_FRAME, 0, &why);

                over = r <= 0;
                if (append_step(a->append) == APPEND_WAITS)
                        alarm(SECONDS_TO_ANSWER);
                if (r > 0) {
                        payload = reader_of(f.payload.data, f.payload.len);
                        r = append_take(a->append, a->socket, f.type, &payload, &why);
                        over = r < 0 || append_step(a->append) == APPEND_ENDED;
                }
                if (r < 0)
                        store_send_failed(a->socket, &why);
        } while (!over && append_step(a->append) == APPEND_BEGUN);
        alarm(0);
        /* A match is spoken of before the result is. */
        if (over)
                drop_appender(q, i);
}

/* One of those that have something to say, and each in turn: between two of them the worker is
 * heard, whose leases would be over if all of its evaluations said half a word and no more. */
static void serve_one(struct queue *q, const struct pollfd *fds, unsigned count)
{
        const unsigned before = q->count;

        for (unsigned i = 0; i < count; i++) {
                const unsigned at = (q->next + i) % count;

                if (!fds[at].revents)
                        continue;
                serve_appender(q, at);
                /* One that has ended gives its place to another. */
                q->next = at + (q->count == before);
                return;
        }
}

/* --- who asks ------------------------------------------------------------------------------- */

static int answer_frame(struct queue *q, struct frame *f, struct error *err)
{
        if (f->type == STORE_APPENDER)
                return add_appender(q, f, err);
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
                int r;

                if (answers[i].type != f->type)
                        continue;
                r = answers[i].answer(q->store, q->socket, f, err);
                if (r < 0 && answers[i].again && store_connect_again(q->store, err) == 0)
                        r = answers[i].answer(q->store, q->socket, f, err);
                return r;
        }
        return store_malformed(err);
}

/* Not for who asks and goes: the kernel takes milliseconds to stop it. */
static int listen_for_others(struct queue *q, struct error *err)
{
        const struct engine *e = q->store->engine;

        while (q->watch < 0 && e->watch(q->store->database, &q->watch, err) < 0)
                if (store_connect_again(q->store, err) < 0)
                        return -1;
        return 0;
}

/* 1, or 0 at its end. What cannot be done is said, and the next may be asked. */
static int serve_socket(struct queue *q, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error why = {0};
        int r = frame_receive(q->socket, &f, MAX_FRAME, 2, err);

        if (r <= 0)
                return r;
        if (f.type == STORE_CLAIM || f.type == STORE_JOB || f.type == STORE_PAUSE) {
                q->waits = true;
                if (listen_for_others(q, err) < 0)
                        return -1;
        }
        if (answer_frame(q, &f, &why) == 0)
                return 1;
        if (why.code == CODE_INTERNAL_FRAME) {
                *err = why;
                return -1;
        }
        return store_send_failed(q->socket, &why) < 0 ? -1 : 1;
}

/* Somebody is about to commit: for a while, look whether that took place. */
static int wake(struct queue *q, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        const bool heard = q->store->engine->heard(q->store->database);

        if (!q->waits || !heard)
                return 0;
        q->waits = false;
        q->looks = 0;
        return frame_send(q->socket, STORE_WAKE, &nothing, NULL, 0, err);
}

static int turn(struct queue *q, struct error *err)
{
        struct pollfd fds[2 + STORE_MAX_LEASES];
        unsigned count = 2;
        int r;

        fds[0] = (struct pollfd){.fd = q->socket, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = q->watch, .events = POLLIN};
        for (unsigned i = 0; i < q->count; i++)
                fds[count++] = (struct pollfd){.fd = q->appenders[i].socket, .events = POLLIN};
        if (poll(fds, count, q->waits && q->looks > 0 ? LOOK_MS : -1) < 0)
                return errno == EINTR ? 1 : error_errno(err, CODE_INFRA_STORE, errno, "the queue");
        if (fds[1].revents)
                q->looks = LOOKS;
        if (q->looks > 0) {
                q->looks--;
                if (wake(q, err) < 0)
                        return -1;
        }
        if (fds[0].revents && (r = serve_socket(q, err)) <= 0)
                return r;
        serve_one(q, fds + 2, count - 2);
        return 1;
}

int queue_serve(struct store *s, int socket, struct error *err)
{
        struct queue *q = calloc(1, sizeof *q);
        int r = 1;

        if (!q)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        q->store = s;
        q->socket = socket;
        q->watch = -EBADF;
        signal(SIGALRM, cut_off);
        while (r > 0)
                r = turn(q, err);
        while (q->count > 0)
                drop_appender(q, 0);
        free(q);
        return r;
}
