/* assay queue status|list|pause|resume|drain|retry|cancel: what an operator sees and does of the
 * queue of a store. */
#include "verbs.h"

#include "fd.h"
#include "interrupt.h"
#include "queue.h"
#include "report/json.h"
#include "scorer.h"
#include "text.h"

#include <time.h>
#include <unistd.h>

struct operation {
        struct common_options common;
        const char *store, *state;
        const char *what; /* a job, or NULL */
        bool all;
        struct queue queue;
        struct buffer out;
        struct json_writer json;
};

/* --- status --------------------------------------------------------------------------------- */

static const char *const states[] = {"queued", "waiting", "running", "done", "parked", "cancelled"};
enum { STATES = sizeof states / sizeof *states };

struct status {
        uint64_t of[STATES], oldest_ms, alive;
        bool paused;
};

static int ask_status(struct operation *o, struct status *ret, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        if (queue_ask(&o->queue, STORE_QUEUE, &nothing, NULL, 0, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        for (unsigned i = 0; i < STATES; i++)
                ret->of[i] = get_u64(&r);
        ret->oldest_ms = get_u64(&r);
        ret->alive = get_u64(&r);
        ret->paused = get_u8(&r);
        return f.type == STORE_ANSWER && reader_done(&r) ? 0 : store_channel_malformed(err);
}

static int status(struct operation *o, struct error *err)
{
        struct status s;

        if (ask_status(o, &s, err) < 0)
                return -1;
        if (o->common.json) {
                json_open_object(&o->json, NULL);
                json_text(&o->json, "schema", "assay.queue/1");
                json_bool(&o->json, "paused", s.paused);
                for (unsigned i = 0; i < STATES; i++)
                        json_number(&o->json, states[i], s.of[i]);
                json_number(&o->json, "oldest_ms", s.oldest_ms);
                json_close(&o->json);
                buffer_add_char(&o->out, '\n');
                return 0;
        }
        if (s.paused)
                buffer_add_text(&o->out, "paused: no worker takes a job (`assay queue resume`)\n");
        for (unsigned i = 0; i < STATES; i++)
                buffer_add_format(&o->out, "%-10s%llu\n", states[i], (unsigned long long)s.of[i]);
        if (s.of[0] + s.of[1] > 0)
                buffer_add_format(&o->out, "the oldest has waited for %llu.%llu s\n",
                        (unsigned long long)s.oldest_ms / 1000,
                        (unsigned long long)s.oldest_ms / 100 % 10);
        return 0;
}

/* --- list ----------------------------------------------------------------------------------- */

static void add_time(struct operation *o, const char *key, uint64_t ms)
{
        const time_t seconds = (time_t)(ms / 1000);
        char text[40], all[60];
        struct tm tm;

        if (ms == 0 || !gmtime_r(&seconds, &tm)) {
                json_add_null(&o->json, key);
                return;
        }
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(all, sizeof all, "%s.%03uZ", text, (unsigned)(ms % 1000));
        json_text(&o->json, key, all);
}

static void add_json(struct operation *o, const struct job *j)
{
        static const char *const texts[JOB_TEXTS] = {"job_id", "submission_id", "task", "agent",
                "state", "result_id", "code", "reason", "worker", "status", "outcome", "score"};
        struct json_writer *w = &o->json;

        json_open_object(w, NULL);
        for (unsigned i = 0; i < JOB_TEXTS; i++)
                if (!*j->texts[i])
                        json_add_null(w, texts[i]);
                else if (i == JOB_SCORE && scorer_is_decimal(j->texts[i]))
                        json_decimal(w, texts[i], j->texts[i]);
                else
                        json_text(w, texts[i], j->texts[i]);
        json_number(w, "tries", j->numbers[JOB_TRIES]);
        json_number(w, "most_tries", j->numbers[JOB_MOST_TRIES]);
        add_time(o, "queued_at", j->numbers[JOB_QUEUED]);
        add_time(o, "started_at", j->numbers[JOB_STARTED]);
        add_time(o, "ended_at", j->numbers[JOB_ENDED]);
        add_time(o, "not_before", j->numbers[JOB_NOT_BEFORE]);
        json_close(w);
}

static void add_line(struct operation *o, const struct job *j)
{
        static const enum job_text shown[] = {JOB_ID, JOB_STATE, JOB_TASK, JOB_AGENT, JOB_CODE};

        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
                const char *text = j->texts[shown[i]];
                char escaped[400];

                text_escape(escaped, sizeof escaped, *text ? text : "-", *text ? strlen(text) : 1);
                buffer_add_format(&o->out, "%s%s", i > 0 ? "  " : "", escaped);
        }
        buffer_add_format(&o->out, ", %llu of %llu tries\n",
                (unsigned long long)j->numbers[JOB_TRIES],
                (unsigned long long)j->numbers[JOB_MOST_TRIES]);
}

static int list(struct operation *o, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        uint64_t count = 0;
        struct job job;
        int r;

        put_text(&payload, o->what ? o->what : o->state ? o->state : "");
        if (o->common.json) {
                json_open_object(&o->json, NULL);
                json_text(&o->json, "schema", "assay.jobs/1");
                json_open_array(&o->json, "jobs");
        }
        r = frame_send(o->queue.store.socket, o->what ? STORE_JOB : STORE_JOBS, &payload, NULL, 0,
                    err) < 0
                    ? -1
                    : 1;
        while (r > 0 && (r = queue_next(&o->queue, &f, err)) > 0) {
                if (job_take(&job, &f, err) < 0)
                        return -1;
                count++;
                (o->common.json ? add_json : add_line)(o, &job);
                job_free(&job);
        }
        if (r == 0 && o->what && count == 0)
                return error_set(err, CODE_USAGE, "%s: the queue has no such job", o->what);
        if (o->common.json) {
                json_close(&o->json);
                json_close(&o->json);
                buffer_add_char(&o->out, '\n');
        }
        return r;
}

/* --- changes -------------------------------------------------------------------------------- */

static int set_paused(struct operation *o, bool on, uint64_t *ret_running, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, on);
        return queue_ask_number(&o->queue, STORE_PAUSE, &payload, NULL, 0, ret_running, err);
}

