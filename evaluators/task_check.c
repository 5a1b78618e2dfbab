/* What must hold between the keys of a task. Each check runs whatever the others found; what was
 * not valid by itself is left out, so that one mistake gives one message. */
#include "task.h"

#include "contract.h"

#define RUBRIC "scoring.rubric"

enum { MOST_ARGUMENT_BYTES = 48 << 10 };

/* What dimensions are scored from says what has to be run. */
static void settle_sources(struct task *t)
{
        const struct dimension *d = t->scoring.spec.dimensions.items;
        bool suite = false, judge = false;

        for (size_t i = 0; i < t->scoring.spec.dimensions.count; i++) {
                suite |= d[i].source == FROM_SUITE || d[i].source == FROM_TESTS ||
                         d[i].source == FROM_SCRIPT;
                judge |= d[i].source == FROM_JUDGE;
        }
        t->scoring.mode = suite && judge ? MODE_HYBRID
                          : suite        ? MODE_CONTAINER
                          : judge        ? MODE_LLM
                                         : MODE_ANSWER;
}

/* The default comes in here, so that a mode given wrongly stays NOT_GIVEN. */
static void settle_mode(struct reading *r, struct task *t)
{
        if (t->scoring.scheme == SCHEME_DIMENSIONS) {
                settle_sources(t);
                return;
        }
        if (t->scoring.scheme == SCHEME_COMPOSITE) {
                t->scoring.mode = MODE_WORKFLOW;
                memcpy(t->scoring.pass, t->workflow.spec.pass, sizeof t->scoring.pass);
                return;
        }
        if (!reading_has(r, "scoring.mode"))
                t->scoring.mode = MODE_LLM;
}

static void check_weights(struct reading *r, const struct task *t)
{
        static const char *const paths[] = {"scoring.test_weight", "scoring.llm_weight"};
        const uint64_t weights[] = {t->scoring.test_weight, t->scoring.llm_weight};
        unsigned given = 0;

        if (t->scoring.mode == NOT_GIVEN)
                return;
        for (unsigned i = 0; i < 2; i++) {
                bool there = reading_has(r, paths[i]);

                if (t->scoring.mode == MODE_HYBRID && !there)
                        reading_problem_at(
                                r, paths[i], "is missing; hybrid mode needs both weights");
                if (t->scoring.mode != MODE_HYBRID && there)
                        reading_problem_at(r, paths[i], "belongs to hybrid mode only");
                given += weights[i] != NOT_GIVEN;
        }
        if (t->scoring.mode == MODE_HYBRID && given == 2 && weights[0] + weights[1] != 100)
                reading_problem_at(r, paths[0], "and llm_weight must add up to 100, not %u",
                        (unsigned)(weights[0] + weights[1]));
}

static void check_pass(struct reading *r, struct task *t)
{
        struct scoring *s = &t->scoring;

        if (!s->pass_given) {
                /* Only this format has a boolean of the suite's own. */
                s->pass_from_suite = s->mode == MODE_CONTAINER && !t->cases.given &&
                                     t->result.format != NOT_GIVEN &&
                                     strcmp(task_formats[t->result.format].name, "score.json") == 0;
                snprintf(s->pass, sizeof s->pass, "%s", s->pass_from_suite ? "" : "70");
        } else if (s->pass_from_suite && t->cases.given)
                reading_problem_at(r, "scoring.pass", "cannot be \"suite\": cases have no suite");
        else if (s->pass_from_suite && s->mode == MODE_LLM)
                reading_problem_at(
                        r, "scoring.pass", "cannot be \"suite\" in llm mode, which has no suite");
}

static void check_sources(struct reading *r, const struct task *t, struct criterion *c, size_t i)
{
        char path[64];

        if (c->source == NOT_GIVEN)
                c->source = t->scoring.mode == MODE_CONTAINER ? SOURCE_TEST : SOURCE_LLM;
        snprintf(path, sizeof path, RUBRIC "[%zu].source", i);
        if (t->scoring.mode == MODE_LLM && c->source == SOURCE_TEST)
                reading_problem_at(r, path, "cannot be \"test\" in llm mode, which has no suite");
        if (t->scoring.mode == MODE_CONTAINER && c->source == SOURCE_LLM)
                reading_problem_at(
                        r, path, "cannot be \"llm\" in container mode, which has no judge");
}

static void check_unique(struct reading *r, const struct criterion *c, size_t i)
{
        char path[64];

        for (size_t j = 0; j < i; j++) {
                if (c[i].name[0] == '\0' || strcmp(c[i].name, c[j].name) != 0)
                        continue;
                snprintf(path, sizeof path, RUBRIC "[%zu].name", i);
                reading_problem_at(r, path, "is the name of " RUBRIC "[%zu] already", j);
                return;
        }
}

