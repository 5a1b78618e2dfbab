/* Running cases; see cases.h. Groups come one after the other; in a group as many cases run at once
 * as the task has processors, each in a fresh cell. */
#include "cases_parts.h"

#include "case_files.h"
#include "checker.h"
#include "fd.h"

#include <stdlib.h>

enum { MOST_CASES = 20000, MOST_AT_ONCE = 64, KEPT_ERRORS = 2048 };

/* --- which there are ------------------------------------------------------------------------ */

static char *name_of(const struct task_group *g, const char *name)
{
        char *full = NULL;

        if (!*g->name)
                return strdup(name);
        return asprintf(&full, "%s/%s", g->name, name) < 0 ? NULL : full;
}

/* Takes `*path` over, where there is one. */
static int add(struct cases_running *r, const struct task_group *g, const struct task_case *c,
        char **path, const char *name, struct error *err)
{
        struct one_case *more;

        if (r->count == MOST_CASES)
                return error_set(err, CODE_CASE_FILE, "more than %d cases", MOST_CASES);
        more = realloc(r->ones, (r->count + 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r->ones = more;
        more[r->count] = (struct one_case){
                .what = c,
                .group = g,
                .in_path = path ? *path : NULL,
                .input = BUFFER_INIT,
                .result.name = name_of(g, name),
                .result.group = g,
                .result.points = c->points,
                .result.part = "0",
                .result.visibility = g->visibility == VISIBILITY_COUNT
                                             ? r->order->task->visible_tests
                                             : g->visibility,
        };
        if (path)
                *path = NULL;
        return more[r->count++].result.name ? 0
                                            : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int expand(struct cases_running *r, const struct task_group *g, const struct task_case *c,
        struct error *err)
{
        struct files found;
        int result = case_files_find(r->order->task, c->in, &found, err);

        for (unsigned i = 0; result == 0 && i < found.count; i++) {
                char *name = case_file_named("{name}", found.paths[i]);

                result = name ? add(r, g, c, &found.paths[i], name, err)
                              : error_set(err, CODE_INFRA_MEMORY, "out of memory");
                free(name);
        }
        files_free(&found);
        return result;
}

static int list_cases(struct cases_running *r, struct error *err)
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

/* --- running -------------------------------------------------------------------------------- */

static void on_end(void *to, struct running *unused)
{
        struct one_case *o = to;

        (void)unused;
        if (o->state == RUNNING && o->cell.ended &&
                (!o->what->interactor[0] || o->interactor.ended))
                o->state = ENDED;
}

static int start(struct cases_running *r, struct one_case *o, struct error *err)
{
        const struct task_case *c = o->what;
        const struct limits limits = case_limits(r, c);
        const uint64_t most = limits.value[LIMIT_OUTPUT];
        struct running_pipes pipes = {.logs = {&o->output[0], &o->output[1]}};
        struct cell_order order;

        if (case_read_given(
                    r, c->in_given, c->in, o->in_path ? o->in_path : c->in, &o->input, err) < 0)
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

/* What waits to be compared is not kept until it is too much. */
static int settle(struct cases_running *r, unsigned from, unsigned to, struct error *err)
{
        uint64_t held = 0;

        for (unsigned i = from; i < to; i++)
                if (r->ones[i].state == ENDED && case_judge(r, &r->ones[i], err) < 0)
                        return -1;
        for (unsigned i = from; i < to; i++)
                if (r->ones[i].state == COMPARING)
                        held += r->ones[i].output[0].head_len;
        return held > SCORE_MAX_REQUEST / 2 ? cases_compare(r, err) : 0;
}

/* Those from `from` to `to` are a group's. */
static int run_group(struct cases_running *r, unsigned from, unsigned to, struct error *err)
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
                if (stop && running == 0 && cases_compare(r, err) < 0)
                        return -1;
                if (stop && running == 0 && next > from && !r->ones[next - 1].result.passed)
                        break;
        }
        for (; next < to; next++)
                case_fail(&r->ones[next], "0", "not run: an earlier case of the group failed");
        return cases_compare(r, err);
}

static bool has_passed(const struct cases_running *r, const char *group)
{
        for (unsigned i = 0; i < r->count; i++)
                if (strcmp(r->ones[i].group->name, group) == 0 && !r->ones[i].result.passed)
                        return false;
        return true;
}

/* A group that stands before this one and has not passed, of those it requires. */
static const char *missing(const struct cases_running *r, const struct task_group *g)
{
        for (char **name = g->requires; *name; name++)
                if (!has_passed(r, *name))
                        return *name;
        return NULL;
}

static int run_all(struct cases_running *r, struct error *err)
{
        for (unsigned from = 0, to; from < r->count; from = to) {
                const struct task_group *g = r->ones[from].group;
                const char *not_passed = missing(r, g);

                for (to = from; to < r->count && r->ones[to].group == g; to++)
                        if (not_passed)
                                case_fail(&r->ones[to], "0", "not run: group %s did not pass",
                                        not_passed);
                if (!not_passed && run_group(r, from, to, err) < 0)
                        return -1;
        }
        return 0;
}

static int hand_over(struct cases_running *r, struct error *err)
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

static void forget_all(struct cases_running *r)
{
        for (unsigned i = 0; i < r->count; i++) {
                case_forget(&r->ones[i]);
                free(r->ones[i].result.name);
                free(r->ones[i].result.reason);
                free(r->ones[i].in_path);
        }
        free(r->ones);
}

int cases_run(const struct cases_order *order, struct cases_outcome *ret, struct error *err)
{
        struct cases_running r = {.order = order, .outcome = ret};
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
        forget_all(&r);
        return result;
}

/* --- a look at one ------------------------------------------------------------------------------
 */

static int look(const struct cases_running *r, const struct one_case *o, struct case_look *ret,
        struct error *err)
{
        const struct task_case *c = o->what;

        ret->command = c->command;
        ret->has_expected = c->out_given != CASE_NOTHING;
        return case_read_given(r, c->in_given, c->in, o->in_path ? o->in_path : c->in, &ret->input,
                       err) < 0 ||
                               case_read_expected(r, o, &ret->expected, err) < 0
                       ? -1
                       : 0;
}

int cases_look(
        const struct cases_order *order, const char *name, struct case_look *ret, struct error *err)
{
        struct cases_running r = {.order = order};
        int result = list_cases(&r, err);
        bool found = false;

        *ret = (struct case_look){.input = BUFFER_INIT, .expected = BUFFER_INIT};
        for (unsigned i = 0; result == 0 && !found && i < r.count; i++) {
                const char *is = r.ones[i].result.name;

                found = is && strcmp(is, name) == 0;
                if (found)
                        result = look(&r, &r.ones[i], ret, err);
        }
        forget_all(&r);
        return result < 0 || found ? result
                                   : error_set(err, CODE_USAGE, "the task has no case %s", name);
}

void case_look_free(struct case_look *l)
{
        buffer_free(&l->input);
        buffer_free(&l->expected);
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
