/* assay run TASK SUBMISSION: one evaluation, its report, its exit status. */
#include "verbs.h"

#include "fd.h"
#include "image/pull.h"
#include "keep.h"
#include "replay.h"
#include "report/report.h"
#include "storing.h"
#include "task_facts.h"

#include <unistd.h>

struct run_options {
        struct common_options common;
        struct evaluation_options evaluation;
        const char *audience;
        bool pull;
};

static int print(const struct evaluation *e, const struct run_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        bool colour = report_wants_colour();

        if (!o->common.json && o->common.quiet)
                return 0;
        if ((o->common.json ? report_json(e, &out) : report_text(e, colour, &out)) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (fd_write_all(STDOUT_FILENO, out.data, out.len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
        return 0;
}

static int replay(
        struct evaluation *e, const struct run_options *o, bool *ret_same, struct error *err)
{
        struct replay_differences d;
        int r = replay_compare(e, &d, err);

        *ret_same = d.count == 0;
        if (r == 0 && (o->common.json || !o->common.quiet))
                r = replay_print(e, &d, o->common.json, err);
        replay_differences_free(&d);
        return r;
}

static int pull_images(const char *task, const struct run_options *o, struct error *err)
{
        const int r = task_pull(task, o->evaluation.policy, err);

        return r == 0 ? error_set(err, CODE_TASK_NOT_PERMITTED,
                                "--pull: the operator allows no images from registries")
                      : r;
}

static int run(
        const char *task, const char *submission, const struct run_options *o, struct error *err)
{
        struct error unstored = {0};
        struct evaluation *e;
        bool same = true;
        int r;

        if (o->pull && pull_images(task, o, err) < 0)
                return -1;
        e = calloc(1, sizeof *e);
        if (!e)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = evaluation_open(e, task, submission, &o->evaluation, err);
        if (r == 0)
                r = evaluation_run(e, err);
        if (r < 0)
                task_print_problems(&e->task, task, stderr);
        /* What could not be stored is shown all the same. */
        if (r == 0)
                storing_append(e, &unstored);
        if (r == 0 && o->evaluation.replay)
                r = replay(e, o, &same, err);
        else if (r == 0)
                r = print(e, o, err);
        if (r == 0 && o->evaluation.keep)
                r = keep_evaluation(e, err);
        if (r == 0) {
                if (e->error.code != CODE_NONE)
                        error_print(&e->error); /* one line for logs and scripts */
                r = evaluation_exit(e);
                if (o->evaluation.replay && r != END_INTERRUPTED)
                        r = same ? END_PASSED : END_NOT_PASSED;
        }
        if (r >= 0 && unstored.code != CODE_NONE) {
                error_print(&unstored);
                r = code_info(unstored.code)->ending;
        }
        evaluation_close(e);
        free(e);
        return r;
}

int verb_run(int argc, char **argv, struct error *err)
{
        struct run_options o = {0};
        const struct option table[] = {
                {"--llm-score", OPTION_TEXT, &o.evaluation.llm_score, "N|FILE",
                        "the external score: a number, or a verdict as JSON"},
                {"--time-used", OPTION_TEXT, &o.evaluation.time_used, "SECONDS",
                        "for dimensions that measure time"},
                {"--trajectory", OPTION_TEXT, &o.evaluation.trajectory, "FILE",
                        "what the agent did, as JSON lines"},
                {"--seed", OPTION_TEXT, &o.evaluation.seed, "N", "ASSAY_SEED of the suite (0)"},
                {"--fail-under", OPTION_TEXT, &o.evaluation.fail_under, "N",
                        "exit status 1 for a lower score, whatever the task passes"},
                {"--for", OPTION_TEXT, &o.audience, "submitter|operator",
                        "leave out what submitters may not see (operator: all)"},
                {"--replay", OPTION_TEXT, &o.evaluation.replay, "RESULT",
                        "grade again with the inputs of a result, and tell what differs"},
                {"--store", OPTION_TEXT, &o.evaluation.store, "URL",
                        "store the result as well: sqlite:PATH, or sqlite: for the machine's"},
                {"--agent", OPTION_TEXT, &o.evaluation.agent, "NAME",
                        "with --store: whose submission it is"},
                {"--keep", OPTION_FLAG, &o.evaluation.keep, NULL,
                        "leave what was unpacked, built and written, and say where"},
                {"--pull", OPTION_FLAG, &o.pull, NULL,
                        "fetch the task's images first, where this machine lacks them"},
                {"--policy", OPTION_TEXT, &o.evaluation.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
                {"--allow-network", OPTION_FLAG, &o.evaluation.allow_network, NULL,
                        "give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &o.evaluation.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("run [OPTIONS] TASK SUBMISSION",
                        "Grades one submission (a tar or zip file, or - for standard input).\n\n"
                        "exit status: 0 passed, 1 not passed, 2 usage or task, 3 submission "
                        "rejected,\n"
                        "4 no score, 5 pending, 130 interrupted; with --replay 0 the same, 1 not",
                        table, sizeof table / sizeof *table);
        o.evaluation.for_submitter = o.audience && strcmp(o.audience, "submitter") == 0;
        if (o.audience && !o.evaluation.for_submitter && strcmp(o.audience, "operator") != 0)
                return error_set(
                        err, CODE_USAGE, "--for %s: not submitter or operator", o.audience);
        if (o.evaluation.replay && (o.evaluation.llm_score || o.evaluation.time_used ||
                                           o.evaluation.seed || o.evaluation.for_submitter))
                return error_set(err, CODE_USAGE,
                        "--replay: takes --llm-score, --time-used and --seed from the result, and "
                        "compares all of it");
        if (rest != 2)
                return error_set(err, CODE_USAGE, "run: needs a task and a submission");
        return run(argv[0], argv[1], &o, err);
}