static int do_pause(struct operation *o, struct error *err)
{
        uint64_t running;

        if (set_paused(o, true, &running, err) < 0)
                return -1;
        buffer_add_format(&o->out, "paused; %llu still run\n", (unsigned long long)running);
        return 0;
}

static int do_resume(struct operation *o, struct error *err)
{
        uint64_t unused;

        if (set_paused(o, false, &unused, err) < 0)
                return -1;
        buffer_add_text(&o->out, "resumed\n");
        return 0;
}

/* What runs ends, and nothing new begins, unless somebody resumes it. */
static int do_drain(struct operation *o, struct error *err)
{
        enum { LOOK_AGAIN_MS = 1000 };
        struct pollfd ready = {.fd = o->queue.store.socket, .events = POLLIN};
        struct status s = {.paused = true};
        uint64_t running;

        interrupt_hold();
        if (set_paused(o, true, &running, err) < 0)
                return -1;
        while (running > 0) {
                if (!o->queue.woken && interrupt_poll(&ready, 1, LOOK_AGAIN_MS) > 0 &&
                        queue_listen(&o->queue, err) < 0)
                        return -1;
                o->queue.woken = false;
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED,
                                "%llu still run; the queue stays paused",
                                (unsigned long long)running);
                if (ask_status(o, &s, err) < 0)
                        return -1;
                running = s.alive;
                if (!s.paused)
                        return error_set(err, CODE_INTERRUPTED,
                                "the queue was resumed meanwhile; %llu run",
                                (unsigned long long)running);
        }
        buffer_add_text(&o->out, "paused; nothing runs\n");
        return 0;
}

