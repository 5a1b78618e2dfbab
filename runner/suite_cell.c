/* What the suite's cell is given: the contract's places, the environment, the files that the
 * contract promises, the command. Texts of the task are handed through, not understood. */
#include "evaluation.h"

#include "beneath.h"
#include "environment.h"
#include "evaluators/contract.h"
#include "fd.h"
#include "metadata.h"
#include "report/json.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- places --------------------------------------------------------------------------------- */

static void add_mount(struct cell_order *order, int tree, enum place_kind kind, const char *place)
{
        if (!place || tree < 0)
                return;
        order->mounts[order->mount_count].tree = tree;
        order->mounts[order->mount_count].kind = kind;
        order->mounts[order->mount_count++].place = place;
}

/* With a broker the suite reads the submission and runs none of it here. */
static void add_submission(
        const struct evaluation *e, const struct contract *c, struct cell_order *order)
{
        for (unsigned i = 0; e->task.sees_submission && i < 2; i++)
                add_mount(order, e->cell.tree, e->task.broker ? PLACE_DATA : c->submission[i].kind,
                        c->submission[i].place);
}

static int add_results(
        struct evaluation *e, const struct contract *c, struct cell_order *order, struct error *err)
{
        const struct task *t = &e->task;
        const size_t len = strlen(c->results);

        order->result_dir = c->results;
        if (*t->result_path) {
                if (strncmp(t->result_path, c->results, len) != 0 || t->result_path[len] != '/' ||
                        t->result_path[len + 1] == '\0')
                        return error_set(err, CODE_INTERNAL_FRAME, "the result lies outside of %s",
                                c->results);
                order->results[order->result_count++] = t->result_path + len + 1;
        }
        if (strcmp(t->result_format, "harbor") == 0)
                order->results[order->result_count++] = "reward.txt";
        e->suite_cell.partial = order->result_count;
        if (t->on_limit == ON_LIMIT_PARTIAL)
                order->results[order->result_count++] = "tests.jsonl";
        return 0;
}

/* --- files of contracts --------------------------------------------------------------------- */

enum { MOST_FILE = 256 << 10 };

static void add_file(struct evaluation *e, struct cell_order *order, const char *place,
        bool executable, unsigned which)
{
        const struct buffer *b = &e->suite_cell.files[which];

        order->files[order->file_count].place = place;
        order->files[order->file_count].executable = executable;
        order->files[order->file_count].bytes = b->data;
        order->files[order->file_count++].size = b->len;
}

/* Gradescope copies this one to where it is run. One that the image has there stays. */
static int add_run_autograder(struct evaluation *e, struct cell_order *order, struct error *err)
{
        _cleanup_fd_ int fd = e->task.tests < 0 ? -1
                                                : beneath_open(e->task.tests, "run_autograder",
                                                          O_RDONLY | O_NONBLOCK, 0);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        if (fd_read_all(fd, &e->suite_cell.files[1], MOST_FILE, CODE_TASK_INVALID, err) < 0)
                return error_add(err, "tests/run_autograder");
        add_file(e, order, "/autograder/run_autograder", true, 1);
        return 0;
}

static void add_time(struct json_writer *w, const char *key, time_t when)
{
        struct tm tm;
        char text[40];

        gmtime_r(&when, &tm);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000000+00:00", &tm);
        json_text(w, key, text);
}

/* In the platform's own form, which scripts parse to the letter: six digits of a fraction, and an
 * offset. The task gives such a time with any fraction, and an offset or Z. */
static void add_due(struct json_writer *w, const char *due)
{
        enum { SECONDS = 19, FRACTION = 6 };
        const char *zone = due + strnlen(due, SECONDS);
        const char *fraction = zone + (*zone == '.');
        const size_t given = *zone == '.' ? strspn(fraction, "0123456789") : 0;
        char text[64];

        zone = fraction + given;
        snprintf(text, sizeof text, "%.*s.%.*s%.*s%s", SECONDS, due,
                (int)(given < FRACTION ? given : FRACTION), fraction,
                (int)(given < FRACTION ? FRACTION - given : 0), "000000",
                strcmp(zone, "Z") == 0 ? "+00:00" : zone);
        json_text(w, "due_date", text);
}

