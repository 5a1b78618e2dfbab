/* The phases of an evaluation, in order; see evaluation.h. */
#include "evaluation.h"

#include "clock.h"
#include "evaluators/contract.h"
#include "fd.h"
#include "grade_rows.h"
#include "image/store.h"
#include "input.h"
#include "interrupt.h"
#include "judge.h"
#include "keep.h"
#include "matching.h"
#include "metadata.h"
#include "privilege.h"
#include "quantity.h"
#include "replay.h"
#include "storing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *status_name(enum status s)
{
        static const char *const names[] = {"graded", "pending", "rejected", "ungradable", "error"};

        return names[s];
}

const char *integrity_name(enum integrity i)
{
        static const char *const names[] = {"isolated", "brokered", "shared"};

        return names[i];
}

/* A number is taken as it stands; anything else names a verdict file. */
static int open_verdict(struct evaluation *e, struct error *err)
{
        const char *given = e->options->llm_score;

        if (!given || scorer_is_score(given))
                return 0;
        if (scorer_is_decimal(given))
                return error_set(err, CODE_USAGE,
                        "--llm-score %s: not between 0 and 100, or too long", given);
        e->verdict_file = input_open_file(given);
        if (e->verdict_file < 0)
                return error_errno(err, CODE_USAGE, errno,
                        "--llm-score %s: no number from 0 to 100, and no file either", given);
        return 0;
}

static int open_trajectory(struct evaluation *e, struct error *err)
{
        const char *path = e->options->trajectory;

        if (!path)
                return 0;
        e->trajectory = input_open_file(path);
        return e->trajectory >= 0 ? 0
                                  : error_errno(err, CODE_USAGE, errno, "--trajectory %s", path);
}

int evaluation_check_options(const struct evaluation_options *o, struct error *err)
{
        const struct {
                const char *name, *value;
        } numbers[] = {{"--fail-under", o->fail_under}, {"--time-used", o->time_used}};
        uint64_t seed;

        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                if (numbers[i].value &&
                        (!scorer_is_decimal(numbers[i].value) || *numbers[i].value == '-' ||
                                strlen(numbers[i].value) > SCORE_MAX_DIGITS))
                        return error_set(err, CODE_USAGE, "%s %s: not a number such as 70 or 0.5",
                                numbers[i].name, numbers[i].value);
        if (o->seed && quantity_parse_count(o->seed, &seed) < 0)
                return error_set(err, CODE_USAGE, "--seed %s: must be a whole number", o->seed);
        return storing_check(o, err);
}

/* Who reads it second would find nothing. */
static int check_input(
        const char *submission, const struct evaluation_options *o, struct error *err)
{
        const char *const files[] = {submission, o->llm_score, o->trajectory, o->replay};
        unsigned from_input = 0;

        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                from_input += files[i] && strcmp(files[i], "-") == 0;
        return from_input < 2 ? 0
                              : error_set(err, CODE_USAGE,
                                        "-: only one of the files can be standard input");
}

static int open_supervisor(struct evaluation *e, struct error *err)
{
        if (!e->options->kept)
                return channel_open(&e->channel, err);
        channel_adopt(&e->channel, e->options->kept->supervisor);
        return 0;
}

static int open_watcher(struct evaluation *e, struct error *err)
{
        if (e->options->depth != EVALUATE_ALL)
                return 0;
        if (!e->options->kept)
                return watcher_start(&e->watcher, &e->task, err);
        watcher_adopt(&e->watcher, e->options->kept->watcher);
        return 0;
}

static int open_task(struct evaluation *e, const char *path, struct error *err)
{
        const struct evaluation_kept *kept = e->options->kept;

        if (task_open(&e->task, path, err) < 0)
                return -1;
        return !kept || strcmp(kept->task->digest, e->task.state.digest) == 0
                       ? 0
                       : error_set(err, CODE_TASK_CHANGED, "%s: changed before the task graded",
                                 e->task.state.newest);
}