static int change(struct operation *o, enum store_message type, const char *done, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        uint64_t count;

        put_text(&payload, o->what ? o->what : "");
        if (queue_ask_number(&o->queue, type, &payload, NULL, 0, &count, err) < 0)
                return -1;
        if (o->what && count == 0)
                return error_set(err, CODE_USAGE, "%s: the queue has no such job that could be %s",
                        o->what, done);
        buffer_add_format(&o->out, "%llu %s\n", (unsigned long long)count, done);
        return 0;
}

static int do_retry(struct operation *o, struct error *err)
{
        if (!o->what && !o->all)
                return error_set(
                        err, CODE_USAGE, "queue retry: needs a job, or --all for all parked ones");
        return change(o, STORE_RETRY, "queued again", err);
}

static int do_cancel(struct operation *o, struct error *err)
{
        if (!o->what)
                return error_set(err, CODE_USAGE, "queue cancel: needs a job");
        return change(o, STORE_CANCEL, "cancelled", err);
}

static const struct {
        const char *name;
        int (*run)(struct operation *o, struct error *err);
        bool takes_job;
} operations[] = {
        {"status", status, false},
        {"list", list, true},
        {"pause", do_pause, false},
        {"resume", do_resume, false},
        {"drain", do_drain, false},
        {"retry", do_retry, true},
        {"cancel", do_cancel, true},
};

static int check_arguments(const struct operation *o, struct error *err)
{
        size_t i = 0;

        if (o->what && (!*o->what || strlen(o->what) >= STORE_MAX_ID))
                return error_set(err, CODE_USAGE, "\"%.60s\": no job has such an id", o->what);
        while (o->state && i < STATES && strcmp(states[i], o->state) != 0)
                i++;
        return i < STATES ? 0
                          : error_set(err, CODE_USAGE,
                                    "--state %.60s: must be queued, waiting, running, done, parked "
                                    "or cancelled",
                                    o->state);
}

static int run(struct operation *o, const char *name, struct error *err)
{
        size_t i = 0;

        while (i < sizeof operations / sizeof *operations && strcmp(operations[i].name, name) != 0)
                i++;
        if (i == sizeof operations / sizeof *operations || (o->what && !operations[i].takes_job))
                return error_set(err, CODE_USAGE,
                        "queue: needs status, list [JOB], pause, resume, drain, retry JOB or "
                        "cancel JOB");
        if (check_arguments(o, err) < 0 || queue_open(&o->queue, o->store, err) < 0 ||
                operations[i].run(o, err) < 0)
                return -1;
        if (!buffer_ok(&o->out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        return o->common.quiet || fd_write_all(STDOUT_FILENO, o->out.data, o->out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

int verb_queue(int argc, char **argv, struct error *err)
{
        struct operation o = {.queue = QUEUE_INIT, .out = BUFFER_INIT};
        const struct option table[] = {
                {"--store", OPTION_TEXT, &o.store, "URL",
                        "sqlite:PATH or a path; else the machine's own"},
                {"--state", OPTION_TEXT, &o.state, "STATE",
                        "list: those alone (queued, waiting, running, done, parked, cancelled)"},
                {"--all", OPTION_FLAG, &o.all, NULL, "retry: all that are parked"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("queue [OPTIONS] [status|list|pause|resume|drain|retry|cancel] "
                                    "[JOB]",
                        "Shows the queue of a store, stops and resumes it, and takes up again what "
                        "was\nparked after its last try. `drain` pauses it and waits until nothing "
                        "runs.",
                        table, sizeof table / sizeof *table);
        if (rest > 2)
                return error_set(err, CODE_USAGE, "queue: too many arguments");
        o.json.out = &o.out;
        o.what = rest == 2 ? argv[1] : NULL;
        r = run(&o, rest == 0 ? "status" : argv[0], err);
        queue_close(&o.queue);
        buffer_free(&o.out);
        return r;
}