static int add_gradescope(struct evaluation *e, struct cell_order *order, struct error *err)
{
        struct json_writer w = {.out = &e->suite_cell.files[0]};

        json_open_object(&w, NULL);
        json_number(&w, "id", 1);
        add_time(&w, "created_at", time(NULL));
        json_open_object(&w, "assignment");
        if (*e->task.due)
                add_due(&w, e->task.due);
        else
                json_add_null(&w, "due_date");
        json_add_null(&w, "group_size");
        json_bool(&w, "group_submission", false);
        json_number(&w, "id", 1);
        json_number(&w, "course_id", 1);
        json_add_null(&w, "late_due_date");
        json_add_null(&w, "release_date");
        json_text(&w, "title", *e->task.title ? e->task.title : e->task.name);
        json_text(&w, "total_points", *e->task.result_max ? e->task.result_max : "100.0");
        json_close(&w);
        json_text(&w, "submission_method", "upload");
        json_open_array(&w, "users"); /* graders take the first: never empty */
        json_open_object(&w, NULL);
        json_text(&w, "email", "anonymous@localhost");
        json_number(&w, "id", 1);
        json_text(&w, "name", "Anonymous");
        json_close(&w);
        json_close(&w);
        json_open_array(&w, "previous_submissions");
        json_close(&w);
        json_close(&w);
        add_file(e, order, "/autograder/submission_metadata.json", false, 0);
        return add_run_autograder(e, order, err);
}

static int add_prairielearn(struct evaluation *e, struct cell_order *order, struct error *err)
{
        static const char *const empty[] = {"params", "correct_answers", "submitted_answers",
                "raw_submitted_answers", "format_errors", "partial_scores", "feedback", "options"};
        struct json_writer w = {.out = &e->suite_cell.files[0]};

        (void)err;
        json_open_object(&w, NULL);
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
                json_open_object(&w, empty[i]);
                json_close(&w);
        }
        json_number(
                &w, "variant_seed", e->options->seed ? strtoull(e->options->seed, NULL, 10) : 0);
        json_number(&w, "score", 0);
        json_bool(&w, "gradable", true);
        json_close(&w);
        add_file(e, order, "/grade/data/data.json", false, 0);
        return 0;
}

/* What a workflow came to, for the suite that looks at it. */
static int add_workflow(struct evaluation *e, struct cell_order *order, struct error *err)
{
        enum { OUTPUT = CELL_MAX_FILES - 2, RECORD, MOST_BYTES = 960 << 10 };
        struct buffer *output = &e->suite_cell.files[OUTPUT], *record = output + 1;
        struct json_writer to_output = {.out = output, .compact = true};
        struct json_writer to_record = {.out = record};

        if (!e->workflow.ran)
                return 0;
        workflow_output(&e->workflow, &to_output);
        workflow_record(&e->workflow, &e->task, &to_record, NULL);
        if (output->len + record->len > MOST_BYTES)
                return error_set(err, CODE_WORKFLOW_INVALID,
                        "its outputs have more than the %d bytes that a suite is given",
                        MOST_BYTES);
        add_file(e, order, "/workflow/output.json", false, OUTPUT);
        add_file(e, order, "/workflow/execution.json", false, RECORD);
        return 0;
}

static int (*const add_files[CONTRACT_COUNT])(
        struct evaluation *e, struct cell_order *order, struct error *err) = {
        [CONTRACT_GRADESCOPE] = add_gradescope,
        [CONTRACT_PRAIRIELEARN] = add_prairielearn,
};

/* --- the command ---------------------------------------------------------------------------- */

/* The task's, the contract's, or what the image runs. */
static int choose_command(struct evaluation *e, const struct contract *c, struct error *err)
{
        const char *const *parts[] = {(const char *const *)e->task.command, NULL};
        unsigned count = 0, all = 0;

        if (metadata_names_command(&e->task)) {
                if (metadata_read(&e->task, &e->channel, &e->suite_cell.read_command, err) < 0)
                        return -1;
                parts[0] = (const char *const *)e->suite_cell.read_command;
        } else if (!e->task.command[0] && c->command[0])
                parts[0] = c->command;
        else if (!e->task.command[0]) {
                parts[0] = (const char *const *)e->image.image.entrypoint;
                parts[1] = (const char *const *)e->image.image.cmd;
        }
        for (unsigned i = 0; i < 2; i++)
                for (const char *const *text = parts[i]; text && *text; text++)
                        all++;
        e->suite_cell.command = calloc(all + 1, sizeof *e->suite_cell.command);
        if (!e->suite_cell.command)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (unsigned i = 0; i < 2; i++)
                for (const char *const *text = parts[i]; text && *text; text++)
                        e->suite_cell.command[count++] = *text;
        return count > 0 ? 0
                         : error_set(err, CODE_IMAGE_UNSUPPORTED,
                                   "image %.200s has neither ENTRYPOINT nor CMD, and the task no "
                                   "suite.command",
                                   e->task.image);
}

/* --- the environment ------------------------------------------------------------------------ */