int evaluation_open(struct evaluation *e, const char *task, const char *submission,
        const struct evaluation_options *options, struct error *err)
{
        *e = (struct evaluation){
                .options = options,
                .task = TASK_INIT,
                .policy = POLICY_INIT,
                .submission = SUBMISSION_INIT,
                .workspace = WORKSPACE_INIT,
                .channel = CHANNEL_INIT,
                .image_store = -EBADF,
                .verdict_file = -EBADF,
                .trajectory = -EBADF,
                .kept = -EBADF,
                .watcher = WATCHER_INIT,
                .store = STORE_CHANNEL_INIT,
                .attempt = 1,
                .replay.file = -EBADF,
                .outcome = CELL_OUTCOME_INIT,
                .build = {.outcome = CELL_OUTCOME_INIT, .tree = -EBADF},
                .cell.tree = -EBADF,
                .broker.listener.fd = -EBADF,
                .started_us = clock_us(),
        };
        interrupt_hold();
        umask(077); /* whatever the caller's is: nothing of ours is for others */
        /* The supervisor gets ready while we look at the files. */
        if (evaluation_check_options(options, err) < 0 ||
                check_input(submission, options, err) < 0 || open_supervisor(e, err) < 0 ||
                open_task(e, task, err) < 0 || open_watcher(e, err) < 0 ||
                policy_open(&e->policy, options->policy, err) < 0 ||
                submission_open(&e->submission, submission, err) < 0 || open_verdict(e, err) < 0 ||
                open_trajectory(e, err) < 0 || replay_open(e, err) < 0 ||
                workspace_make(&e->workspace, options->stored.result_id, err) < 0 ||
                (options->keep && keep_open(e, err) < 0) || storing_open(e, err) < 0)
                return -1;
        e->image_store = image_store_open_root(err);
        if (e->image_store < 0)
                return -1;
        if (task_trust(&e->task, &e->channel, err) < 0)
                return -1;
        if (e->submission.is_directory &&
                channel_trust_tree(&e->channel, e->submission.archive, err) < 0)
                return -1;
        if ((options->allow_network || policy_is_there(&e->policy)) &&
                channel_allow_network(&e->channel, err) < 0)
                return -1;
        if (judge_open(&e->channel, &e->policy, err) < 0 ||
                cells_open(&e->cells, &e->channel, err) < 0)
                return -1;
        return privilege_drop(err);
}

/* --- phases --------------------------------------------------------------------------------- */

static bool runs_suite(const struct evaluation *e)
{
        return e->task.mode != MODE_LLM && e->task.mode != MODE_ANSWER &&
               e->options->depth != EVALUATE_INTAKE;
}

static int phase_received(struct evaluation *e, struct error *err)
{
        if (submission_receive(&e->submission, &e->task, err) < 0)
                return -1;
        return matching_arrive(e, err);
}

static int phase_unpack(struct evaluation *e, struct error *err)
{
        /* The suite's cell gets its namespaces meanwhile. */
        if (runs_suite(e) && (channel_limit_total(&e->channel, e->task.total_memory, err) < 0 ||
                                     channel_prepare_cell(&e->channel, err) < 0))
                return -1;
        if (submission_unpack(&e->submission, &e->task, &e->workspace, &e->channel, err) < 0 ||
                matching_enter(e, err) < 0)
                return -1;
        e->cell.tree = e->submission.root; /* until something is built */
        return e->task.scheme == SCHEME_COMPOSITE ? grade_read_workflow(e, err) : 0;
}

/* Does code of the submission run in a cell of its own? */
static bool has_submission_cells(const struct evaluation *e)
{
        return e->task.broker || e->task.build != BUILD_NONE || e->task.cases.count > 0;
}

static int phase_image(struct evaluation *e, struct error *err)
{
        const struct task *t = &e->task;

        if (strcmp(t->image, "host") != 0 &&
                image_open_in(&e->image, e->image_store, t->image, NULL, true, err) < 0)
                return -1;
        return has_submission_cells(e) ? submission_cell_prepare(e, err) : 0;
}

