/* assay describe TASK: what a submitter may know. Of hidden tests no more than their number; of no
 * test its input, its command or its answer. */
#include "verbs.h"

#include "case_files.h"
#include "evaluators/contract.h"
#include "fd.h"
#include "quantity.h"
#include "report/json.h"
#include "submission.h"
#include "text.h"

#include <unistd.h>

/* Of a cell that runs a submission. */
static const enum limit shown_limits[] = {
        LIMIT_WALL, LIMIT_CPU, LIMIT_CPUS, LIMIT_MEMORY, LIMIT_DISK, LIMIT_PIDS, LIMIT_FILES};
enum { SHOWN_LIMITS = sizeof shown_limits / sizeof *shown_limits };

static const char *const modes[MODE_COUNT] = {"llm", "container", "hybrid", "answer"};

static bool has_suite(const struct task *t)
{
        return t->mode == MODE_CONTAINER || t->mode == MODE_HYBRID;
}

/* Does code of the submission run in cells of its own? Else, if at all, in the suite's. */
static bool has_own_cells(const struct task *t)
{
        return t->broker || t->build != BUILD_NONE || t->cases.count > 0;
}

static const struct limits *limits_of(const struct task *t)
{
        return &t->limits[has_own_cells(t) ? CELL_SUBMISSION : CELL_SUITE];
}

/* What is shown after a date is not shown yet: nobody says here that it came. */
static bool is_visible(const struct task *t, const struct task_group *g)
{
        return (g->visibility == VISIBILITY_COUNT ? t->visible_tests : g->visibility) ==
               VISIBILITY_VISIBLE;
}

/* --- cases ---------------------------------------------------------------------------------- */

/* What shows them: `name` is NULL where only `count` are counted. */
struct case_listener {
        void (*group)(void *to, const struct task_group *g, bool visible, unsigned count);
        void (*one)(void *to, const char *name, const char *points);
        void (*group_end)(void *to);
        void *to;
};

/* The cases that a template stands for, named like a run names them. */
static int expand(const struct task *t, const struct task_case *c, char ***ret, unsigned *ret_count,
        struct error *err)
{
        *ret = case_files_find(t, c->in, err);
        if (!*ret)
                return -1;
        for (*ret_count = 0; (*ret)[*ret_count];)
                ++*ret_count;
        return 0;
}

static int count_cases(
        const struct task *t, const struct task_group *g, unsigned *ret, struct error *err)
{
        *ret = 0;
        for (unsigned i = 0; i < g->case_count; i++) {
                char **files;
                unsigned count = 1;

                if (g->cases[i].each) {
                        if (expand(t, &g->cases[i], &files, &count, err) < 0)
                                return -1;
                        texts_free(files);
                }
                *ret += count;
        }
        return 0;
}

static int show_case(const struct task *t, const struct task_case *c, const struct case_listener *l,
        struct error *err)
{
        char **files;
        unsigned count;

        if (!c->each) {
                l->one(l->to, c->name, c->points);
                return 0;
        }
        if (expand(t, c, &files, &count, err) < 0)
                return -1;
        for (unsigned i = 0; i < count; i++) {
                char *name = case_file_named("{name}", files[i]);

                if (name)
                        l->one(l->to, name, c->points);
                free(name);
        }
        texts_free(files);
        return 0;
}

static int show_cases(const struct task *t, const struct case_listener *l, struct error *err)
{
        for (unsigned i = 0; i < t->cases.count; i++) {
                const struct task_group *g = &t->cases.groups[i];
                const bool visible = is_visible(t, g);
                unsigned count;

                if (count_cases(t, g, &count, err) < 0)
                        return -1;
                l->group(l->to, g, visible, count);
                for (unsigned n = 0; visible && n < g->case_count; n++)
                        if (show_case(t, &g->cases[n], l, err) < 0)
                                return -1;
                l->group_end(l->to);
        }
        return 0;
}

/* --- text ----------------------------------------------------------------------------------- */

static void add_escaped(struct buffer *out, const char *text)
{
        char safe[2 * SCORE_MAX_TEXT];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_text(out, safe);
}

/* A description keeps its lines. */
static void add_lines(struct buffer *out, const char *text)
{
        while (*text) {
                const size_t len = strcspn(text, "\n");
                char safe[2 * SCORE_MAX_TEXT];

                text_escape(safe, sizeof safe, text, len);
                buffer_add_format(out, "%s\n", safe);
                text += len + (text[len] == '\n');
        }
}

static void text_group(void *to, const struct task_group *g, bool visible, unsigned count)
{
        struct buffer *out = to;

        buffer_add_text(out, "  ");
        if (*g->name)
                add_escaped(out, g->name);
        else
                buffer_add_text(out, "tests");
        buffer_add_format(
                out, ": %u %s%s", count, count == 1 ? "case" : "cases", visible ? "" : ", hidden");
        if (*g->points)
                buffer_add_format(out, ", %s points", g->points);
        buffer_add_char(out, '\n');
}

