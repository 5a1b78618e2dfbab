/* assay submit TASK ARCHIVE: a submission for the queue of a store. The intake looks at it first,
 * in a process of its own (aside.h): this one keeps the caller's rights, and reads nothing but
 * frames. */
#include "verbs.h"

#include "aside.h"
#include "fd.h"
#include "input.h"
#include "interrupt.h"
#include "quantity.h"
#include "queue.h"
#include "report/json.h"
#include "state.h"
#include "storing.h"
#include "text.h"

#include <limits.h>
#include <netinet/in.h>
#include <unistd.h>

enum { RATE_PER_MINUTE = 10, MOST_RATE = 1000000, MOST_TRIES = 100, TRIES = 5 };

struct submit {
        struct common_options common;
        struct evaluation_options evaluation;
        const char *source_ip, *key, *match, *rate, *tries;
        bool wait;

        const char *task;
        int archive, snapshot;
        char task_sha256[DIGEST_SIZE];
        struct queue queue;
        struct aside intake;
        char job[STORE_MAX_ID], submission[STORE_MAX_ID];
        bool repeated;
        uint64_t retry_after_ms;
};

/* --- the intake ----------------------------------------------------------------------------- */

static int begin_intake(struct submit *s, struct error *err)
{
        struct aside_order order = ASIDE_ORDER_INIT;
        struct evaluation_options options = s->evaluation;
        char path[64];

        snprintf(path, sizeof path, "/proc/self/fd/%d", s->archive);
        options.depth = EVALUATE_INTAKE;
        options.store = options.agent = NULL;
        options.llm_score = options.time_used = options.seed = NULL;
        order.task = s->task;
        order.submission = path;
        order.options = &options;
        return aside_begin(&s->intake, &order, err);
}

static void print_warnings(const struct submit *s)
{
        const struct aside_result *r = &s->intake.result;

        for (unsigned i = 0; !s->common.quiet && !s->common.json && i < r->warning_count; i++) {
                char field[400], message[1200];

                text_escape(
                        field, sizeof field, r->warnings[i].field, strlen(r->warnings[i].field));
                text_escape(message, sizeof message, r->warnings[i].message,
                        strlen(r->warnings[i].message));
                fprintf(stderr, "assay: warning: %s%s%s\n", field, *field ? ": " : "", message);
        }
}

/* What it found: the submission may go on, or why it may not. */
static int end_intake(struct submit *s, struct error *err)
{
        struct aside_result *r = &s->intake.result;
        struct pollfd ready = {.fd = s->intake.socket, .events = POLLIN};

        while (!s->intake.ended) {
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (interrupt_poll(&ready, 1, -1) > 0)
                        aside_take(&s->intake);
        }
        if (r->failed.code != CODE_NONE) {
                *err = r->failed;
                return -1;
        }
        print_warnings(s);
        return r->code == CODE_NONE ? 0 : error_set(err, r->code, "%s", r->reason);
}

/* --- the queue ------------------------------------------------------------------------------ */

static uint32_t number_or(const char *text, uint32_t otherwise)
{
        uint64_t number;

        return text && quantity_parse_count(text, &number) == 0 ? (uint32_t)number : otherwise;
}

static int take_queued(struct submit *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        get_text(&r, s->job, sizeof s->job);
        get_text(&r, s->submission, sizeof s->submission);
        s->repeated = get_u8(&r);
        s->retry_after_ms = get_u64(&r);
        return f->type == STORE_QUEUED && reader_done(&r) ? 0 : store_channel_malformed(err);
}

static int enqueue(struct submit *s, struct error *err)
{
        const struct evaluation_options *o = &s->evaluation;
        const char *const texts[] = {s->intake.result.task, s->task_sha256, o->agent, s->source_ip,
                s->key, o->llm_score, o->time_used, o->seed, s->match};
        const int fds[] = {s->archive, s->snapshot};
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame answer = FRAME_INIT;
        char job[ULID_SIZE], submission[ULID_SIZE];

        if (ulid_new(job, err) < 0 || ulid_new(submission, err) < 0)
                return -1;
        put_text(&payload, job);
        put_text(&payload, submission);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                put_text(&payload, texts[i] ? texts[i] : "");
        put_u32(&payload, number_or(s->rate, RATE_PER_MINUTE));
        put_u32(&payload, number_or(s->tries, TRIES));
        return queue_ask(&s->queue, STORE_ENQUEUE, &payload, fds, s->snapshot >= 0 ? 2 : 1, &answer,
                       err) < 0
                       ? -1
                       : take_queued(s, &answer, err);
}

