/* What came of a case: how it ended, and what it printed, compared here when it must be the same
 * bytes, else by assay-score, many at a time, or by a checker of the task in a cell like the
 * suite's. */
#include "cases_parts.h"

#include "case_files.h"
#include "checker.h"
#include "fault.h"
#include "fd.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

/* --- how one came out ----------------------------------------------------------------------- */

/* What it read and printed: judged, nobody needs it any more, and there may be many. */
void case_forget(struct one_case *o)
{
        log_free(&o->output[0]);
        log_free(&o->output[1]);
        buffer_free(&o->input);
}

__attribute__((format(printf, 3, 4))) void case_fail(
        struct one_case *o, const char *part, const char *format, ...)
{
        struct error text;
        va_list args;
        char raw[sizeof text.text];

        va_start(args, format);
        vsnprintf(raw, sizeof raw, format, args);
        va_end(args);
        error_set(&text, CODE_NONE, "%s", raw);
        free(o->result.reason);
        o->result.reason = strdup(text.text);
        snprintf(o->result.part, sizeof o->result.part, "%s", part);
        o->result.passed = false;
        o->state = JUDGED;
        case_forget(o);
}

static void pass(struct one_case *o)
{
        snprintf(o->result.part, sizeof o->result.part, "1");
        o->result.passed = true;
        o->state = JUDGED;
        case_forget(o);
}

struct limits case_limits(const struct cases_running *r, const struct task_case *c)
{
        struct limits l = r->order->submission->limits;

        if (c->timeout_us > 0) {
                l.value[LIMIT_CPU] = c->timeout_us;
                l.value[LIMIT_WALL] = task_case_wall(c);
        }
        return l;
}

/* Its end: by itself, or by its limits. False: what it printed decides. */
static bool judge_end(const struct cases_running *r, struct one_case *o)
{
        const struct cell_outcome *end = &o->cell.outcome;
        const struct limits limits = case_limits(r, o->what);
        const uint64_t most = limits.value[LIMIT_OUTPUT];
        char fault[FAULT_SIZE];

        /* It may have ended before we had read all: that must not decide. */
        if (end->stopped == CODE_NONE && !o->what->interactor[0] &&
                o->output[0].total + o->output[1].total > most)
                o->cell.outcome.stopped = CODE_LIMIT_OUTPUT;
        if (!fault_describe(end, &limits, o->what->command[0], o->what->exit, fault))
                return false;
        case_fail(o, "0", "%s", fault);
        return true;
}

/* --- comparing ------------------------------------------------------------------------------ */

static bool wants_output(const struct task_case *c)
{
        return c->out_given != CASE_NOTHING || c->comparison == COMPARE_REGEX ||
               c->comparison == COMPARE_CONTAINS || c->checker[0];
}

int case_read_given(const struct cases_running *r, enum case_given given, const char *text,
        const char *path, struct buffer *ret, struct error *err)
{
        if (given == CASE_FILE)
                return case_file_read(r->order->task, path, ret, err);
        if (given == CASE_TEXT)
                buffer_add_text(ret, text);
        return buffer_ok(ret) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int case_read_expected(const struct cases_running *r, const struct one_case *o, struct buffer *ret,
        struct error *err)
{
        const struct task_case *c = o->what;
        char *path;
        int result;

        if (c->out_given != CASE_FILE || !c->each)
                return case_read_given(r, c->out_given, c->out, c->out, ret, err);
        path = case_file_named(c->out, o->in_path);
        if (!path)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        result = case_read_given(r, CASE_FILE, NULL, path, ret, err);
        free(path);
        return result;
}

static int put_pieces(
        int request, unsigned type, const unsigned char *bytes, size_t len, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        while (len > 0) {
                const size_t some = len < SCORE_MAX_PIECE ? len : SCORE_MAX_PIECE;

                put_bytes(&payload, bytes, some);
                if (scorer_put(request, type, &payload, err) < 0)
                        return -1;
                bytes += some;
                len -= some;
        }
        return 0;
}

static int put_comparison(
        const struct cases_running *r, const struct one_case *o, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT, expected = BUFFER_INIT;
        const struct task_case *c = o->what;

        if (case_read_expected(r, o, &expected, err) < 0)
                return -1;
        put_u8(&payload, (uint8_t)c->comparison);
        put_text(&payload, c->abs);
        put_text(&payload, c->rel);
        put_text(&payload, c->pattern);
        if (scorer_put(request, COMPARE_CASE, &payload, err) < 0 ||
                put_pieces(request, COMPARE_EXPECTED, expected.data, expected.len, err) < 0)
                return -1;
        return put_pieces(request, COMPARE_ACTUAL, o->output[0].head, o->output[0].head_len, err);
}

/* Those that are to be compared, in order. */
struct answers {
        struct cases_running *run;
        unsigned next;
};

static int take_answer(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct answers *a = to;
        bool matches = get_u8(r);
        char *reason = scorer_text(r, SCORE_MAX_TEXT);

        if (type != COMPARE_RESULT)
                r->bad = true;
        while (a->next < a->run->count && a->run->ones[a->next].state != COMPARING)
                a->next++;
        if (a->next == a->run->count || r->bad) {
                free(reason);
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer compared something else");
        }
        if (matches)
                pass(&a->run->ones[a->next++]);
        else
                case_fail(&a->run->ones[a->next++], "0", "%s", reason);
        free(reason);
        return 0;
}

/* All that wait for it, in requests that are not too large. */
static int compare_some(struct cases_running *r, bool *ret_more, struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);
        struct answers answers = {r, 0};
        uint64_t bytes = 0;
        unsigned last = 0;
        int result;

        *ret_more = false;
        if (request < 0)
                return -1;
        for (unsigned i = 0; i < r->count; i++) {
                if (r->ones[i].state != COMPARING)
                        continue;
                if (bytes > SCORE_MAX_REQUEST / 2) {
                        *ret_more = true;
                        break;
                }
                if (put_comparison(r, &r->ones[i], request, err) < 0)
                        return error_add(err, "%s", r->ones[i].result.name);
                bytes += 2 * r->ones[i].output[0].head_len + (16 << 10);
                last = i;
        }
        if (bytes == 0)
                return 0;
        result = scorer_end_request(request, err);
        if (result == 0)
                result = scorer_ask(r->order->cells->channel, HELPER_COMPARE, request, take_answer,
                        &answers, err);
        if (result == 0 && r->ones[last].state == COMPARING)
                result = error_set(err, CODE_INTERNAL_FRAME, "the scorer left a comparison out");
        return result;
}