/* A build that fails is the submission's fault: it is rejected, or has 0 from the suite. */
static int phase_build(struct evaluation *e, struct error *err)
{
        if (e->task.build == BUILD_NONE)
                return build_check_run(e, err);
        if (e->build.tree < 0)
                e->build.tree = fcntl(e->workspace.built, F_DUPFD_CLOEXEC, 3);
        if (e->build.tree < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "the build");
        if (build_run(e, err) == 0)
                return 0;
        return e->task.build == BUILD_ZERO && err->code == CODE_BUILD_FAILED ? grade_as_zero(e, err)
                                                                             : -1;
}

static bool has_cases(const struct evaluation *e)
{
        return e->task.cases.count > 0;
}

/* Cases and tools start one after the other, in the phase that follows. */
static int phase_start(struct evaluation *e, struct error *err)
{
        return has_cases(e) || e->task.workflow.given ? suite_cell_prepare_checker(e, err)
                                                      : suite_start(e, err);
}

/* The suite, where there is one, looks at what the tools made of it. */
static int run_workflow(struct evaluation *e, struct error *err)
{
        const struct workflow_order order = {
                .task = &e->task,
                .cells = &e->cells,
                .tool_cell = suite_cell_order_tool,
                .to = e,
        };

        e->integrity = INTEGRITY_ISOLATED;
        if (workflow_run(&order, &e->workflow, err) < 0)
                return -1;
        if (!e->task.workflow.by_suite)
                return 0;
        return suite_start(e, err) < 0 ? -1 : suite_run(e, err);
}

static int phase_run(struct evaluation *e, struct error *err)
{
        const struct cases_order order = {
                .task = &e->task,
                .submission = &e->cell,
                .cells = &e->cells,
                .checker_cell = suite_cell_order_checker,
                .to = e,
        };

        if (e->task.workflow.given)
                return run_workflow(e, err);
        if (!has_cases(e))
                return suite_run(e, err);
        e->integrity = INTEGRITY_ISOLATED;
        return cases_run(&order, &e->cases, err);
}

static int phase_collect(struct evaluation *e, struct error *err)
{
        if (has_cases(e))
                return grade_cases(e, err);
        if (e->task.workflow.given && !e->task.workflow.by_suite)
                return 0;

        if (suite_judge(e, err) == 0)
                return grade_collect(e, err);
        if (e->outcome.stopped == CODE_NONE || e->outcome.stopped == CODE_INTERRUPTED ||
                e->task.on_limit == ON_LIMIT_ERROR)
                return -1;
        return e->task.on_limit == ON_LIMIT_ZERO ? grade_as_zero(e, err) : grade_partial(e, err);
}

static int phase_score(struct evaluation *e, struct error *err)
{
        static int (*const schemes[SCHEME_COUNT])(struct evaluation * e, struct error * err) = {
                [SCHEME_BLEND] = grade_blend,
                [SCHEME_DIMENSIONS] = grade_dimensions,
                [SCHEME_COMPOSITE] = grade_workflow,
        };

        return schemes[e->task.scheme](e, err);
}

static const struct {
        const char *name;
        int (*run)(struct evaluation *e, struct error *err);
        bool modes[MODE_COUNT]; /* llm, container, hybrid, answer, workflow */
} phases[PHASE_COUNT] = {
        [PHASE_RECEIVED] = {"received", phase_received, {true, true, true, true, true}},
        [PHASE_UNPACK] = {"unpack", phase_unpack, {true, true, true, true, true}},
        [PHASE_IMAGE] = {"image", phase_image, {false, true, true, false, true}},
        [PHASE_BUILD] = {"build", phase_build, {true, true, true, false, false}},
        [PHASE_START] = {"start", phase_start, {false, true, true, false, true}},
        [PHASE_RUN] = {"run", phase_run, {false, true, true, false, true}},
        [PHASE_COLLECT] = {"collect", phase_collect, {false, true, true, false, true}},
        [PHASE_JUDGE] = {"judge", grade_verdict, {true, false, true, false, false}},
        [PHASE_SCORE] = {"score", phase_score, {true, true, true, true, true}},
};

