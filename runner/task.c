/* A task, opened beneath its directory and read through assay-score; see task.h. */
#include "task.h"

#include "beneath.h"
#include "evaluators/contract.h"
#include "fd.h"
#include "privilege.h"
#include "text.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- reading: frames of assay-score, each checked again ------------------------------------- */

static void take_text(char **to, struct reader *r, size_t max)
{
        free(*to);
        *to = scorer_text(r, max);
}

/* Append a zeroed row to a list and return it; NULL when it is full. */
static void *append(void **list, unsigned *count, size_t size, unsigned max)
{
        char *more = *count < max ? realloc(*list, (*count + 1) * size) : NULL;

        if (!more)
                return NULL;
        *list = more;
        return memset(more + size * (*count)++, 0, size);
}

static void take_problem(
        struct task_problem **list, unsigned *count, struct reader *r, bool with_place)
{
        struct task_problem p = {0}, *to;

        p.line = with_place ? get_u32(r) : 0;
        p.column = with_place ? get_u32(r) : 0;
        p.key = scorer_text(r, SCORE_MAX_TEXT);
        p.message = scorer_text(r, SCORE_MAX_TEXT);
        to = r->bad ? NULL : append((void **)list, count, sizeof *to, TASK_MAX_PROBLEMS);
        if (to) {
                *to = p;
                return;
        }
        r->bad = true;
        free(p.key);
        free(p.message);
}

static void take_scoring(struct task *t, struct reader *r)
{
        t->scheme = get_u8(r);
        t->mode = get_u8(r);
        t->test_weight = get_u8(r);
        t->llm_weight = get_u8(r);
        t->pass_from_suite = get_u8(r);
        free(t->pass);
        t->pass = scorer_text(r, SCORE_MAX_NAME);
        t->llm_missing = get_u8(r);
        if (t->scheme >= SCHEME_COUNT || t->mode >= MODE_COUNT ||
                t->llm_missing >= LLM_MISSING_COUNT || !t->pass ||
                (t->mode == MODE_HYBRID && t->scheme == SCHEME_BLEND &&
                        t->test_weight + t->llm_weight != 100) ||
                (t->mode == MODE_WORKFLOW) != (t->scheme == SCHEME_COMPOSITE) ||
                (!t->pass_from_suite && t->scheme == SCHEME_BLEND && !scorer_is_score(t->pass)) ||
                (t->scheme == SCHEME_COMPOSITE && !scorer_is_decimal(t->pass)))
                r->bad = true;
}

static void take_criterion(struct task *t, struct reader *r)
{
        struct criterion *c = &t->criteria[t->criterion_count];

        if (t->criterion_count == TASK_MAX_CRITERIA) {
                r->bad = true;
                return;
        }
        t->criterion_count++;
        c->name = scorer_text(r, SCORE_MAX_NAME);
        c->description = scorer_text(r, SCORE_MAX_TEXT);
        c->weight = get_u8(r);
        c->source = get_u8(r);
        c->tests = texts_take(r, SCORE_MAX_HIDDEN);
        if (c->weight < 1 || c->weight > 100 || c->source >= SOURCE_COUNT)
                r->bad = true;
}

static void take_suite(struct task *t, struct reader *r)
{
        t->broker = get_u8(r);
        t->sees_submission = get_u8(r);
        t->network = get_u8(r);
        r->bad |= t->command != NULL;
        if (!r->bad)
                t->command = texts_take(r, CELL_MAX_ARGUMENTS);
}

static void take_build(struct task *t, struct reader *r)
{
        t->build = get_u8(r);
        r->bad |= t->build == BUILD_NONE || t->build >= BUILD_COUNT || t->build_command != NULL;
        if (!r->bad)
                t->build_command = texts_take(r, CELL_MAX_ARGUMENTS);
        r->bad |= !t->build_command || !t->build_command[0];
}

static void take_visibility(struct task *t, struct reader *r)
{
        t->visible_tests = get_u8(r);
        t->visible_output = get_u8(r);
        r->bad |= t->visible_tests >= VISIBILITY_COUNT || t->visible_output >= VISIBILITY_COUNT;
        take_text(&t->due, r, SCORE_MAX_NAME);
}