int cases_compare(struct cases_running *r, struct error *err)
{
        bool more = true;

        while (more)
                if (compare_some(r, &more, err) < 0)
                        return -1;
        return 0;
}

static int check(struct cases_running *r, struct one_case *o, struct error *err)
{
        _cleanup_buffer_ struct buffer expected = BUFFER_INIT;
        struct checked verdict;
        const struct check question = {
                .command = o->what->checker,
                .protocol = o->what->protocol,
                .input = &o->input,
                .expected = &expected,
                .actual = {.data = o->output[0].head, .len = o->output[0].head_len},
                .cells = r->order->cells,
                .checker_cell = r->order->checker_cell,
                .to = r->order->to,
        };

        if (case_read_expected(r, o, &expected, err) < 0 ||
                checker_run(&question, &verdict, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (strcmp(verdict.part, "1") == 0)
                pass(o);
        else
                case_fail(o, verdict.part, "%s", verdict.reason);
        return 0;
}

/* What it printed, when its end was good. The same bytes need nobody else. */
static int judge_output(struct cases_running *r, struct one_case *o, struct error *err)
{
        _cleanup_buffer_ struct buffer expected = BUFFER_INIT;

        if (o->what->checker[0])
                return check(r, o, err);
        if (!wants_output(o->what)) {
                pass(o);
                return 0;
        }
        if (o->what->comparison != COMPARE_EXACT) {
                o->state = COMPARING;
                return 0;
        }
        if (case_read_expected(r, o, &expected, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (expected.len == o->output[0].head_len &&
                memcmp(expected.data, o->output[0].head, expected.len) == 0)
                pass(o);
        else
                o->state = COMPARING;
        return 0;
}

/* Somebody of ours, not the program, brought it down. */
static int infra(const struct one_case *o, struct error *err)
{
        const struct running *both[] = {&o->cell, &o->interactor};

        for (unsigned i = 0; i < 2; i++) {
                const struct cell_outcome *end = &both[i]->outcome;

                if (both[i]->ended && end->failed.code != CODE_NONE) {
                        *err = end->failed;
                        return error_add(err, "%s", o->result.name);
                }
                if (both[i]->ended && end->stopped == CODE_INTERRUPTED)
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        }
        return 0;
}

/* The interactor's word counts even if the program then died of its end. But a program that leaves
 * it talking to nobody has failed by itself. */
static int judge_interaction(const struct cases_running *r, struct one_case *o, struct error *err)
{
        const struct cell_outcome *end = &o->interactor.outcome;
        struct checked verdict;

        if (o->cell.outcome.stopped != CODE_NONE) {
                judge_end(r, o);
                return 0;
        }
        if (end->end == CELL_SIGNALED && end->status == SIGPIPE) {
                case_fail(o, "0", "ended before the interactor was done");
                return 0;
        }
        if (interaction_judge(o->what->protocol, &o->interactor, &o->output[0], &verdict, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (strcmp(verdict.part, "1") != 0)
                case_fail(o, verdict.part, "%s", verdict.reason);
        else if (!judge_end(r, o))
                pass(o);
        return 0;
}

int case_judge(struct cases_running *r, struct one_case *o, struct error *err)
{
        int result = infra(o, err);

        if (result < 0)
                return -1;
        cell_usage_add(&r->outcome->usage, &o->cell.outcome);
        r->outcome->usage.output_bytes += o->output[0].total + o->output[1].total;
        o->result.us = o->cell.outcome.wall_us;
        if (o->what->interactor[0])
                return judge_interaction(r, o, err);
        return judge_end(r, o) ? 0 : judge_output(r, o, err);
}