static void text_case(void *to, const char *name, const char *points)
{
        struct buffer *out = to;

        buffer_add_text(out, "    ");
        add_escaped(out, name);
        buffer_add_format(out, " (%s)\n", points);
}

static void text_group_end(void *to)
{
        (void)to;
}

static void text_scoring(struct buffer *out, const struct task *t)
{
        if (t->scheme == SCHEME_DIMENSIONS) {
                buffer_add_text(
                        out, "\nScore: 0 to 1000, by dimensions; 700 wins, 400 is a draw\n");
                return;
        }
        buffer_add_text(out, "\nScore: 0 to 100");
        if (t->mode == MODE_HYBRID)
                buffer_add_format(out, ", tests %u %%, judge %u %%", t->test_weight, t->llm_weight);
        else
                buffer_add_text(out, t->mode == MODE_LLM ? ", by a judge" : ", by tests");
        if (t->pass_from_suite)
                buffer_add_text(out, "; the tests say what passes\n");
        else
                buffer_add_format(out, "; passes at %s\n", t->pass);
        for (unsigned i = 0; i < t->criterion_count; i++) {
                const struct criterion *c = &t->criteria[i];

                buffer_add_format(out, "  %3u  ", c->weight);
                add_escaped(out, c->name);
                buffer_add_text(out, c->source == SOURCE_LLM ? " (judge)" : " (tests)");
                if (*c->description) {
                        buffer_add_text(out, ": ");
                        add_escaped(out, c->description);
                }
                buffer_add_char(out, '\n');
        }
}

static void text_files(struct buffer *out, const struct task *t)
{
        char size[32];

        quantity_format_bytes(size, sizeof size, t->max_archive);
        buffer_add_format(out, "\nSubmission: at most %s packed, ", size);
        quantity_format_bytes(size, sizeof size, t->max_unpacked);
        buffer_add_format(
                out, "%s and %llu entries unpacked\n", size, (unsigned long long)t->max_entries);
        for (unsigned i = 0; i < t->required_count; i++) {
                buffer_add_text(out, "  needs ");
                add_escaped(out, t->required[i].path);
                quantity_format_bytes(size, sizeof size, t->required[i].max_size);
                if (t->required[i].max_size > 0)
                        buffer_add_format(out, ", at most %s", size);
                buffer_add_char(out, '\n');
        }
        for (unsigned i = 0; i < t->pattern_count; i++) {
                buffer_add_format(out, "  needs %llu or more of ",
                        (unsigned long long)t->patterns[i].min_files);
                add_escaped(out, t->patterns[i].glob);
                buffer_add_char(out, '\n');
        }
        buffer_add_text(out, "  SUBMISSION.md with the sections ");
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                buffer_add_format(out, "%s%s", i > 0 ? ", " : "", submission_section(i));
        buffer_add_char(out, '\n');
}

static void text_running(struct buffer *out, const struct task *t)
{
        const struct limits *l = limits_of(t);

        if (!has_suite(t))
                return;
        buffer_add_format(out, "\nRuns in %s, contract %s: the submission is %s\n", t->image,
                contracts[t->contract].name, contracts[t->contract].submission[0].place);
        if (t->build != BUILD_NONE)
                buffer_add_format(out, "  it is built first%s\n",
                        t->build == BUILD_REJECT ? "; what does not build is rejected" : "");
        buffer_add_format(
                out, "  limits of %s:", has_own_cells(t) ? "each run of it" : "all tests together");
        for (unsigned i = 0; i < SHOWN_LIMITS; i++) {
                char value[32];

                limit_format(shown_limits[i], l->value[shown_limits[i]], value, sizeof value);
                buffer_add_format(out, "%s %s %s", i > 0 ? "," : "",
                        limit_info(shown_limits[i])->name, value);
        }
        buffer_add_format(out, ", %snetwork\n", t->network && !has_own_cells(t) ? "" : "no ");
}