const char *phase_name(enum phase p)
{
        return phases[p].name;
}

static void refuse_weak_limits(struct evaluation *e)
{
        char names[128];

        if (!e->channel.facts.weak)
                return;
        limits_names(e->channel.facts.weak, names, sizeof names);
        error_set(&e->error, CODE_INFRA_LIMITS,
                "this machine cannot hold a cell to its limits (%s)", names);
}

static bool is_due(const struct evaluation *e, enum phase p)
{
        static const enum phase last[] = {
                [EVALUATE_ALL] = PHASE_SCORE,
                [EVALUATE_INTAKE] = PHASE_UNPACK,
                [EVALUATE_CELLS] = PHASE_BUILD,
        };

        if (!phases[p].modes[e->task.mode] || p > last[e->options->depth])
                return false;
        /* Without a verdict `assay finalize` goes on from what else there is. */
        if (e->error.code != CODE_NONE && !(p == PHASE_SCORE && grade_waits(e)))
                return false;
        if (p == PHASE_BUILD)
                return e->task.build != BUILD_NONE ||
                       (e->options->depth == EVALUATE_ALL && build_check_is_due(e));
        /* What did not build is not run. */
        return !(p >= PHASE_START && p <= PHASE_COLLECT && e->suite.present);
}

/* Where an operator has a policy, the task was held to it. */
static bool may_use_network(const struct evaluation *e)
{
        return e->options->allow_network || policy_is_there(&e->policy);
}

static void run_phase(struct evaluation *e, enum phase p)
{
        struct error failed = {0};

        e->phases[p].start_us = clock_us() - e->started_us;
        if (phases[p].run(e, &failed) < 0) {
                if (failed.code == CODE_NONE)
                        error_set(&failed, CODE_INTERNAL_BUG, "phase %s failed silently",
                                phases[p].name);
                e->error = failed;
        }
        e->phases[p].us = clock_us() - e->started_us - e->phases[p].start_us;
        e->phases[p].ran = true;
}

/* Nothing that was found with a task that changed meanwhile counts. */
static void check_task(struct evaluation *e)
{
        struct error failed = {0};
        char text[600];

        if (e->watcher.socket < 0)
                return;
        if (watcher_ask(&e->watcher, &e->watched, &failed) == 0 && *e->watched.changed)
                error_set(&failed, CODE_TASK_CHANGED, "%s: changed while the task graded",
                        e->watched.changed);
        if (failed.code != CODE_NONE && e->error.code != CODE_INTERRUPTED) {
                e->error = failed;
                e->blend.present = e->blend.parts = false;
                dimensions_free(&e->dimensions);
        }
        if (*e->watched.unread) {
                snprintf(text, sizeof text, "there is no digest of it: %s", e->watched.unread);
                grade_note(e, "task", text);
        }
}

/* Else only cells do. */
static bool reads_parts(const struct task *t)
{
        return t->cases.count > 0 || t->scheme == SCHEME_DIMENSIONS || metadata_names_command(t);
}