/* What a submission could not set, whatever the task says, comes last. */
static int make_environment(struct evaluation *e, struct error *err)
{
        static const char *const names[SUITE_ENV] = {"ASSAY_EXEC", "ASSAY_TASK", "ASSAY_SEED"};
        const char *const values[SUITE_ENV] = {e->task.broker ? CALLS_PROGRAM : NULL, e->task.name,
                e->options->seed ? e->options->seed : "0"};
        const char *added[TASK_MAX_ENV + SUITE_ENV];
        struct suite_cell *s = &e->suite_cell;
        unsigned count = 0;

        if (s->env) /* of the tools, before their suite */
                return 0;
        for (; count < e->task.env_count; count++)
                added[count] = e->task.env[count];
        for (unsigned i = 0; i < SUITE_ENV; i++) {
                if (!values[i])
                        continue;
                if (asprintf(&s->texts[i], "%s=%s", names[i], values[i]) < 0) {
                        s->texts[i] = NULL;
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                }
                added[count++] = s->texts[i];
        }
        s->env = environment_make(e->image.env, added, count, err);
        return s->env ? 0 : -1;
}

/* --- all ------------------------------------------------------------------------------------ */

static bool is_in_submission(const struct contract *c, const char *path)
{
        for (unsigned i = 0; i < 2 && c->submission[i].place; i++) {
                const size_t len = strlen(c->submission[i].place);

                if (strncmp(path, c->submission[i].place, len) == 0 &&
                        (path[len] == '/' || path[len] == '\0'))
                        return true;
        }
        return false;
}

/* Interpreters and other tools load what they find where they are started: where the suite calls
 * the submission, none of it may run in the suite's cell. */
static const char *choose_workdir(const struct evaluation *e, const struct contract *c)
{
        const bool given = e->image.image.workdir && *e->image.image.workdir;
        const char *workdir = given ? e->image.workdir : c->workdir;

        if (e->task.sees_submission ? !e->task.broker : given)
                return workdir;
        return is_in_submission(c, workdir) ? "/" : workdir;
}

int suite_cell_prepare(struct evaluation *e, struct cell_order *order, struct error *err)
{
        const struct contract *c = &contracts[e->task.contract];
        const struct task *t = &e->task;

        for (unsigned i = 0; i < CELL_MAX_FILES; i++)
                e->suite_cell.files[i] = (struct buffer)BUFFER_INIT;
        *order = (struct cell_order){
                .profile = PROFILE_SUITE,
                .allow_weak = e->options->allow_weak,
                .network = t->network,
                .calls = t->broker,
                .limits = t->limits[CELL_SUITE],
                .workdir = choose_workdir(e, c),
                .uid = e->image.uid,
                .gid = e->image.gid,
                .layers = e->image.layers,
                .layer_count = e->image.layer_count,
        };
        add_submission(e, c, order);
        add_mount(order, t->tests, c->tests.kind, c->tests.place);
        add_mount(order, t->truth, c->truth.kind, c->truth.place);
        if (add_results(e, c, order, err) < 0 ||
                (add_files[t->contract] && add_files[t->contract](e, order, err) < 0) ||
                add_workflow(e, order, err) < 0 || choose_command(e, c, err) < 0 ||
                make_environment(e, err) < 0)
                return -1;
        for (unsigned i = 0; i < CELL_MAX_FILES; i++)
                if (!buffer_ok(&e->suite_cell.files[i]))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        order->argv = e->suite_cell.command;
        order->envp = e->suite_cell.env;
        return 0;
}

int suite_cell_prepare_checker(struct evaluation *e, struct error *err)
{
        return make_environment(e, err);
}

/* Without any place of the task. */
static void order_plain(const struct evaluation *e, struct cell_order *ret)
{
        *ret = (struct cell_order){
                .profile = PROFILE_SUITE,
                .allow_weak = e->options->allow_weak,
                .limits = e->task.limits[CELL_SUITE],
                .workdir = e->image.workdir ? e->image.workdir : "/",
                .uid = e->image.uid,
                .gid = e->image.gid,
                .layers = e->image.layers,
                .layer_count = e->image.layer_count,
                .envp = e->suite_cell.env,
        };
}

/* Its limits are for the caller to set. */
void suite_cell_order_tool(void *evaluation, struct cell_order *ret)
{
        const struct evaluation *e = evaluation;

        order_plain(e, ret);
        add_mount(ret, e->task.tools, PLACE_OWNED, TASK_TOOLS_PLACE);
}

void suite_cell_order_checker(void *evaluation, struct cell_order *ret)
{
        const struct evaluation *e = evaluation;
        const struct contract *c = &contracts[e->task.contract];

        order_plain(e, ret);
        add_mount(ret, e->task.tests, c->tests.kind, c->tests.place);
        add_mount(ret, e->task.truth, PLACE_OWNED, "/truth");
}

void suite_cell_free(struct suite_cell *s)
{
        texts_free(s->read_command);
        free(s->command);
        free(s->env);
        for (unsigned i = 0; i < SUITE_ENV; i++)
                free(s->texts[i]);
        for (unsigned i = 0; i < CELL_MAX_FILES; i++)
                if (s->files[i].data)
                        buffer_free(&s->files[i]);
}
