/* Running a workflow: each attempt of a step is a fresh cell with the step's tool. What a tool
 * prints is read by assay-score alone. See workflow.h. */
#include "workflow.h"

#include "clock.h"
#include "fault.h"
#include "fd.h"
#include "value.h"

#include <stdlib.h>

/* Outputs are kept until the end, as several times their bytes. */
enum { MOST_AT_ONCE = 64, KEPT_ERRORS = 2048, MOST_OUTPUTS = 16 << 20 };

struct run {
        const struct workflow_order *order;
        struct workflow *workflow;
        unsigned at_once, running;
        uint64_t deadline;
        unsigned end;   /* the budget is used up: this step and those behind it do not begin */
        uint64_t begun; /* what all attempts cost, those included that will be taken back */
        bool moved;     /* something changed without a cell */
        size_t outputs; /* bytes of all that were read */
};

/* --- what assay-score is asked -------------------------------------------------------------- */

/* Its answer: bytes, or why there are none. */
struct told {
        unsigned wanted;
        struct buffer *bytes;
        char *wrong;
};

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct told *t = to;
        const unsigned char *piece;
        size_t len;

        if (type == WORKFLOW_WRONG && !t->wrong) {
                t->wrong = scorer_text(r, SCORE_MAX_TEXT);
                return 0;
        }
        if (type != t->wanted)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        piece = get_bytes(r, SCORE_MAX_INPUT, &len);
        if (piece)
                buffer_add(t->bytes, piece, len);
        return buffer_ok(t->bytes) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int ask(const struct run *run, int request, struct told *t, struct error *err)
{
        if (scorer_end_request(request, err) < 0 ||
                scorer_ask(run->order->cells->channel, HELPER_WORKFLOW, request, take, t, err) < 0)
                return -1;
        return t->wrong || t->bytes->len > 0
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer said nothing");
}