static void take_env(char **list, unsigned *count, struct reader *r)
{
        if (*count == TASK_MAX_ENV)
                r->bad = true;
        else
                list[(*count)++] = get_new_text(r, SCORE_MAX_TEXT);
}

static void take_number(char **to, struct reader *r)
{
        take_text(to, r, SCORE_MAX_NAME);
        r->bad |= !r->bad && **to && !scorer_is_decimal(*to);
}

static void take_result(struct task *t, struct reader *r)
{
        take_text(&t->result_format, r, SCORE_MAX_NAME);
        take_text(&t->result_path, r, CELL_MAX_PLACE - 1);
        t->on_limit = get_u8(r);
        t->exit_policy = get_u8(r);
        r->bad |= t->on_limit >= ON_LIMIT_COUNT || t->exit_policy >= EXIT_COUNT;
        take_text(&t->result_key, r, SCORE_MAX_NAME);
        take_number(&t->result_min, r);
        take_number(&t->result_max, r);
        t->planned = get_u32(r);
}

static void take_limit(struct task *t, struct reader *r)
{
        unsigned kind = get_u8(r), limit = get_u8(r);
        uint64_t value = get_u64(r);

        if (kind >= CELL_KIND_COUNT || limit >= LIMIT_COUNT || value < limit_info(limit)->least ||
                value > limit_info(limit)->most)
                r->bad = true;
        else
                t->limits[kind].value[limit] = value;
}

static void take_submission_image(struct task *t, struct reader *r)
{
        struct submission_image *i = &t->submission_image;
        uint32_t count;

        r->bad |= i->declared;
        i->declared = true;
        i->name = scorer_text(r, SCORE_MAX_NAME);
        i->layers = get_u32(r);
        count = get_u32(r);
        r->bad |= count > SCORE_MAX_HIDDEN;
        for (; !r->bad && i->hide_count < count; i->hide_count++)
                i->hide[i->hide_count] = scorer_text(r, SCORE_MAX_NAME);
}

static void take_required(struct task *t, struct reader *r)
{
        struct required_file *to =
                append((void **)&t->required, &t->required_count, sizeof *to, SCORE_MAX_MANY);

        if (!to) {
                r->bad = true;
                return;
        }
        to->path = scorer_text(r, SCORE_MAX_NAME);
        to->max_size = get_u64(r);
}

static void take_pattern(struct task *t, struct reader *r)
{
        struct required_pattern *to =
                append((void **)&t->patterns, &t->pattern_count, sizeof *to, SCORE_MAX_MANY);

        if (!to) {
                r->bad = true;
                return;
        }
        to->glob = scorer_text(r, SCORE_MAX_NAME);
        to->min_files = get_u64(r);
}