/* --- what came of it ------------------------------------------------------------------------ */

static int find_job(struct submit *s, struct job *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame answer = FRAME_INIT;

        put_text(&payload, s->job);
        if (queue_ask(&s->queue, STORE_JOB, &payload, NULL, 0, &answer, err) < 0 ||
                job_take(ret, &answer, err) < 0)
                return -1;
        return queue_next(&s->queue, &answer, err);
}

static bool is_over(const struct job *j)
{
        const char *const ends[] = {"done", "parked", "cancelled"};

        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
                if (strcmp(job_text(j, JOB_STATE), ends[i]) == 0)
                        return true;
        return false;
}

static int wait_for(struct submit *s, struct job *ret, struct error *err)
{
        enum { LOOK_AGAIN_MS = 1000 };
        struct pollfd ready = {.fd = s->queue.store.socket, .events = POLLIN};

        while (find_job(s, ret, err) == 0) {
                if (is_over(ret))
                        return 0;
                job_free(ret);
                if (!s->queue.woken && interrupt_poll(&ready, 1, LOOK_AGAIN_MS) > 0 &&
                        queue_listen(&s->queue, err) < 0)
                        return -1;
                s->queue.woken = false;
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED,
                                "interrupted while job %s waits; it stays in the queue", s->job);
        }
        return -1;
}

/* The exit status that `assay run` would have. */
static int exit_of(const struct job *j)
{
        static const struct {
                const char *status, *outcome;
                int exit;
        } exits[] = {
                {"graded", "pass", END_PASSED},
                {"graded", "win", END_PASSED},
                {"graded", "", END_NOT_PASSED},
                {"pending", "", END_PENDING},
                {"rejected", "", END_REJECTED},
                {"ungradable", "", END_REJECTED},
        };

        for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
                if (strcmp(job_text(j, JOB_STATUS), exits[i].status) == 0 &&
                        (!*exits[i].outcome ||
                                strcmp(job_text(j, JOB_OUTCOME), exits[i].outcome) == 0))
                        return exits[i].exit;
        return END_ERROR;
}

/* --- reports -------------------------------------------------------------------------------- */

static void add_json(const struct submit *s, const struct job *j, struct buffer *out)
{
        const struct aside_result *r = &s->intake.result;
        struct json_writer w = {.out = out};

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.job/1");
        if (s->retry_after_ms > 0) {
                json_text(&w, "code", code_info(CODE_SUBMIT_RATE)->name);
                json_number(&w, "retry_after_ms", s->retry_after_ms);
        } else {
                json_text(&w, "job_id", s->job);
                json_text(&w, "submission_id", s->submission);
                json_text(&w, "task", r->task);
                json_text(&w, "state", j ? job_text(j, JOB_STATE) : "queued");
                json_bool(&w, "repeated", s->repeated);
        }
        if (j && *job_text(j, JOB_RESULT))
                json_text(&w, "result_id", job_text(j, JOB_RESULT));
        if (j && *job_text(j, JOB_STATUS))
                json_text(&w, "status", job_text(j, JOB_STATUS));
        if (j && *job_text(j, JOB_OUTCOME))
                json_text(&w, "outcome", job_text(j, JOB_OUTCOME));
        if (j && scorer_is_decimal(job_text(j, JOB_SCORE)))
                json_decimal(&w, "score", job_text(j, JOB_SCORE));
        json_open_array(&w, "submission_warnings");
        for (unsigned i = 0; i < r->warning_count; i++) {
                json_open_object(&w, NULL);
                json_text(&w, "field", r->warnings[i].field);
                json_text(&w, "message", r->warnings[i].message);
                json_close(&w);
        }
        json_close(&w);
        json_close(&w);
        buffer_add_char(out, '\n');
}