/* The input of a step, with the outputs it refers to. `*ret_wrong`: why there is none. */
static int make_input(
        const struct run *run, struct workflow_step *s, char **ret_wrong, struct error *err)
{
        _cleanup_buffer_ struct buffer nothing = BUFFER_INIT, outputs = BUFFER_INIT;
        _cleanup_fd_ int request = -EBADF;
        struct told told = {.wanted = WORKFLOW_INPUT, .bytes = &s->given};
        struct json_writer w = {.out = &outputs, .compact = true};

        if (s->want_count == 0) {
                buffer_add(&s->given, s->input.data, s->input.len);
                return buffer_ok(&s->given) ? 0
                                            : error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        workflow_outputs_for(run->workflow, s, &w);
        request = scorer_request(err);
        if (request < 0 || scorer_put(request, REQUEST_INPUT, &nothing, err) < 0 ||
                scorer_put_bytes(request, DOCUMENT_SUBMISSION, &s->input, err) < 0 ||
                scorer_put_bytes(request, DOCUMENT_RECORD, &outputs, err) < 0 ||
                ask(run, request, &told, err) < 0) {
                free(told.wrong);
                return error_add(err, "the input of step %s", s->id);
        }
        *ret_wrong = told.wrong;
        return 0;
}

/* What the tool printed, as a value. The scorer may be brought down by it: that is the tool's fault
 * and not that of the workflow. */
static int read_output(
        struct run *run, struct workflow_step *s, char **ret_wrong, struct error *err)
{
        _cleanup_buffer_ struct buffer nothing = BUFFER_INIT, text = BUFFER_INIT;
        const struct buffer printed = {.data = s->printed[0].head, .len = s->printed[0].head_len};
        _cleanup_fd_ int request = scorer_request(err);
        struct told told = {.wanted = WORKFLOW_VALUE, .bytes = &s->output};
        int r = 0;

        buffer_clear(&s->output);
        if (request < 0 || scorer_put(request, REQUEST_OUTPUT, &nothing, err) < 0 ||
                scorer_put_bytes(request, DOCUMENT_RESULT, &printed, err) < 0)
                r = -1;
        else if (ask(run, request, &told, err) < 0)
                r = err->code == CODE_WORKFLOW_INVALID ? 1 : -1;
        if (r > 0 && !told.wrong)
                told.wrong = strdup("the output takes too much to be read as JSON");
        if (r >= 0 && !told.wrong && !value_text(&s->output, &text))
                r = error_set(err, CODE_INTERNAL_FRAME, "the scorer told no value");
        run->outputs += text.len;
        if (run->outputs > MOST_OUTPUTS)
                r = error_set(err, CODE_WORKFLOW_INVALID,
                        "all outputs together have more than %d bytes", MOST_OUTPUTS);
        if (r < 0 || told.wrong)
                buffer_clear(&s->output);
        *ret_wrong = told.wrong;
        return r < 0 ? error_add(err, "the output of step %s", s->id) : 0;
}

/* --- attempts ------------------------------------------------------------------------------- */

/* The last attempt has ended like that; `reason` is taken over. */
static void end_attempt(struct run *run, struct workflow_step *s, enum attempt_status status,
        uint64_t us, char *reason)
{
        struct attempt *a = &s->attempts[s->attempt_count - 1];

        a->status = status;
        a->us = us;
        a->reason = reason;
        run->moved = true;
        log_free(&s->printed[0]);
        log_free(&s->printed[1]);
        if (status == ATTEMPT_OK)
                s->status = STEP_COMPLETED;
        else if (s->attempt_count == s->most)
                s->status = STEP_HARD_FAILURE;
        if (s->status != STEP_WAITING)
                buffer_free(&s->given);
}

/* The clock limits an attempt unless the task declares how long its tool takes. */
static struct limits attempt_limits(const struct run *run, const struct workflow_step *s)
{
        struct limits l = run->order->task->limits[CELL_SUBMISSION];
        const uint64_t least = limit_info(LIMIT_WALL)->least;

        if (!s->tool->timed && s->timeout_us > 0 && s->timeout_us < l.value[LIMIT_WALL])
                l.value[LIMIT_WALL] = s->timeout_us > least ? s->timeout_us : least;
        return l;
}

static char *say_timeout(const struct workflow_step *s)
{
        char seconds[UNITS_TEXT_SIZE];
        char *text;

        return asprintf(&text, "took longer than its timeout_seconds, %s",
                       units_text(s->timeout_us, SECONDS_PLACES, seconds)) < 0
                       ? NULL
                       : text;
}

static int start_cell(struct run *run, struct workflow_step *s, struct error *err)
{
        const struct limits limits = attempt_limits(run, s);
        const uint64_t most = limits.value[LIMIT_OUTPUT];
        const struct running_pipes pipes = {
                .feed = (const char *)s->given.data,
                .feed_size = s->given.len,
                .logs = {&s->printed[0], &s->printed[1]},
                .most = most,
        };
        struct cell_order order;

        if (log_init(&s->printed[0], most, 0, err) < 0 ||
                log_init(&s->printed[1], KEPT_ERRORS, KEPT_ERRORS, err) < 0)
                return -1;
        run->order->tool_cell(run->order->to, &order);
        order.limits = limits;
        order.argv = (const char *const *)s->tool->command;
        s->cell = (struct running){0};
        if (cells_start(run->order->cells, &s->cell, &order, &pipes, err) < 0)
                return -1;
        s->running = true;
        run->running++;
        return channel_prepare_cell(run->order->cells->channel, err);
}

/* A step whose input cannot be put together fails at once: no tool is called, nothing charged. */
static int start(struct run *run, struct workflow_step *s, struct error *err)
{
        char *wrong = NULL;

        if (clock_us() > run->deadline)
                return error_set(err, CODE_WORKFLOW_TOO_SLOW,
                        "the workflow ran longer than the %llu s that all its attempts have",
                        (unsigned long long)(run->order->task->limits[CELL_SUITE]
                                                     .value[LIMIT_WALL] /
                                             1000000));
        if (s->attempt_count == 0 && make_input(run, s, &wrong, err) < 0)
                return -1;
        s->attempts[s->attempt_count++] = (struct attempt){.cost = wrong ? 0 : s->tool->cost};
        run->begun += s->attempts[s->attempt_count - 1].cost;
        if (wrong) {
                s->most = 1;
                end_attempt(run, s, ATTEMPT_ERROR, 0, wrong);
                return 0;
        }
        if (s->tool->timed && s->timeout_us > 0 && s->tool->us > s->timeout_us) {
                end_attempt(run, s, ATTEMPT_TIMEOUT, s->timeout_us, say_timeout(s));
                return 0;
        }
        return start_cell(run, s, err);
}

/* Somebody of ours, or of the task's, brought it down. */
static int check_cell(const struct workflow_step *s, struct error *err)
{
        const struct cell_outcome *end = &s->cell.outcome;

        if (end->failed.code != CODE_NONE) {
                *err = end->failed;
                return error_add(err, "step %s", s->id);
        }
        if (end->stopped == CODE_INTERRUPTED)
                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        if (end->stopped == CODE_NONE && end->end == CELL_EXEC_FAILED)
                return error_errno(err, CODE_TOOL_NOT_FOUND, (int)end->status,
                        "the tool %s: its command %s cannot be executed", s->tool->name,
                        s->tool->command[0]);
        return 0;
}

/* An attempt whose cell has ended. */
static int judge(struct run *run, struct workflow_step *s, struct error *err)
{
        const struct limits limits = attempt_limits(run, s);
        struct cell_outcome *end = &s->cell.outcome;
        const bool by_clock = !s->tool->timed && s->timeout_us > 0;
        const uint64_t us = s->tool->timed ? s->tool->us : end->wall_us;
        char fault[FAULT_SIZE], *wrong = NULL;

        if (check_cell(s, err) < 0)
                return -1;
        cell_usage_add(&run->workflow->usage, end);
        run->workflow->usage.output_bytes += s->printed[0].total + s->printed[1].total;
        /* It may have ended before we had read all: that must not decide. */
        if (end->stopped == CODE_NONE &&
                s->printed[0].total + s->printed[1].total > limits.value[LIMIT_OUTPUT])
                end->stopped = CODE_LIMIT_OUTPUT;
        if (by_clock && (end->stopped == CODE_LIMIT_WALL || end->wall_us > s->timeout_us)) {
                end_attempt(run, s, ATTEMPT_TIMEOUT, us < s->timeout_us ? us : s->timeout_us,
                        say_timeout(s));
                return 0;
        }
        if (fault_describe(end, &limits, s->tool->command[0], 0, fault))
                wrong = strdup(fault);
        else if (read_output(run, s, &wrong, err) < 0)
                return -1;
        end_attempt(run, s, wrong ? ATTEMPT_ERROR : ATTEMPT_OK, us, wrong);
        return 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static bool is_ready(const struct workflow *w, const struct workflow_step *s)
{
        for (unsigned i = 0; i < s->need_count; i++)
                if (w->steps[s->needs[i]].status != STEP_COMPLETED)
                        return false;
        return !s->running && s->status == STEP_WAITING;
}

/* The first in the order that is not done has its turn whatever others did ahead of it; those do no
 * more than the budget could pay. */
static bool may_begin(const struct run *run, const struct workflow_step *s)
{
        const struct workflow_step *first = run->workflow->steps;

        while (first->status != STEP_WAITING)
                first++;
        return s == first || run->begun + s->tool->cost <= run->order->task->workflow.max_budget;
}

/* What stands before a step in the order can only cost more than it has so far: what it cannot pay
 * for by then, it never can. */
static int begin(struct run *run, unsigned i, struct error *err)
{
        struct workflow_step *s = &run->workflow->steps[i];

        if (s->status == STEP_WAITING && workflow_is_cut_off(run->workflow, s)) {
                s->status = STEP_SKIPPED;
                run->moved = true;
                return 0;
        }
        if (i >= run->end || run->running >= run->at_once || !is_ready(run->workflow, s))
                return 0;
        if (workflow_spent(run->workflow, s) + s->tool->cost >
                run->order->task->workflow.max_budget) {
                run->end = i;
                return 0;
        }
        return may_begin(run, s) ? start(run, s, err) : 0;
}

static int settle_ended(struct run *run, struct error *err)
{
        for (unsigned i = 0; i < run->workflow->count; i++) {
                struct workflow_step *s = &run->workflow->steps[i];

                if (!s->running || !s->cell.ended)
                        continue;
                s->running = false;
                run->running--;
                if (judge(run, s, err) < 0)
                        return -1;
        }
        return 0;
}

static int run_all(struct run *run, struct error *err)
{
        do {
                run->moved = false;
                for (unsigned i = 0; i < run->workflow->count; i++)
                        if (begin(run, i, err) < 0)
                                return -1;
                if (run->running > 0 &&
                        (cells_turn(run->order->cells, err) < 0 || settle_ended(run, err) < 0))
                        return -1;
        } while (run->moved || run->running > 0);
        return 0;
}

int workflow_run(const struct workflow_order *order, struct workflow *w, struct error *err)
{
        const struct limits *l = &order->task->limits[CELL_SUITE];
        const uint64_t cpus = (l->value[LIMIT_CPUS] + 999) / 1000;
        struct run run = {
                .order = order,
                .workflow = w,
                .at_once = cpus < MOST_AT_ONCE ? (unsigned)cpus : MOST_AT_ONCE,
                .deadline = clock_us() + l->value[LIMIT_WALL],
                .end = w->count,
        };

        if (run_all(&run, err) < 0) {
                cells_close(order->cells); /* they are in the steps */
                return -1;
        }
        workflow_settle(w, order->task->workflow.max_budget);
        return 0;
}
