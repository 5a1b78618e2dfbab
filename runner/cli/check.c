/* assay check TASK: every error of a task at once, each with its place. */
#include "verbs.h"

#include "evaluators/contract.h"
#include "fd.h"
#include "image/leak.h"
#include "image/view.h"
#include "metadata.h"
#include "policy.h"
#include "privilege.h"
#include "report/json.h"
#include "task.h"

enum { MOST_LEAKS = 20 };

struct checking {
        struct task task;
        struct policy policy;
        struct loading *loading;
        struct error no_store; /* why there is none; code NONE: there is one */
        unsigned leaks;
};

static void json_problems(struct json_writer *w, const char *key, const struct task_problem *list,
        unsigned count, bool with_place)
{
        json_open_array(w, key);
        for (unsigned i = 0; i < count; i++) {
                json_open_object(w, NULL);
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

        json_open_object(&w, NULL);
        json_bool(&w, "valid", t->problem_count == 0);
        json_problems(&w, "errors", t->problems, t->problem_count, true);
        json_problems(&w, "warnings", t->warnings, t->warning_count, false);
        json_close(&w);
        printf("%s\n", buffer_text(&out));
}

/* --- what submissions would see of their image ------------------------------------------------ */

static void take_warning(void *to, const char *text)
{
        struct checking *c = to;

        task_add_warning(&c->task, "submission.image", text, NULL);
}

static int take_leak(void *to, const char *in_image, const char *file, struct error *err)
{
        struct checking *c = to;
        char text[2 * UNPACK_MAX_PATH + 128];

        if (++c->leaks > MOST_LEAKS)
                return 0;
        snprintf(text, sizeof text, "shows submissions /%s, which has the content of %s; hide it",
                in_image, file);
        return task_add_problem(&c->task, "submission.image", text, err);
}

static int look_for_leaks(struct checking *c, const struct image *view, struct error *err)
{
        const struct leak_search search = {
                .trees = {{"tests", c->task.tests}, {"truth", c->task.truth}},
                .found = take_leak,
                .to = c,
        };
        char text[64];

        if (leak_find(c->loading, view, &search, err) < 0)
                return -1;
        if (c->leaks <= MOST_LEAKS)
                return 0;
        snprintf(text, sizeof text, "shows submissions at least %u more such files",
                c->leaks - MOST_LEAKS);
        return task_add_problem(&c->task, "submission.image", text, err);
}

/* An image that is not on this machine cannot be looked at: that is no error of the task. */
static int check_submission_image(struct checking *c, struct error *err)
{
        const struct submission_image *s = &c->task.submission_image;
        const struct view view = {
                .image = s->declared && *s->name ? s->name : c->task.image,
                .layers = s->layers,
                .hide = (const char *const *)s->hide,
                .hide_count = s->hide_count,
                .own = contracts[c->task.contract].own,
                .command = c->task.command,
        };
        struct image image = {0};
        int r;

        if (!s->declared || strcmp(view.image, "host") == 0)
                return 0;
        if (c->no_store.code != CODE_NONE) {
                *err = c->no_store;
                return -1;
        }
        r = view_make(c->loading, &view, true, &image, err);
        if (r == 0)
                r = look_for_leaks(c, &image, err);
        else if (err->code == CODE_USAGE)
                r = task_add_problem(&c->task, "submission.image", err->text, err);
        else if (err->code == CODE_IMAGE_MISSING)
                r = task_add_warning(&c->task, "submission.image",
                        "the image is not on this machine: what submissions would see of it was "
                        "not looked at",
                        err);
        image_free(&image);
        return r;
}

/* The same of the suite's image. */
static int check_image(struct checking *c, struct error *err)
{
        char id[DIGEST_SIZE];

        if (strcmp(c->task.image, "host") == 0 || !task_runs_something(&c->task) ||
                c->no_store.code != CODE_NONE ||
                image_store_find(&c->loading->store, c->task.image, id, NULL, err) == 0)
                return 0;
        return err->code == CODE_IMAGE_MISSING
                       ? task_add_warning(
                                 &c->task, "image", "there is no such image on this machine", err)
                       : -1;
}

/* --- all ------------------------------------------------------------------------------------ */

static int open_all(struct checking *c, const char *path, const char *policy, struct error *err)
{
        struct channel *channel = c->loading->channel;

        if (task_open(&c->task, path, err) < 0 || policy_open(&c->policy, policy, err) < 0)
                return -1;
        /* Most tasks need no store. */
        if (loading_open(c->loading, &c->no_store) < 0 && channel->socket < 0) {
                *err = c->no_store;
                return -1;
        }
        return task_trust(&c->task, channel, err) < 0 ? -1 : privilege_drop(err);
}

static int check_command(struct checking *c, struct error *err)
{
        char **words = NULL;
        int r = task_check_command(&c->task, err);

        if (r == 0 && metadata_names_command(&c->task))
                r = metadata_read(&c->task, c->loading->channel, &words, err);
        texts_free(words);
        return r;
}

static int check_all(struct checking *c, const char *path, const char *policy, struct error *err)
{
        if (open_all(c, path, policy, err) < 0 ||
                task_read(&c->task, c->loading->channel, NULL, err) < 0 ||
                policy_apply(&c->policy, &c->task, c->loading->channel, err) < 0 ||
                task_show(&c->task, c->loading->channel, err) < 0)
                return -1;
        if (check_command(c, err) < 0) {
                error_print(err);
                return END_USAGE;
        }
        return check_image(c, err) < 0 ? -1 : check_submission_image(c, err);
}

static int check(const char *path, const char *policy, const struct common_options *common,
        struct error *err)
{
        struct checking c = {.task = TASK_INIT, .policy = POLICY_INIT};
        const struct load_listener listener = {.warn = take_warning, .to = &c};
        int r;

        c.loading = calloc(1, sizeof *c.loading);
        if (!c.loading)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        c.loading->listener = &listener;
        c.loading->own = (struct channel)CHANNEL_INIT;
        c.loading->channel = &c.loading->own;
        c.loading->store = (struct image_store)IMAGE_STORE_INIT;
        r = check_all(&c, path, policy, err);
        if (r == 0 || c.task.problem_count > 0) {
                r = c.task.problem_count > 0 ? END_USAGE : 0; /* the list says it all */
                if (common->json)
                        show_json(&c.task);
                else if (!common->quiet) {
                        task_print_problems(&c.task, path, stdout);
                        if (r == 0)
                                puts("the task is valid");
                }
        }
        task_free(&c.task);
        policy_free(&c.policy);
        loading_close(c.loading);
        free(c.loading);
        return r;
}

int verb_check(int argc, char **argv, struct error *err)
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
                return options_help("check [OPTIONS] TASK",
                        "Validates a task without running anything. Every error is listed, with "
                        "its\n"
                        "place. Where the task says what submissions get of an image that is on\n"
                        "this machine, looks for the task's own files there.",
                        table, 1);
        if (rest != 1)
                return error_set(err, CODE_USAGE, "check: needs one task");
        return check(argv[0], policy, &common, err);
}
