/* Running cases; see cases.h. Groups come one after the other; in a group as many cases run at once
 * as the task has processors, each in a fresh cell. What a program printed is compared here when it
 * must be the same bytes, else by assay-score, many at a time, or by a checker of the task in a
 * cell like the suite's. */
#include "cases.h"

#include "case_files.h"
#include "checker.h"

#include "fd.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MOST_CASES = 20000, MOST_AT_ONCE = 64, KEPT_ERRORS = 2048 };

enum state { WAITING, RUNNING, ENDED, COMPARING, JUDGED };

struct one {
        const struct task_case *what;
        const struct task_group *group;
        const char *in_path; /* of a file that `each` found */
        struct case_result result;
        enum state state;
        struct running cell, interactor;
        struct log output[2];
        struct buffer input;
};

struct run {
        const struct cases_order *order;
        struct cases_outcome *outcome;
        struct one *ones;
        unsigned count;
        char **paths; /* of all that were found; NULL at the end */
        unsigned at_once;
};

/* --- which there are ------------------------------------------------------------------------ */

static char *name_of(const struct task_group *g, const char *name)
{
        char *full = NULL;

        if (!*g->name)
                return strdup(name);
        return asprintf(&full, "%s/%s", g->name, name) < 0 ? NULL : full;
}

static int add(struct run *r, const struct task_group *g, const struct task_case *c,
        const char *path, const char *name, struct error *err)
{
        struct one *more =
                r->count < MOST_CASES ? realloc(r->ones, (r->count + 1) * sizeof *more) : NULL;

        if (!more)
                return error_set(err, r->count == MOST_CASES ? CODE_CASE_FILE : CODE_INFRA_MEMORY,
                        "more than %u cases", r->count);
        r->ones = more;
        more[r->count] = (struct one){
                .what = c,
                .group = g,
                .in_path = path,
                .input = BUFFER_INIT,
                .result.name = name_of(g, name),
                .result.group = g,
                .result.points = c->points,
                .result.part = "0",
                .result.visibility = g->visibility == VISIBILITY_COUNT
                                             ? r->order->task->visible_tests
                                             : g->visibility,
        };
        return more[r->count++].result.name ? 0
                                            : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int keep_paths(struct run *r, char **found, struct error *err)
{
        unsigned have = 0, more = 0;
        char **all;

        while (r->paths && r->paths[have])
                have++;
        while (found[more])
                more++;
        all = realloc(r->paths, (have + more + 1) * sizeof *all);
        if (!all)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        memcpy(all + have, found, (more + 1) * sizeof *all);
        r->paths = all;
        return 0;
}

static int expand(
        struct run *r, const struct task_group *g, const struct task_case *c, struct error *err)
{
        char **found = case_files_find(r->order->task, c->in, err);
        int result = 0;

        if (!found)
                return -1;
        if (keep_paths(r, found, err) < 0) {
                texts_free(found);
                return -1;
        }
        for (char **path = found; result == 0 && *path; path++) {
                char *name = case_file_named("{name}", *path);

                result = name ? add(r, g, c, *path, name, err)
                              : error_set(err, CODE_INFRA_MEMORY, "out of memory");
                free(name);
        }
        free(found);
        return result;
}

static int list_cases(struct run *r, struct error *err)
{
        const struct task_cases *all = &r->order->task->cases;

        for (unsigned i = 0; i < all->count; i++)
                for (unsigned n = 0; n < all->groups[i].case_count; n++) {
                        const struct task_case *c = &all->groups[i].cases[n];

                        if ((c->each ? expand(r, &all->groups[i], c, err)
                                     : add(r, &all->groups[i], c, NULL, c->name, err)) < 0)
                                return -1;
                }
        return 0;
}

/* --- how one came out ----------------------------------------------------------------------- */

/* What it read and printed: judged, nobody needs it any more, and there may be many. */
static void free_one(struct one *o)
{
        log_free(&o->output[0]);
        log_free(&o->output[1]);
        buffer_free(&o->input);
}

__attribute__((format(printf, 3, 4))) static void fail(
        struct one *o, const char *part, const char *format, ...)
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
        free_one(o);
}

static void pass(struct one *o)
{
        snprintf(o->result.part, sizeof o->result.part, "1");
        o->result.passed = true;
        o->state = JUDGED;
        free_one(o);
}

