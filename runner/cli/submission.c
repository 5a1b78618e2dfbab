/* assay submission check|template: the intake's verdict without a run; a SUBMISSION.md to fill in.
 */
#include "verbs.h"

#include "fd.h"
#include "policy.h"
#include "report/report.h"

#include <unistd.h>

static int print(const struct buffer *out, struct error *err)
{
        if (!buffer_ok(out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (fd_write_all(STDOUT_FILENO, out->data, out->len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
        return 0;
}

static int report(
        const struct evaluation *e, const struct common_options *common, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (common->json)
                report_intake_json(e, &out);
        else if (!common->quiet)
                report_intake_text(e, report_wants_colour(), &out);
        return print(&out, err);
}

static int check(const char *task, const char *submission, const char *policy,
        const struct common_options *common, struct error *err)
{
        const struct evaluation_options options = {.depth = EVALUATE_INTAKE, .policy = policy};
        struct evaluation *e = calloc(1, sizeof *e);
        int r;

        if (!e)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = evaluation_open(e, task, submission, &options, err);
        if (r == 0)
                r = evaluation_run(e, err);
        if (r < 0)
                task_print_problems(&e->task, task, stderr);
        if (r == 0)
                r = report(e, common, err);
        if (r == 0 && e->error.code != CODE_NONE) {
                error_print(&e->error);
                r = code_info(e->error.code)->ending;
        }
        evaluation_close(e);
        free(e);
        return r;
}

static int template(const char *path, const char *policy, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct task task = TASK_INIT;
        struct policy held = POLICY_INIT;
        int r = policy_read_task(&task, &held, path, policy, err);

        if (r < 0)
                task_print_problems(&task, path, stderr);
        if (r == 0) {
                submission_template(&task, &out);
                r = print(&out, err);
        }
        task_free(&task);
        policy_free(&held);
        return r;
}

int verb_submission(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        const char *policy = NULL;
        const struct option table[] = {
                {"--policy", OPTION_TEXT, &policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
        };
        int rest = options_parse(table, 1, &common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("submission check TASK SUBMISSION\n"
                                    "       assay submission template TASK",
                        "Says whether a task accepts a submission, and what it warns of, without "
                        "running\n"
                        "anything; or prints a SUBMISSION.md to fill in.",
                        table, 1);
        if (rest == 3 && strcmp(argv[0], "check") == 0)
                return check(argv[1], argv[2], policy, &common, err);
        if (rest == 2 && strcmp(argv[0], "template") == 0)
                return template(argv[1], policy, err);
        return error_set(
                err, CODE_USAGE, "submission: needs `check TASK SUBMISSION` or `template TASK`");
}