static void check_rubric(struct reading *r, struct task *t)
{
        struct criterion *c = t->scoring.rubric.items;
        size_t count = t->scoring.rubric.count;
        unsigned sum = 0;
        bool valid = count > 0;

        for (size_t i = 0; i < count; i++) {
                if (t->scoring.mode != NOT_GIVEN)
                        check_sources(r, t, &c[i], i);
                check_unique(r, c, i);
                sum += (unsigned)c[i].weight;
                valid = valid && c[i].weight > 0;
        }
        if (valid && sum != 100)
                reading_problem_at(r, RUBRIC, "has weights that add up to %u, not 100", sum);
}

static void check_judged(struct reading *r, const struct task *t)
{
        const struct criterion *c = t->scoring.rubric.items;
        unsigned test_sum = 0, tests = 0;

        if (t->scoring.mode == NOT_GIVEN || t->scoring.mode == MODE_CONTAINER)
                return;
        if (!reading_has(r, RUBRIC)) {
                reading_problem_at(r, RUBRIC, "is missing; llm and hybrid mode need one");
                return;
        }
        for (size_t i = 0; i < t->scoring.rubric.count; i++)
                if (c[i].source == SOURCE_TEST) {
                        test_sum += (unsigned)c[i].weight;
                        tests++;
                }
        if (t->scoring.mode != MODE_HYBRID || tests == 0)
                return;
        if (tests == t->scoring.rubric.count)
                reading_problem_at(
                        r, RUBRIC, "needs a criterion with source \"llm\" in hybrid mode");
        else if (test_sum != t->scoring.test_weight)
                reading_warning_at(r, RUBRIC,
                        "the criteria with source \"test\" weigh %u together, test_weight is %u",
                        test_sum, (unsigned)t->scoring.test_weight);
}

/* The command and its arguments travel in one request to the cell. */
static void check_length(struct reading *r, const struct suite *s)
{
        const char *const *texts = s->command.items;
        size_t sum = 0;

        for (size_t i = 0; i < s->command.count; i++)
                sum += strlen(texts[i]) + 1;
        if (sum > MOST_ARGUMENT_BYTES)
                reading_problem_at(r, "suite.command", "has %zu bytes of arguments, more than %d",
                        sum, MOST_ARGUMENT_BYTES);
}

static void check_suite(struct reading *r, struct task *t)
{
        if (t->suite.broker && strcmp(t->image, "host") != 0 && !t->submission.image.given)
                reading_warning_at(r, "suite.broker",
                        "submissions see the suite's whole image: declare submission.image");
        if (t->scoring.mode == MODE_LLM && reading_has(r, "suite"))
                reading_warning_at(r, "suite", "is not used in llm mode");
        if (t->scoring.mode == MODE_LLM || t->scoring.mode == MODE_ANSWER ||
                t->scoring.mode == NOT_GIVEN)
                return;
        if (t->scoring.mode == MODE_WORKFLOW && t->workflow.quality.source != FROM_SUITE)
                return;
        if (t->cases.given && reading_has(r, "suite.command"))
                reading_problem_at(r, "suite.command", "and cases are two ways to test; give one");
        if (t->cases.given)
                return;
        check_length(r, &t->suite);
        if (!reading_has(r, "suite.command") && strcmp(t->image, "host") == 0 &&
                t->contract != CONTRACT_CODABENCH && !contracts[t->contract].command[0])
                reading_problem_at(
                        r, "suite.command", "is missing; image \"host\" has no program of its own");
}

/* `host` has no layers, and nothing of its own to hide. */
static void check_submission_image(struct reading *r, const struct task *t)
{
        static const char *const paths[] = {"submission.image.layers", "submission.image.hide"};

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                if (strcmp(t->image, "host") == 0 && reading_has(r, paths[i]))
                        reading_problem_at(
                                r, paths[i], "belongs to a container image, not \"host\"");
}

/* The contract's format comes in here; a wrong one stays NOT_GIVEN. */
static void settle_result(struct reading *r, struct task *t)
{
        struct result *result = &t->result;

        if (!reading_has(r, "result.format"))
                for (unsigned i = 0; i < TASK_FORMATS; i++)
                        if (strcmp(task_formats[i].name, contracts[t->contract].format) == 0)
                                result->format = i;
        if (result->exit == NOT_GIVEN && result->format != NOT_GIVEN)
                result->exit = task_formats[result->format].exit;
}

/* Keys of `result` that say something to a format or two. */
static const struct {
        const char *key, *formats[2];
} format_keys[] = {
        {"result.key", {"codabench", "harbor"}},
        {"result.min", {"codabench"}},
        {"result.max", {"codabench", "gradescope"}},
};

