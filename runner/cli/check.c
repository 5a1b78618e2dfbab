/* assay check TASK: every error of a task at once, each with its place. */
#include "verbs.h"

#include "fd.h"
#include "privilege.h"
#include "report/json.h"
#include "task.h"
#include "text.h"

static void show_text(const char *path, const struct task *t)
{
        char place[1024], key[1024], message[2048];

        text_escape(place, sizeof place, path, strlen(path));
        for (unsigned i = 0; i < t->problem_count; i++) {
                const struct task_problem *p = &t->problems[i];

                text_escape(key, sizeof key, p->key, strlen(p->key));
                text_escape(message, sizeof message, p->message, strlen(p->message));
                printf("%s/task.json:%u:%u: %s: %s\n", place, p->line, p->column, key, message);
        }
        for (unsigned i = 0; i < t->warning_count; i++) {
                const struct task_problem *p = &t->warnings[i];

                text_escape(key, sizeof key, p->key, strlen(p->key));
                text_escape(message, sizeof message, p->message, strlen(p->message));
                printf("%s/task.json: warning: %s: %s\n", place, key, message);
        }
        if (t->problem_count == 0)
                printf("%s: the task is valid\n", place);
}

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
        struct channel channel = CHANNEL_INIT;
        struct task task = TASK_INIT;
        int r = task_open(&task, path, err);

        if (r == 0)
                r = channel_open(&channel, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = task_read(&task, &channel, err);
        channel_close(&channel);
        if (r == 0 || (err->code == CODE_TASK_INVALID && task.problem_count > 0)) {
                r = r == 0 ? 0 : END_USAGE; /* the list says it all */
                if (common->json)
                        show_json(&task);
                else if (!common->quiet)
                        show_text(path, &task);
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