static void fail_limit(struct one *o, const struct limits *limits)
{
        static const struct {
                enum code code;
                enum limit limit;
                const char *sentence;
        } rows[] = {
                {CODE_LIMIT_WALL, LIMIT_WALL, "ran longer than"},
                {CODE_LIMIT_CPU, LIMIT_CPU, "used more processor time than"},
                {CODE_LIMIT_MEMORY, LIMIT_MEMORY, "needed more memory than"},
                {CODE_LIMIT_PIDS, LIMIT_PIDS, "wanted more processes and threads than"},
                {CODE_LIMIT_DISK, LIMIT_DISK, "filled its file system of"},
                {CODE_LIMIT_OUTPUT, LIMIT_OUTPUT, "printed more than"},
        };
        char value[32];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].code == o->cell.outcome.stopped) {
                        limit_format(
                                rows[i].limit, limits->value[rows[i].limit], value, sizeof value);
                        fail(o, "0", "%s: %s %s", code_info(rows[i].code)->name, rows[i].sentence,
                                value);
                        return;
                }
        fail(o, "0", "was stopped (%s)", code_info(o->cell.outcome.stopped)->name);
}

static struct limits limits_of(const struct run *r, const struct task_case *c)
{
        struct limits l = r->order->submission->limits;

        if (c->timeout_us > 0) {
                l.value[LIMIT_CPU] = c->timeout_us;
                l.value[LIMIT_WALL] = 3 * c->timeout_us + 1000000;
        }
        return l;
}

/* Its end: by itself, or by its limits. False: what it printed decides. */
static bool judge_end(const struct run *r, struct one *o)
{
        const struct cell_outcome *end = &o->cell.outcome;
        const struct limits limits = limits_of(r, o->what);
        const uint64_t most = limits.value[LIMIT_OUTPUT];

        /* It may have ended before we had read all: that must not decide. */
        if (end->stopped == CODE_NONE && !o->what->interactor[0] &&
                o->output[0].total + o->output[1].total > most)
                o->cell.outcome.stopped = CODE_LIMIT_OUTPUT;
        if (o->cell.outcome.stopped != CODE_NONE)
                fail_limit(o, &limits);
        else if (end->end == CELL_EXEC_FAILED)
                fail(o, "0", "%s cannot be executed: %s", o->what->command[0],
                        strerror((int)end->status));
        else if (end->end == CELL_SIGNALED)
                fail(o, "0", "died from signal %u (%s)", (unsigned)end->status,
                        strsignal((int)end->status));
        else if (end->status != o->what->exit)
                fail(o, "0", "exited with status %u, expected %u", (unsigned)end->status,
                        o->what->exit);
        else
                return false;
        return true;
}

/* --- comparing ------------------------------------------------------------------------------ */

static bool wants_output(const struct task_case *c)
{
        return c->out_given != CASE_NOTHING || c->comparison == COMPARE_REGEX ||
               c->comparison == COMPARE_CONTAINS || c->checker[0];
}