static void add_text(const struct submit *s, const struct job *j, struct buffer *out)
{
        if (j)
                buffer_add_format(out, "%s: %s%s%s%s%s\n", s->job,
                        *job_text(j, JOB_STATUS) ? job_text(j, JOB_STATUS) : job_text(j, JOB_STATE),
                        *job_text(j, JOB_OUTCOME) ? ", " : "", job_text(j, JOB_OUTCOME),
                        *job_text(j, JOB_SCORE) ? ", " : "", job_text(j, JOB_SCORE));
        else
                buffer_add_format(out, "%s: queued\n", s->job);
        if (j && *job_text(j, JOB_RESULT))
                buffer_add_format(out, "  result: %s\n", job_text(j, JOB_RESULT));
}

static int print(const struct submit *s, const struct job *j, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (s->common.json)
                add_json(s, j, &out);
        else if (!s->common.quiet && s->retry_after_ms == 0)
                add_text(s, j, &out);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        return fd_write_all(STDOUT_FILENO, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

/* --- all of it ------------------------------------------------------------------------------ */

static int open_archive(struct submit *s, const char *path, struct error *err)
{
        _cleanup_fd_ int place = -EBADF;

        s->archive = input_open_file(path);
        if (s->archive < 0 && errno == EISDIR)
                return error_set(err, CODE_USAGE,
                        "%s: a folder; give an archive of it (tar -czf FILE -C %s .)", path, path);
        if (s->archive < 0)
                return error_errno(err, CODE_SUBMISSION_MISSING, errno, "%s", path);
        place = state_open_private("store", err);
        return place < 0 || input_keep(&s->archive, place, err) < 0 ? -1 : 0;
}

/* What was asked for before may have ended since. */
static int finish(struct submit *s, struct error *err)
{
        const bool looks = s->wait || s->repeated;
        struct job job = {.numbers = {0}};
        int r = s->wait ? wait_for(s, &job, err) : looks ? find_job(s, &job, err) : 0;

        if (r == 0)
                r = print(s, looks ? &job : NULL, err);
        if (r == 0 && s->wait) {
                r = exit_of(&job);
                if (*job_text(&job, JOB_CODE))
                        fprintf(stderr, "assay: %s: %s\n", job_text(&job, JOB_CODE),
                                job_text(&job, JOB_REASON));
        }
        job_free(&job);
        return r;
}

static int submit(struct submit *s, const char *archive, struct error *err)
{
        interrupt_hold();
        if (open_archive(s, archive, err) < 0 || begin_intake(s, err) < 0 ||
                queue_open(&s->queue, s->evaluation.store, err) < 0 || end_intake(s, err) < 0 ||
                queue_offer_task(&s->queue, s->task, s->task_sha256, &s->snapshot, err) < 0 ||
                enqueue(s, err) < 0)
                return -1;
        if (s->retry_after_ms == 0)
                return finish(s, err);
        if (print(s, NULL, err) < 0)
                return -1;
        return error_set(err, CODE_SUBMIT_RATE,
                "%s submitted %u times within a minute; retry_after_ms: %llu", s->source_ip,
                number_or(s->rate, RATE_PER_MINUTE), (unsigned long long)s->retry_after_ms);
}

static int check_lengths(const struct submit *s, struct error *err)
{
        const struct {
                const char *name, *text;
                size_t size;
        } all[] = {
                {"--source-ip", s->source_ip, INET6_ADDRSTRLEN},
                {"--match", s->match, STORE_MAX_ID},
                {"--llm-score", s->evaluation.llm_score, STORE_MAX_NUMBER},
                {"--time-used", s->evaluation.time_used, STORE_MAX_NUMBER},
                {"--seed", s->evaluation.seed, STORE_MAX_NUMBER},
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (all[i].text && strlen(all[i].text) >= all[i].size)
                        return error_set(err, CODE_USAGE,
                                "%s %.60s: must be shorter than %zu bytes", all[i].name,
                                all[i].text, all[i].size);
        return 0;
}

static int check_numbers(const struct submit *s, struct error *err)
{
        uint64_t number;

        if (s->rate && (quantity_parse_count(s->rate, &number) < 0 || number > MOST_RATE))
                return error_set(err, CODE_USAGE,
                        "--rate %s: must be a number up to %d; 0 is no limit", s->rate, MOST_RATE);
        if (s->tries &&
                (quantity_parse_count(s->tries, &number) < 0 || number < 1 || number > MOST_TRIES))
                return error_set(err, CODE_USAGE, "--tries %s: must be a number from 1 to %d",
                        s->tries, MOST_TRIES);
        if (s->key && (strlen(s->key) == 0 || strlen(s->key) > STORE_MAX_KEY ||
                              !text_utf8_valid(s->key, strlen(s->key))))
                return error_set(err, CODE_USAGE,
                        "--idempotency-key: must be 1 to %d bytes of UTF-8", STORE_MAX_KEY);
        if (s->evaluation.llm_score && !scorer_is_score(s->evaluation.llm_score))
                return error_set(err, CODE_USAGE,
                        "--llm-score %s: must be a number from 0 to 100; a verdict that comes "
                        "later is for `assay finalize --store`",
                        s->evaluation.llm_score);
        return s->evaluation.agent ? store_check_agent(s->evaluation.agent, err) : 0;
}

int verb_submit(int argc, char **argv, struct error *err)
{
        struct submit s = {.archive = -EBADF,
                .snapshot = -EBADF,
                .queue = QUEUE_INIT,
                .intake = {.socket = -EBADF, .said = BUFFER_INIT}};
        const struct option table[] = {
                {"--store", OPTION_TEXT, &s.evaluation.store, "URL",
                        "sqlite:PATH or a path; else the machine's own"},
                {"--agent", OPTION_TEXT, &s.evaluation.agent, "NAME", "whose submission it is"},
                {"--source-ip", OPTION_TEXT, &s.source_ip, "ADDRESS",
                        "where it came from: so many a minute are accepted from there"},
                {"--rate", OPTION_TEXT, &s.rate, "N", "how many those are (10); 0: any number"},
                {"--idempotency-key", OPTION_TEXT, &s.key, "KEY",
                        "with the same key the same answer again, and no second job"},
                {"--match", OPTION_TEXT, &s.match, "ID", "the match that it is an answer in"},
                {"--llm-score", OPTION_TEXT, &s.evaluation.llm_score, "N",
                        "the external score, where it is known already"},
                {"--time-used", OPTION_TEXT, &s.evaluation.time_used, "SECONDS",
                        "for dimensions that measure time"},
                {"--seed", OPTION_TEXT, &s.evaluation.seed, "N", "ASSAY_SEED of the suite (0)"},
                {"--tries", OPTION_TEXT, &s.tries, "N",
                        "how often faults of the machines are tried again, with the first (5)"},
                {"--wait", OPTION_FLAG, &s.wait, NULL, "until it is graded, and say how"},
                {"--policy", OPTION_TEXT, &s.evaluation.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &s.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (s.common.help)
                return options_help("submit [OPTIONS] TASK ARCHIVE",
                        "Checks a submission, stores it and the task as they are now, and puts it "
                        "into\nthe queue, for an `assay worker` to grade.\n\n"
                        "exit status: 0 queued, 2 usage or task, 3 the submission is rejected, 4 "
                        "not queued,\n6 refused: too many from there, or the key is another's; "
                        "with --wait that of\n`assay run`",
                        table, sizeof table / sizeof *table);
        if (rest != 2)
                return error_set(err, CODE_USAGE, "submit: needs a task and an archive");
        s.task = argv[0];
        if (check_lengths(&s, err) < 0 || check_numbers(&s, err) < 0 ||
                evaluation_check_options(&(struct evaluation_options){.seed = s.evaluation.seed,
                                                 .time_used = s.evaluation.time_used},
                        err) < 0)
                return -1;
        r = submit(&s, argv[1], err);
        queue_close(&s.queue);
        aside_free(&s.intake);
        fd_close(s.archive);
        fd_close(s.snapshot);
        return r;
}
