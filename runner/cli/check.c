/* assay check TASK: every error of a task at once, each with its place. */
#include "verbs.h"

#include "fd.h"
#include "report/json.h"
#include "task.h"

static void json_problems(struct json_writer *w, const char *key, const struct task_problem *list,
        unsigned count, bool with_place)
{
        json_array(w, key);
        for (unsigned i = 0; i < count; i++) {
                json_object(w, NULL);
                json_text(w, "file", "task.json");
                if (with_place) {
                        json_number(w, "line", list[i].line);
                        json_number(w, "column", list[i].column);
                }
                json_text(w, "key", list[i].key);
                json_text(w, "message", list[i].message);
                json_close(w);
        }
        json_close(w);
}

static void show_json(const struct task *t)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        json_object(&w, NULL);
        json_bool(&w, "valid", t->problem_count == 0);
        json_problems(&w, "errors", t->problems, t->problem_count, true);
        json_problems(&w, "warnings", t->warnings, t->warning_count, false);
        json_close(&w);
        printf("%s\n", buffer_text(&out));
}

static int check(const char *path, const struct common_options *common, struct error *err)
{
        struct task task = TASK_INIT;
        int r = task_read_alone(&task, path, err);

        if (r == 0 && task_check_command(&task, err) < 0) {
                error_print(err);
                task_free(&task);
                return END_USAGE;
        }
        if (r == 0 || (err->code == CODE_TASK_INVALID && task.problem_count > 0)) {
                r = r == 0 ? 0 : END_USAGE; /* the list says it all */
                if (common->json)
                        show_json(&task);
                else if (!common->quiet) {
                        task_print_problems(&task, path, stdout);
                        if (r == 0)
                                puts("the task is valid");
                }
        }
        task_free(&task);
        return r;
}

int verb_check(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        int rest = options_parse(NULL, 0, &common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("check TASK",
                        "Validates a task without running anything. Every error is listed, with "
                        "its "
                        "place.",
                        NULL, 0);
        if (rest != 1)
                return error_set(err, CODE_USAGE, "check: needs one task");
        return check(argv[0], &common, err);
}