static int add_text(struct buffer *out, const struct task *t, struct error *err)
{
        const struct case_listener listener = {text_group, text_case, text_group_end, out};

        add_escaped(out, *t->title ? t->title : t->name);
        buffer_add_format(out, "\n");
        if (*t->description) {
                buffer_add_char(out, '\n');
                add_lines(out, t->description);
        }
        text_scoring(out, t);
        text_files(out, t);
        text_running(out, t);
        if (t->cases.count > 0)
                buffer_add_text(out, "\nTests, and what they are worth:\n");
        if (show_cases(t, &listener, err) < 0)
                return -1;
        if (*t->due)
                buffer_add_format(out, "\nDue: %s\n", t->due);
        return 0;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void json_group(void *to, const struct task_group *g, bool visible, unsigned count)
{
        struct json_writer *w = to;

        json_open_object(w, NULL);
        json_text(w, "name", g->name);
        json_bool(w, "visible", visible);
        json_number(w, "count", count);
        json_decimal(w, "points", g->points);
        json_open_array(w, "cases");
}

static void json_case(void *to, const char *name, const char *points)
{
        struct json_writer *w = to;

        json_open_object(w, NULL);
        json_text(w, "name", name);
        json_decimal(w, "points", points);
        json_close(w);
}

static void json_group_end(void *to)
{
        json_close(to);
        json_close(to);
}

static void json_scoring(struct json_writer *w, const struct task *t)
{
        json_text(w, "scheme", t->scheme == SCHEME_DIMENSIONS ? "dimensions" : "blend");
        json_number(w, "scale", t->scheme == SCHEME_DIMENSIONS ? 1000 : 100);
        if (t->scheme == SCHEME_DIMENSIONS)
                return;
        if (t->pass_from_suite)
                json_text(w, "pass", "suite");
        else
                json_decimal(w, "pass", t->pass);
        if (t->mode == MODE_HYBRID) {
                json_open_object(w, "weights");
                json_number(w, "test", t->test_weight);
                json_number(w, "llm", t->llm_weight);
                json_close(w);
        }
        json_open_array(w, "rubric");
        for (unsigned i = 0; i < t->criterion_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "name", t->criteria[i].name);
                json_text(w, "description", t->criteria[i].description);
                json_number(w, "weight", t->criteria[i].weight);
                json_text(w, "source", t->criteria[i].source == SOURCE_LLM ? "llm" : "test");
                json_close(w);
        }
        json_close(w);
}

static void json_files(struct json_writer *w, const struct task *t)
{
        json_open_object(w, "submission");
        json_number(w, "max_archive", t->max_archive);
        json_number(w, "max_unpacked", t->max_unpacked);
        json_number(w, "max_entries", t->max_entries);
        json_open_array(w, "required_files");
        for (unsigned i = 0; i < t->required_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "path", t->required[i].path);
                if (t->required[i].max_size > 0)
                        json_number(w, "max_size", t->required[i].max_size);
                json_close(w);
        }
        json_close(w);
        json_open_array(w, "required_patterns");
        for (unsigned i = 0; i < t->pattern_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "glob", t->patterns[i].glob);
                json_number(w, "min_files", t->patterns[i].min_files);
                json_close(w);
        }
        json_close(w);
        json_open_array(w, "sections");
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                json_text(w, NULL, submission_section(i));
        json_close(w);
        json_close(w);
}

static void json_running(struct json_writer *w, const struct task *t)
{
        const struct limits *l = limits_of(t);

        if (!has_suite(t))
                return;
        json_text(w, "image", t->image);
        json_text(w, "contract", contracts[t->contract].name);
        json_text(w, "place", contracts[t->contract].submission[0].place);
        json_bool(w, "build", t->build != BUILD_NONE);
        json_bool(w, "network", t->network && !has_own_cells(t));
        json_text(w, "limits_of", has_own_cells(t) ? "each run" : "all tests");
        json_open_object(w, "limits");
        for (unsigned i = 0; i < SHOWN_LIMITS; i++) {
                char value[32];

                limit_format(shown_limits[i], l->value[shown_limits[i]], value, sizeof value);
                json_text(w, limit_info(shown_limits[i])->name, value);
        }
        json_close(w);
}

static int add_json(struct buffer *out, const struct task *t, struct error *err)
{
        struct json_writer w = {.out = out};
        const struct case_listener listener = {json_group, json_case, json_group_end, &w};

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.task.description/1");
        json_text(&w, "name", t->name);
        json_text(&w, "title", t->title);
        json_text(&w, "description", t->description);
        json_text(&w, "mode", modes[t->mode]);
        json_scoring(&w, t);
        json_files(&w, t);
        json_running(&w, t);
        json_open_array(&w, "groups");
        if (show_cases(t, &listener, err) < 0)
                return -1;
        json_close(&w);
        if (*t->due)
                json_text(&w, "due", t->due);
        else
                json_add_null(&w, "due");
        json_close(&w);
        buffer_add_char(out, '\n');
        return 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static int describe(const struct task *t, const struct common_options *common, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if ((common->json ? add_json(&out, t, err) : add_text(&out, t, err)) < 0)
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
        int rest = options_parse(NULL, 0, &common, argc, argv, err), r;
        struct task task = TASK_INIT;

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("describe TASK",
                        "Tells what a submitter may know of a task: rubric, limits, files wanted, "
                        "visible\ntests. Hidden tests are counted.",
                        NULL, 0);
        if (rest != 1)
                return error_set(err, CODE_USAGE, "describe: needs one task");
        r = task_read_alone(&task, argv[0], err);
        if (r < 0 && err->code == CODE_TASK_INVALID)
                task_print_problems(&task, argv[0], stderr);
        if (r == 0)
                r = describe(&task, &common, err);
        task_free(&task);
        return r;
}