static int read_given(const struct run *r, enum case_given given, const char *text,
        const char *path, struct buffer *ret, struct error *err)
{
        if (given == CASE_FILE)
                return case_file_read(r->order->task, path, ret, err);
        if (given == CASE_TEXT)
                buffer_add_text(ret, text);
        return buffer_ok(ret) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int read_expected(
        const struct run *r, const struct one *o, struct buffer *ret, struct error *err)
{
        const struct task_case *c = o->what;
        char *path;
        int result;

        if (c->out_given != CASE_FILE || !c->each)
                return read_given(r, c->out_given, c->out, c->out, ret, err);
        path = case_file_named(c->out, o->in_path);
        if (!path)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        result = read_given(r, CASE_FILE, NULL, path, ret, err);
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

static int put_comparison(const struct run *r, const struct one *o, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT, expected = BUFFER_INIT;
        const struct task_case *c = o->what;

        if (read_expected(r, o, &expected, err) < 0)
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
        struct run *run;
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
                fail(&a->run->ones[a->next++], "0", "%s", reason);
        free(reason);
        return 0;
}

/* All that wait for it, in requests that are not too large. */
static int compare_some(struct run *r, bool *ret_more, struct error *err)
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

static int compare_all(struct run *r, struct error *err)
{
        bool more = true;

        while (more)
                if (compare_some(r, &more, err) < 0)
                        return -1;
        return 0;
}

static int check(struct run *r, struct one *o, struct error *err)
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

        if (read_expected(r, o, &expected, err) < 0 || checker_run(&question, &verdict, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (strcmp(verdict.part, "1") == 0)
                pass(o);
        else
                fail(o, verdict.part, "%s", verdict.reason);
        return 0;
}

/* What it printed, when its end was good. The same bytes need nobody else. */
static int judge_output(struct run *r, struct one *o, struct error *err)
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
        if (read_expected(r, o, &expected, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (expected.len == o->output[0].head_len &&
                memcmp(expected.data, o->output[0].head, expected.len) == 0)
                pass(o);
        else
                o->state = COMPARING;
        return 0;
}

/* --- running -------------------------------------------------------------------------------- */

static void on_end(void *to, struct running *unused)
{
        struct one *o = to;

        (void)unused;
        if (o->state == RUNNING && o->cell.ended &&
                (!o->what->interactor[0] || o->interactor.ended))
                o->state = ENDED;
}

static int start(struct run *r, struct one *o, struct error *err)
{
        const struct task_case *c = o->what;
        const struct limits limits = limits_of(r, c);
        const uint64_t most = limits.value[LIMIT_OUTPUT];
        struct running_pipes pipes = {.logs = {&o->output[0], &o->output[1]}};
        struct cell_order order;

        if (read_given(r, c->in_given, c->in, o->in_path ? o->in_path : c->in, &o->input, err) < 0)
                return -1;
        if (log_init(&o->output[0], most, 0, err) < 0 ||
                log_init(&o->output[1], KEPT_ERRORS, KEPT_ERRORS, err) < 0)
                return -1;
        submission_cell_order(r->order->submission, &order);
        order.argv = (const char *const *)c->command;
        order.limits = limits;
        o->cell = (struct running){.on_end = on_end, .to = o};
        o->interactor = (struct running){.on_end = on_end, .to = o};
        o->state = RUNNING;
        pipes.most = most;
        pipes.feed = (const char *)o->input.data;
        pipes.feed_size = o->input.len;
        if (c->interactor[0]) {
                const struct interaction between = {
                        .command = c->interactor,
                        .input = &o->input,
                        .program = &order,
                        .program_cell = &o->cell,
                        .interactor_cell = &o->interactor,
                        .log = {&o->output[0], &o->output[1]},
                        .cells = r->order->cells,
                        .checker_cell = r->order->checker_cell,
                        .to = r->order->to,
                };

                return interaction_start(&between, err);
        }
        return cells_start(r->order->cells, &o->cell, &order, &pipes, err);
}

/* Somebody of ours, not the program, brought it down. */
static int infra(const struct one *o, struct error *err)
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
static int judge_interaction(const struct run *r, struct one *o, struct error *err)
{
        const struct cell_outcome *end = &o->interactor.outcome;
        struct checked verdict;

        if (o->cell.outcome.stopped != CODE_NONE) {
                judge_end(r, o);
                return 0;
        }
        if (end->end == CELL_SIGNALED && end->status == SIGPIPE) {
                fail(o, "0", "ended before the interactor was done");
                return 0;
        }
        if (interaction_judge(o->what->protocol, &o->interactor, &o->output[0], &verdict, err) < 0)
                return error_add(err, "%s", o->result.name);
        if (strcmp(verdict.part, "1") != 0)
                fail(o, verdict.part, "%s", verdict.reason);
        else if (!judge_end(r, o))
                pass(o);
        return 0;
}

static int judge(struct run *r, struct one *o, struct error *err)
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

/* What waits to be compared is not kept until it is too much. */
static int settle(struct run *r, unsigned from, unsigned to, struct error *err)
{
        uint64_t held = 0;

        for (unsigned i = from; i < to; i++)
                if (r->ones[i].state == ENDED && judge(r, &r->ones[i], err) < 0)
                        return -1;
        for (unsigned i = from; i < to; i++)
                if (r->ones[i].state == COMPARING)
                        held += r->ones[i].output[0].head_len;
        return held > SCORE_MAX_REQUEST / 2 ? compare_all(r, err) : 0;
}

/* Those from `from` to `to` are a group's. */
static int run_group(struct run *r, unsigned from, unsigned to, struct error *err)
{
        const bool stop = r->ones[from].group->stop_on_failure;
        const unsigned at_once = stop ? 1 : r->at_once;
        unsigned next = from, running = 0;

        while (next < to || running > 0) {
                for (; next < to && running < at_once; next++, running++) {
                        if (start(r, &r->ones[next], err) < 0)
                                return error_add(err, "%s", r->ones[next].result.name);
                        if (channel_prepare_cell(r->order->cells->channel, err) < 0)
                                return -1;
                }
                if (cells_turn(r->order->cells, err) < 0 || settle(r, from, next, err) < 0)
                        return -1;
                running = 0;
                for (unsigned i = from; i < next; i++)
                        running += r->ones[i].state == RUNNING;
                if (stop && running == 0 && compare_all(r, err) < 0)
                        return -1;
                if (stop && running == 0 && next > from && !r->ones[next - 1].result.passed)
                        break;
        }
        for (; next < to; next++)
                fail(&r->ones[next], "0", "not run: an earlier case of the group failed");
        return compare_all(r, err);
}

static bool has_passed(const struct run *r, const char *group)
{
        for (unsigned i = 0; i < r->count; i++)
                if (strcmp(r->ones[i].group->name, group) == 0 && !r->ones[i].result.passed)
                        return false;
        return true;
}

/* A group that stands before this one and has not passed, of those it requires. */
static const char *missing(const struct run *r, const struct task_group *g)
{
        for (char **name = g->requires; *name; name++)
                if (!has_passed(r, *name))
                        return *name;
        return NULL;
}

static int run_all(struct run *r, struct error *err)
{
        for (unsigned from = 0, to; from < r->count; from = to) {
                const struct task_group *g = r->ones[from].group;
                const char *not_passed = missing(r, g);

                for (to = from; to < r->count && r->ones[to].group == g; to++)
                        if (not_passed)
                                fail(&r->ones[to], "0", "not run: group %s did not pass",
                                        not_passed);
                if (!not_passed && run_group(r, from, to, err) < 0)
                        return -1;
        }
        return 0;
}

static int hand_over(struct run *r, struct error *err)
{
        struct cases_outcome *o = r->outcome;

        o->results = calloc(r->count + 1, sizeof *o->results);
        if (!o->results)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (; o->count < r->count; o->count++) {
                o->results[o->count] = r->ones[o->count].result;
                r->ones[o->count].result = (struct case_result){0};
        }
        return 0;
}

int cases_run(const struct cases_order *order, struct cases_outcome *ret, struct error *err)
{
        struct run r = {.order = order, .outcome = ret};
        const uint64_t cpus = order->task->limits[CELL_SUITE].value[LIMIT_CPUS];
        int result = list_cases(&r, err);

        r.at_once = (unsigned)((cpus + 999) / 1000);
        if (r.at_once > MOST_AT_ONCE)
                r.at_once = MOST_AT_ONCE;
        if (result == 0)
                result = run_all(&r, err);
        if (result < 0)
                cells_close(order->cells); /* they are in `ones` */
        if (result == 0)
                result = hand_over(&r, err);
        for (unsigned i = 0; i < r.count; i++) {
                free_one(&r.ones[i]);
                free(r.ones[i].result.name);
                free(r.ones[i].result.reason);
        }
        free(r.ones);
        texts_free(r.paths);
        return result;
}

/* --- the score ------------------------------------------------------------------------------ */

static int put_request(const struct cases_outcome *o, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        const struct task_group *last = NULL;

        for (unsigned i = 0; i < o->count; i++) {
                const struct task_group *g = o->results[i].group;

                if (g != last) {
                        put_text(&payload, g->name);
                        put_text(&payload, g->points);
                        put_u8(&payload, (uint8_t)g->aggregate);
                        if (scorer_put(request, CASES_GROUP, &payload, err) < 0)
                                return -1;
                }
                last = g;
                put_text(&payload, o->results[i].points);
                put_text(&payload, o->results[i].part);
                if (scorer_put(request, CASES_CASE, &payload, err) < 0)
                        return -1;
        }
        return scorer_end_request(request, err);
}

void cases_free(struct cases_outcome *o)
{
        for (unsigned i = 0; i < o->count; i++) {
                free(o->results[i].name);
                free(o->results[i].reason);
        }
        free(o->results);
        *o = (struct cases_outcome){0};
}

int cases_score(struct channel *c, const struct cases_outcome *o, scorer_take take, void *to,
        struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);

        return request < 0 || put_request(o, request, err) < 0
                       ? -1
                       : scorer_ask(c, HELPER_CASES, request, take, to, err);
}
