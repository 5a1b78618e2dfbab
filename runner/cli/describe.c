/* assay describe TASK: what a submitter may know. */
#include "verbs.h"

#include "fd.h"
#include "policy.h"
#include "report/description.h"

#include <unistd.h>

static int describe(const struct task *t, const struct common_options *common, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if ((common->json ? description_json(t, &out, err) : description_text(t, &out, err)) < 0)
                return -1;
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (common->quiet && !common->json)
                return 0;
        return fd_write_all(STDOUT_FILENO, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the description");
}

int verb_describe(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        const char *policy = NULL;
        const struct option table[] = {
                {"--policy", OPTION_TEXT, &policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
        };
        int rest = options_parse(table, 1, &common, argc, argv, err), r;
        struct task task = TASK_INIT;
        struct policy held = POLICY_INIT;

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("describe [OPTIONS] TASK",
                        "Tells what a submitter may know of a task: rubric, limits, files wanted, "
                        "visible\ntests. Hidden tests are counted.",
                        table, 1);
        if (rest != 1)
                return error_set(err, CODE_USAGE, "describe: needs one task");
        r = policy_read_task(&task, &held, argv[0], policy, err);
        if (r < 0)
                task_print_problems(&task, argv[0], stderr);
        if (r == 0)
                r = describe(&task, &common, err);
        task_free(&task);
        policy_free(&held);
        return r;
}