int evaluation_run(struct evaluation *e, struct error *err)
{
        const struct evaluation_kept *kept = e->options->kept;

        if (task_read(&e->task, &e->channel, kept ? kept->document : NULL, err) < 0 ||
                policy_apply(&e->policy, &e->task, &e->channel, err) < 0 ||
                replay_read(e, err) < 0 ||
                (reads_parts(&e->task) && task_show(&e->task, &e->channel, err) < 0))
                return -1;
        if (e->options->llm_score && e->task.mode != MODE_LLM && e->task.mode != MODE_HYBRID)
                return error_set(err, CODE_USAGE, "--llm-score: this task has no judge");
        if (e->options->time_used && e->task.scheme != SCHEME_DIMENSIONS)
                return error_set(err, CODE_USAGE, "--time-used: this task does not score time");
        if (e->options->trajectory && e->task.scheme != SCHEME_DIMENSIONS)
                return error_set(err, CODE_USAGE,
                        "--trajectory: this task does not score what an agent did");
        if (e->task.network && runs_suite(e) && !may_use_network(e))
                return error_set(err, CODE_TASK_NOT_PERMITTED,
                        "limits.network is \"outbound\", which this run does not permit");
        workspace_sweep(&e->workspace, &e->channel);
        /* Before anything is unpacked in vain. The supervisor would refuse the same. */
        if (runs_suite(e) && !e->options->allow_weak)
                refuse_weak_limits(e);
        if (e->options->depth == EVALUATE_ALL && e->task.needs_time && !e->options->time_used &&
                !e->options->match)
                error_set(&e->error, CODE_SCORE_TIME, "the task scores the time that was used");
        for (unsigned i = 0; i < PHASE_COUNT; i++) {
                if (!is_due(e, (enum phase)i))
                        continue;
                if (interrupt_came()) {
                        error_set(&e->error, CODE_INTERRUPTED, "interrupted before phase %s",
                                phases[i].name);
                        break;
                }
                run_phase(e, (enum phase)i);
        }
        check_task(e);
        return 0;
}

void evaluation_close(struct evaluation *e)
{
        struct error ignored;

        cells_close(&e->cells);
        if (e->workspace.work >= 0)
                workspace_remove(&e->workspace, &e->channel, &ignored);
        channel_close(&e->channel);
        watcher_close(&e->watcher);
        store_channel_close(&e->store);
        replay_free(&e->replay);
        task_free(&e->task);
        policy_free(&e->policy);
        submission_free(&e->submission);
        suite_cell_free(&e->suite_cell);
        submission_cell_free(&e->cell);
        build_free(&e->build);
        cases_free(&e->cases);
        workflow_free(&e->workflow);
        image_close(&e->image);
        fd_close(e->image_store);
        fd_close(e->verdict_file);
        fd_close(e->trajectory);
        fd_close(e->kept);
        dimensions_free(&e->dimensions);
        composite_free(&e->composite);
        cell_outcome_free(&e->outcome);
        log_free(&e->output[0]);
        log_free(&e->output[1]);
        grade_free(e);
}

const char *evaluation_time_used(const struct evaluation *e)
{
        if (e->options->match)
                return e->match.used;
        return e->options->time_used ? e->options->time_used : "";
}

enum status evaluation_status(const struct evaluation *e)
{
        switch (code_info(e->error.code)->ending) {
        case END_PASSED:
                return STATUS_GRADED;
        case END_PENDING:
                return STATUS_PENDING;
        case END_REJECTED:
                return e->error.code == CODE_SUITE_UNGRADABLE ? STATUS_UNGRADABLE : STATUS_REJECTED;
        default:
                return STATUS_ERROR;
        }
}

static bool is_below(const struct evaluation *e, const char *least)
{
        char total[16];

        snprintf(total, sizeof total, "%u", e->dimensions.total);
        return scorer_compare(e->composite.present    ? e->composite.shown[0]
                              : e->dimensions.present ? total
                                                      : e->blend.score,
                       least) < 0;
}

int evaluation_exit(const struct evaluation *e)
{
        if (e->error.code != CODE_NONE)
                return code_info(e->error.code)->ending;
        if (e->options->fail_under)
                return is_below(e, e->options->fail_under) ? END_NOT_PASSED : END_PASSED;
        if (e->task.scheme == SCHEME_DIMENSIONS)
                return e->dimensions.outcome == 0 ? END_PASSED : END_NOT_PASSED;
        if (e->task.scheme == SCHEME_COMPOSITE)
                return e->composite.passed ? END_PASSED : END_NOT_PASSED;
        return e->blend.passed ? END_PASSED : END_NOT_PASSED;
}