static void check_format_keys(struct reading *r, const char *format)
{
        for (size_t i = 0; i < COUNT(format_keys); i++) {
                const char *const *formats = format_keys[i].formats;

                if (reading_has(r, format_keys[i].key) && strcmp(format, formats[0]) != 0 &&
                        (!formats[1] || strcmp(format, formats[1]) != 0))
                        reading_problem_at(r, format_keys[i].key, "belongs to %s%s%s, not %s",
                                formats[0], formats[1] ? " and " : "", formats[1] ? formats[1] : "",
                                format);
        }
}

/* Only the scheme dimensions knows what to do with several scores. */
static void check_script(struct reading *r, const struct task *t)
{
        if (t->scoring.scheme != SCHEME_DIMENSIONS)
                reading_problem_at(r, "result.format",
                        "stdout-json gives scores of dimensions, which the scheme %s has not",
                        t->scoring.scheme == SCHEME_BLEND ? "blend" : "composite");
}

static void check_result(struct reading *r, const struct task *t)
{
        const char *results = contracts[t->contract].results, *format;
        const size_t len = strlen(results);

        if (t->result.on_limit == ON_LIMIT_PARTIAL && t->result.planned == 0)
                reading_problem_at(r, "result.planned",
                        "is missing; with \"on_limit\": \"partial\" it says how many tests there "
                        "are");
        if (t->result.path &&
                (strncmp(t->result.path, results, len) != 0 || t->result.path[len] != '/'))
                reading_problem_at(r, "result.path", "must be a path below %s/", results);
        if (t->result.format == NOT_GIVEN)
                return;
        format = task_formats[t->result.format].name;
        if (t->result.path && !*task_formats[t->result.format].file)
                reading_problem_at(
                        r, "result.path", "belongs to a format with a file, not %s", format);
        check_format_keys(r, format);
        if (strcmp(format, "codabench") == 0 && !reading_has(r, "result.key"))
                reading_problem_at(r, "result.key", "is missing: which of the scores counts?");
        if (strcmp(format, "stdout-json") == 0)
                check_script(r, t);
}

static void check_scale(struct reading *r, const struct task *t)
{
        mpq_t min, max;

        mpq_inits(min, max, NULL);
        mpq_set_ui(max, 100, 1);
        if ((!*t->result.min || number_parse(min, t->result.min) == 0) &&
                (!*t->result.max || number_parse(max, t->result.max) == 0) &&
                (*t->result.min || *t->result.max) && mpq_cmp(max, min) <= 0)
                reading_problem_at(r, *t->result.max ? "result.max" : "result.min",
                        "max (%s) must be greater than min (%s)",
                        *t->result.max ? t->result.max : "100",
                        *t->result.min ? t->result.min : "0");
        mpq_clears(min, max, NULL);
}

static void check_visibility(struct reading *r, const struct task *t)
{
        if (!*t->visibility.due && (t->visibility.tests == VISIBILITY_AFTER_DUE ||
                                           t->visibility.output == VISIBILITY_AFTER_DUE))
                reading_problem_at(
                        r, "visibility.due", "is missing; \"after_due\" needs to know when");
}

static void check_memory(struct reading *r, struct task *t)
{
        struct limits standard;
        uint64_t memory;

        limits_standard(&standard, CELL_SUITE);
        memory = t->limits.given[LIMIT_MEMORY] ? t->limits.value[LIMIT_MEMORY]
                                               : standard.value[LIMIT_MEMORY];
        if (t->limits.total_memory > 0 && t->limits.total_memory < memory)
                reading_problem_at(
                        r, "limits.total_memory", "must not be less than the suite's own memory");
}

static void check_required(struct reading *r, struct task *t)
{
        const struct required_file *files = t->submission.required_files.items;
        char path[64];

        for (size_t i = 0; i < t->submission.required_files.count; i++)
                for (size_t j = 0; j < i; j++)
                        if (files[i].path[0] && strcmp(files[i].path, files[j].path) == 0) {
                                snprintf(path, sizeof path, "submission.required_files[%zu].path",
                                        i);
                                reading_problem_at(r, path, "is listed twice");
                                break;
                        }
}

void task_check(struct reading *r, struct task *t)
{
        settle_mode(r, t);
        settle_result(r, t);
        if (t->scoring.scheme == SCHEME_BLEND) {
                check_weights(r, t);
                check_pass(r, t);
                check_rubric(r, t);
                check_judged(r, t);
        }
        check_suite(r, t);
        check_memory(r, t);
        check_required(r, t);
        check_submission_image(r, t);
        check_result(r, t);
        check_scale(r, t);
        check_visibility(r, t);
        workflow_check(r, &t->workflow);
        cases_check(r, &t->cases);
}
