/* assay shell TASK SUBMISSION: a look around in the cell that the suite, or the submission, would
 * run in. */
#include "verbs.h"

#include "shell.h"

static int look_around(const char *task, const char *submission,
        const struct evaluation_options *options, const struct shell_order *o, struct error *err)
{
        struct evaluation *e = calloc(1, sizeof *e);
        int r, status = 0;

        if (!e)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = evaluation_open(e, task, submission, options, err);
        if (r == 0)
                r = evaluation_run(e, err);
        if (r < 0)
                task_print_problems(&e->task, task, stderr);
        if (r == 0 && e->error.code != CODE_NONE) {
                *err = e->error;
                r = -1;
        }
        if (r == 0)
                r = shell_run(e, o, &status, err);
        evaluation_close(e);
        free(e);
        return r < 0 ? -1 : status;
}

static int take_cell(const char *name, struct shell_order *o, struct error *err)
{
        o->submission = name ? strcmp(name, "submission") == 0 : o->case_name != NULL;
        return !name || o->submission || strcmp(name, "suite") == 0
                       ? 0
                       : error_set(err, CODE_USAGE, "--cell %s: not suite or submission", name);
}

int verb_shell(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        struct evaluation_options options = {.depth = EVALUATE_CELLS};
        struct shell_order order = {0};
        const char *cell = NULL;
        const struct option table[] = {
                {"--cell", OPTION_TEXT, &cell, "suite|submission",
                        "whose (suite; with --case submission)"},
                {"--case", OPTION_TEXT, &order.case_name, "NAME",
                        "have its input and its output in /case"},
                {"--seed", OPTION_TEXT, &options.seed, "N", "ASSAY_SEED of the suite (0)"},
                {"--policy", OPTION_TEXT, &options.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
                {"--allow-network", OPTION_FLAG, &options.allow_network, NULL,
                        "give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &options.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("shell [OPTIONS] TASK SUBMISSION [-- CMD…]",
                        "Unpacks and builds a submission, and runs a shell (or CMD) where its "
                        "suite would\nrun, or the submission itself. Time is not limited. The exit "
                        "status is the command's.",
                        table, sizeof table / sizeof *table);
        if (take_cell(cell, &order, err) < 0)
                return -1;
        if (rest < 2)
                return error_set(err, CODE_USAGE, "shell: needs a task and a submission");
        argv[rest] = NULL;
        order.command = (const char *const *)argv + 2;
        order.quiet = common.quiet;
        return look_around(argv[0], argv[1], &options, &order, err);
}