static void take_place(struct task *t, struct reader *r)
{
        struct task_place *p = &t->places[t->place_count];

        if (t->place_count == TASK_MAX_PLACES) {
                r->bad = true;
                return;
        }
        p->line = get_u32(r);
        p->column = get_u32(r);
        p->key = scorer_text(r, SCORE_MAX_NAME);
        t->place_count += p->key != NULL;
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct task *t = to;

        switch (type) {
        case TASK_PROBLEM:
                take_problem(&t->problems, &t->problem_count, r, true);
                break;
        case TASK_IDENTITY:
                take_text(&t->name, r, SCORE_MAX_NAME);
                take_text(&t->title, r, SCORE_MAX_TEXT);
                take_text(&t->description, r, SCORE_MAX_TEXT);
                break;
        case TASK_IMAGE:
                take_text(&t->image, r, SCORE_MAX_NAME);
                break;
        case TASK_CONTRACT:
                t->contract = get_u8(r);
                r->bad |= t->contract >= CONTRACT_COUNT;
                break;
        case TASK_SCORING:
                take_scoring(t, r);
                break;
        case TASK_CRITERION:
                take_criterion(t, r);
                break;
        case TASK_TIME:
                t->needs_time = true;
                break;
        case TASK_MATCH:
                t->match_ms = get_u64(r);
                t->difficulty = get_u8(r);
                r->bad |= t->difficulty >= DIFFICULTY_COUNT;
                break;
        case TASK_SUITE:
                take_suite(t, r);
                break;
        case TASK_SUITE_ENV:
                take_env(t->env, &t->env_count, r);
                break;
        case TASK_GROUP:
        case TASK_CASE:
                task_cases_take(&t->cases, type, r);
                break;
        case TASK_COMPOSITE:
        case TASK_TOOL:
                task_workflow_take(&t->workflow, type, r);
                break;
        case TASK_SUBMISSION_ENV:
                take_env(t->submission_env, &t->submission_env_count, r);
                break;
        case TASK_BUILD:
                take_build(t, r);
                break;
        case TASK_JUDGE:
                take_text(&t->judge, r, SCORE_MAX_NAME);
                r->bad |= t->judge_command != NULL;
                if (!r->bad)
                        t->judge_command = texts_take(r, CELL_MAX_ARGUMENTS);
                break;
        case TASK_VISIBILITY:
                take_visibility(t, r);
                break;
        case TASK_RESULT:
                take_result(t, r);
                break;
        case TASK_LIMIT:
                take_limit(t, r);
                break;
        case TASK_TOTAL_MEMORY:
                t->total_memory = get_u64(r);
                break;
        case TASK_SUBMISSION:
                t->max_entries = get_u64(r);
                t->max_unpacked = get_u64(r);
                t->max_archive = get_u64(r);
                t->strip_common_root = get_u8(r);
                t->links_drop = get_u8(r);
                break;
        case TASK_SUBMISSION_IMAGE:
                take_submission_image(t, r);
                break;
        case TASK_REQUIRED:
                take_required(t, r);
                break;
        case TASK_PATTERN:
                take_pattern(t, r);
                break;
        case TASK_PLACE:
                take_place(t, r);
                break;
        case RESULT_WARNING:
                take_problem(&t->warnings, &t->warning_count, r, false);
                break;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
        return 0;
}

int task_document(const struct task *t, struct channel *c, struct buffer *ret, struct error *err)
{
        return scorer_ask(c, HELPER_TASK, t->file, scorer_record, ret, err);
}

int task_read(struct task *t, struct channel *c, const struct buffer *document, struct error *err)
{
        for (unsigned i = 0; i < CELL_KIND_COUNT; i++)
                limits_standard(&t->limits[i], (enum cell_kind)i);
        if ((document ? scorer_replay(document, take, t, err)
                      : scorer_ask(c, HELPER_TASK, t->file, take, t, err)) < 0)
                return err->code == CODE_TASK_INVALID ? -1 : error_add(err, "task.json");
        for (unsigned i = 0; i < CELL_KIND_COUNT; i++)
                limits_settle(&t->limits[i]);
        if (t->total_memory == 0)
                t->total_memory = 2 * t->limits[CELL_SUITE].value[LIMIT_MEMORY];
        if (task_has_suite(t) && t->image && strcmp(t->image, "host") == 0 &&
                (!t->command || !t->command[0]) && t->contract != CONTRACT_CODABENCH &&
                !contracts[t->contract].command[0])
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer left out the command");
        if (t->scheme == SCHEME_COMPOSITE && (!t->workflow.given || t->workflow.tool_count == 0))
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer left out the tools");
        if (!t->name || !t->title || !t->description || !t->image || !t->result_format ||
                !t->pass || !t->command || !t->result_path || !t->result_key || !t->result_min ||
                !t->result_max || !t->due || !t->judge || !t->judge_command)
                return error_set(
                        err, CODE_INTERNAL_FRAME, "the scorer left out a part of the task");
        return 0;
}

static int check_program(const struct task *t, struct error *err)
{
        const char *program = contracts[t->contract].program;
        const int tests = task_readable(t, TASK_TESTS);
        _cleanup_fd_ int fd = -EBADF;

        if (t->command[0] || !program || strcmp(t->image, "host") != 0)
                return 0;
        fd = tests < 0 ? -1 : beneath_open(tests, program, O_PATH, 0);
        return fd >= 0 ? 0
                       : error_set(err, CODE_SUITE_NOT_FOUND,
                                 "tests/ has no %s, which the contract %s runs", program,
                                 contracts[t->contract].name);
}

/* A folder of the task, as cells have it. */
struct part {
        int directory;
        const char *name, *place;
        enum code missing, not_executable;
};

/* A script whose first line ends as on Windows: the kernel looks for an interpreter of that name.
 * With an argument some interpreters bear it; env never does. */
static int check_first_line(
        const struct part *p, const char *what, const char *name, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(p->directory, name, O_RDONLY | O_NONBLOCK, 0);
        char line[256] = "", *end;
        const char *space;

        if (fd < 0 || read(fd, line, sizeof line - 1) < 0 || strncmp(line, "#!", 2) != 0)
                return 0;
        end = strchr(line, '\n');
        if (!end || end[-1] != '\r')
                return 0;
        *end = '\0';
        space = strchr(line + 3, ' '); /* not one that follows #! at once */
        if (space && (space - line < 4 || strncmp(space - 4, "/env", 4) != 0))
                return 0;
        return error_set(err, p->missing,
                "%s: the first line of %s/%s has a Windows line end; save it with Unix line ends "
                "(`dos2unix`)",
                what, p->name, name);
}

static int check_in_part(
        const struct part *p, const char *what, const char *command, struct error *err)
{
        const size_t len = strlen(p->place);
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        if (strncmp(command, p->place, len) != 0 || command[len] != '/')
                return 0;
        fd = p->directory < 0 ? -1 : beneath_open(p->directory, command + len + 1, O_PATH, 0);
        if (p->directory < 0 || (fd < 0 && errno == ENOENT))
                return error_set(err, p->missing, "%s: %s is not in %s/", what, command, p->name);
        if (fd < 0)
                return errno == ELOOP ? 0 /* a link inside of it, which was looked at */
                                      : error_errno(err, p->not_executable, errno, "%s: %s", what,
                                                command);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
                return error_set(
                        err, p->not_executable, "%s: %s is no executable file", what, command);
        return check_first_line(p, what, command + len + 1, err);
}

static int check_tools(const struct task *t, struct error *err)
{
        const struct part tools = {task_readable(t, TASK_TOOLS), "tools", TASK_TOOLS_PLACE,
                CODE_TOOL_NOT_FOUND, CODE_TOOL_NOT_FOUND};
        char what[SCORE_MAX_NAME + 16];

        for (unsigned i = 0; i < t->workflow.tool_count; i++) {
                snprintf(what, sizeof what, "tools.%s.command", t->workflow.tools[i].name);
                if (check_in_part(&tools, what, t->workflow.tools[i].command[0], err) < 0)
                        return -1;
        }
        return 0;
}

int task_check_command(const struct task *t, struct error *err)
{
        const struct part tests = {task_readable(t, TASK_TESTS), "tests",
                contracts[t->contract].tests.place, CODE_SUITE_NOT_FOUND,
                CODE_SUITE_NOT_EXECUTABLE};

        if (check_tools(t, err) < 0)
                return -1;
        if (!task_has_suite(t))
                return 0;
        return check_program(t, err) < 0 ? -1
                                         : check_in_part(&tests, "suite.command",
                                                   t->command[0] ? t->command[0] : "", err);
}

static int add_problem(struct task_problem **list, unsigned *count, const struct task_problem *what,
        struct error *err)
{
        struct task_problem p = *what, *to;

        p.key = strdup(what->key);
        p.message = strdup(what->message);
        to = p.key && p.message ? append((void **)list, count, sizeof *to, UINT_MAX) : NULL;
        if (to) {
                *to = p;
                return 0;
        }
        free(p.key);
        free(p.message);
        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static const struct task_place *find_place(const struct task *t, const char *key)
{
        for (unsigned i = 0; i < t->place_count; i++)
                if (strcmp(t->places[i].key, key) == 0)
                        return &t->places[i];
        return NULL;
}

bool task_gives(const struct task *t, const char *key)
{
        return find_place(t, key) != NULL;
}

bool task_runs_something(const struct task *t)
{
        return t->mode != MODE_LLM && t->mode != MODE_ANSWER;
}

bool task_has_suite(const struct task *t)
{
        return task_runs_something(t) && t->cases.count == 0 &&
               (t->mode != MODE_WORKFLOW || t->workflow.by_suite);
}

int task_add_problem(struct task *t, const char *key, const char *message, struct error *err)
{
        const struct task_place *place = find_place(t, key);
        const struct task_problem p = {place ? place->line : 1, place ? place->column : 1,
                (char *)(uintptr_t)key, (char *)(uintptr_t)message};

        return add_problem(&t->problems, &t->problem_count, &p, err);
}

int task_add_warning(struct task *t, const char *key, const char *message, struct error *err)
{
        const struct task_problem p = {0, 0, (char *)(uintptr_t)key, (char *)(uintptr_t)message};

        return add_problem(&t->warnings, &t->warning_count, &p, err);
}

static void print_problem(const struct task_problem *p, const char *place, FILE *to)
{
        char key[1024], message[2048];

        text_escape(key, sizeof key, p->key, strlen(p->key));
        text_escape(message, sizeof message, p->message, strlen(p->message));
        fprintf(to, "%s: %s%s%s\n", place, key, *key ? ": " : "", message);
}

void task_print_problems(const struct task *t, const char *path, FILE *to)
{
        char safe[1024], place[1100];

        text_escape(safe, sizeof safe, path, strlen(path));
        for (unsigned i = 0; i < t->problem_count; i++) {
                snprintf(place, sizeof place, "%s/task.json:%u:%u", safe, t->problems[i].line,
                        t->problems[i].column);
                print_problem(&t->problems[i], place, to);
        }
        snprintf(place, sizeof place, "%s/task.json: warning", safe);
        for (unsigned i = 0; i < t->warning_count; i++)
                print_problem(&t->warnings[i], place, to);
}

static void free_problems(struct task_problem *list, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                free(list[i].key);
                free(list[i].message);
        }
        free(list);
}

void task_free(struct task *t)
{
        fd_close(t->directory);
        fd_close(t->file);
        fd_close(t->tests);
        fd_close(t->truth);
        for (unsigned i = 0; i < TASK_PARTS; i++)
                fd_close(t->shown[i]);
        fd_close(t->tools);
        free(t->name);
        free(t->title);
        free(t->description);
        free(t->image);
        free(t->pass);
        free(t->result_format);
        free(t->result_path);
        for (unsigned i = 0; i < t->criterion_count; i++) {
                free(t->criteria[i].name);
                free(t->criteria[i].description);
                texts_free(t->criteria[i].tests);
        }
        free(t->result_key);
        free(t->result_min);
        free(t->result_max);
        free(t->due);
        texts_free(t->command);
        texts_free(t->build_command);
        texts_free(t->judge_command);
        free(t->judge);
        task_cases_free(&t->cases);
        task_workflow_free(&t->workflow);
        for (unsigned i = 0; i < t->env_count; i++)
                free(t->env[i]);
        for (unsigned i = 0; i < t->submission_env_count; i++)
                free(t->submission_env[i]);
        for (unsigned i = 0; i < t->required_count; i++)
                free(t->required[i].path);
        free(t->required);
        free(t->submission_image.name);
        for (unsigned i = 0; i < t->submission_image.hide_count; i++)
                free(t->submission_image.hide[i]);
        for (unsigned i = 0; i < t->pattern_count; i++)
                free(t->patterns[i].glob);
        free(t->patterns);
        for (unsigned i = 0; i < t->place_count; i++)
                free(t->places[i].key);
        free_problems(t->problems, t->problem_count);
        free_problems(t->warnings, t->warning_count);
        *t = (struct task)TASK_INIT;
}
