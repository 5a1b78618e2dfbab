/* assay verify TASK: grades the task's own solutions, and compares what they get with what their
 * expect.json says. A submission of nothing is graded too: it must not pass. */
#include "verbs.h"

#include "fd.h"
#include "report/json.h"
#include "report/report.h"
#include "task_facts.h"
#include "text.h"
#include "verify/verdict.h"

#include <unistd.h>

struct verifying {
        struct common_options common;
        struct evaluation_options evaluation, empty; /* the second: of what is made up */
        const char *jobs, *task;
        bool twice;

        unsigned rounds, done;
        struct task_facts facts;
        struct solutions solutions;
        struct verdict_of_task verdict;
};

/* --- grading -------------------------------------------------------------------------------- */

static void show_progress(const struct verifying *v)
{
        const char *terminal = getenv("TERM");

        if (v->common.json || v->common.quiet || !isatty(STDOUT_FILENO) || !terminal ||
                strcmp(terminal, "dumb") == 0)
                return;
        printf("\r\033[K");
        if (v->done < v->solutions.count * v->rounds)
                printf("%u of %u graded", v->done, v->solutions.count * v->rounds);
        fflush(stdout);
}

static int begin(void *to, unsigned i, struct aside *a, struct error *err)
{
        struct verifying *v = to;
        const struct solution *s = &v->solutions.all[i / v->rounds];
        _cleanup_fd_ int archive = -EBADF, expect = -EBADF;
        struct aside_order order = ASIDE_ORDER_INIT;
        char path[64];

        if (s->made_up)
                archive = solution_pack_empty(v->facts.required, err);
        else if (solution_open(&v->solutions, s, &archive, &expect, err) < 0)
                return -1;
        if (archive < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", archive);
        show_progress(v);
        order.task = v->task;
        order.submission = path;
        order.options = s->made_up ? &v->empty : &v->evaluation;
        order.expect = expect;
        order.keep_folder = true;
        return aside_begin(a, &order, err);
}

static int ended(void *to, unsigned i, struct aside_result *r, struct error *err)
{
        struct verifying *v = to;
        struct solution *s = &v->solutions.all[i / v->rounds];

        if (r->failed.code != CODE_NONE && code_info(r->failed.code)->class == CLASS_USAGE) {
                *err = r->failed;
                return error_add(err, "%s", s->name);
        }
        if (r->failed.code == CODE_INTERRUPTED || r->code == CODE_INTERRUPTED)
                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        s->results[i % v->rounds] = *r;
        *r = (struct aside_result){0};
        v->done++;
        show_progress(v);
        return 0;
}

/* Where nothing runs, nothing but the judge could tell that it is empty. */
static int add_empty(struct verifying *v, struct error *err)
{
        for (unsigned i = 0; i < v->solutions.count; i++)
                if (strcmp(v->solutions.all[i].name, "empty") == 0)
                        return 0;
        v->empty = v->evaluation;
        v->empty.llm_score = v->facts.mode == MODE_HYBRID ? "0" : NULL;
        return v->facts.mode == MODE_LLM || v->facts.mode == MODE_ANSWER
                       ? 0
                       : solutions_make_up(&v->solutions, "empty", err);
}

static int grade(struct verifying *v, struct error *err)
{
        struct aside_many many = {.begin = begin, .ended = ended, .to = v};

        v->rounds = v->twice ? 2 : 1;
        if (aside_parse_jobs(v->jobs, &many.jobs, err) < 0 ||
                task_facts_read(&v->facts, v->task, v->evaluation.policy, err) < 0 ||
                solutions_find(&v->solutions, v->task, err) < 0 || add_empty(v, err) < 0)
                return -1;
        many.count = v->solutions.count * v->rounds;
        return aside_run(&many, err) < 0
                       ? -1
                       : verdict_reach(&v->solutions, v->rounds, &v->verdict, err);
}

/* --- reports -------------------------------------------------------------------------------- */

static void add_escaped(struct buffer *out, const char *text)
{
        char safe[1024];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_text(out, safe);
}

static void add_got(struct buffer *out, const struct aside_result *r)
{
        const enum code code = r->failed.code != CODE_NONE ? r->failed.code : r->code;

        if (r->failed.code == CODE_NONE && r->status == STATUS_GRADED)
                buffer_add_format(out, "%s %s", r->outcome, r->score);
        else
                buffer_add_text(out,
                        r->failed.code != CODE_NONE ? "not evaluated" : status_name(r->status));
        if (code != CODE_NONE)
                buffer_add_format(out, " (%s)", code_info(code)->name);
}

static void add_solution(struct buffer *out, const struct solution *s, bool colour)
{
        const struct aside_result *r = &s->results[0];

        buffer_add_text(out, !colour ? "" : s->met ? "\033[32m" : "\033[31m");
        buffer_add_format(out, "%s%s ", s->met ? "ok  " : "FAIL", colour ? "\033[0m" : "");
        add_escaped(out, s->name);
        buffer_add_text(out, s->made_up ? " (made up): " : ": ");
        add_got(out, r);
        buffer_add_char(out, '\n');
        for (unsigned i = 0; i < s->differ_count; i++) {
                buffer_add_text(out, "       ");
                add_escaped(out, s->differs[i]);
                buffer_add_char(out, '\n');
        }
        if (s->met || r->failed.code != CODE_NONE || r->code == CODE_NONE)
                return;
        buffer_add_text(out, "       why: ");
        add_escaped(out, r->reason);
        buffer_add_format(out, "\n       what to do: %s\n", code_info(r->code)->remedy);
}

static void add_text(const struct verifying *v, struct buffer *out)
{
        const bool colour = report_wants_colour();

        for (unsigned i = 0; i < v->solutions.count; i++)
                add_solution(out, &v->solutions.all[i], colour);
        for (unsigned i = 0; i < v->verdict.warning_count; i++) {
                buffer_add_text(out, "warning: ");
                add_escaped(out, v->verdict.warnings[i]);
                buffer_add_char(out, '\n');
        }
        buffer_add_format(out, "%u as expected, %u not%s\n", v->verdict.met, v->verdict.unmet,
                v->twice ? ", each graded twice" : "");
}

static void json_maybe(struct json_writer *w, const char *key, const char *text)
{
        if (text && *text)
                json_text(w, key, text);
        else
                json_add_null(w, key);
}

static void add_run(struct json_writer *w, const struct aside_result *r)
{
        const bool failed = r->failed.code != CODE_NONE;

        json_open_object(w, NULL);
        json_maybe(w, "status", failed ? NULL : status_name(r->status));
        json_maybe(w, "outcome", r->outcome);
        json_decimal(w, "score", r->score ? r->score : "");
        json_decimal(w, "test_score", r->test_score ? r->test_score : "");
        json_decimal(w, "llm_score", r->llm_score ? r->llm_score : "");
        json_maybe(w, "code", code_info(failed ? r->failed.code : r->code)->name);
        json_maybe(w, "reason", failed ? r->failed.text : r->reason);
        json_open_array(w, "tests");
        for (unsigned i = 0; i < r->test_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "name", r->tests[i].name);
                json_bool(w, "passed", r->tests[i].passed);
                json_close(w);
        }
        json_close(w);
        json_close(w);
}

static void add_json(const struct verifying *v, struct buffer *out)
{
        struct json_writer w = {.out = out};

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.verify/1");
        json_text(&w, "task", v->facts.name);
        json_bool(&w, "met", v->verdict.unmet == 0);
        json_open_array(&w, "solutions");
        for (unsigned i = 0; i < v->solutions.count; i++) {
                const struct solution *s = &v->solutions.all[i];

                json_open_object(&w, NULL);
                json_text(&w, "name", s->name);
                json_bool(&w, "made_up", s->made_up);
                json_bool(&w, "met", s->met);
                json_open_array(&w, "differs");
                for (unsigned n = 0; n < s->differ_count; n++)
                        json_text(&w, NULL, s->differs[n]);
                json_close(&w);
                json_open_array(&w, "runs");
                for (unsigned n = 0; n < v->rounds; n++)
                        add_run(&w, &s->results[n]);
                json_close(&w);
                json_close(&w);
        }
        json_close(&w);
        json_open_array(&w, "warnings");
        for (unsigned i = 0; i < v->verdict.warning_count; i++)
                json_text(&w, NULL, v->verdict.warnings[i]);
        json_close(&w);
        json_close(&w);
        buffer_add_char(out, '\n');
}

static int report(const struct verifying *v, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (v->common.json)
                add_json(v, &out);
        else if (!v->common.quiet)
                add_text(v, &out);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (fd_write_all(STDOUT_FILENO, out.data, out.len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
        if (v->verdict.infra)
                return END_ERROR;
        return v->verdict.unmet > 0 ? END_NOT_PASSED : 0;
}

int verb_verify(int argc, char **argv, struct error *err)
{
        struct verifying v = {.solutions = SOLUTIONS_INIT};
        const struct option table[] = {
                {"--twice", OPTION_FLAG, &v.twice, NULL,
                        "grade each twice: scores and tests must be the same"},
                {"--jobs", OPTION_TEXT, &v.jobs, "N",
                        "so many at a time; else one for each processor"},
                {"--seed", OPTION_TEXT, &v.evaluation.seed, "N", "ASSAY_SEED of the suite; else 0"},
                {"--policy", OPTION_TEXT, &v.evaluation.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
                {"--allow-network", OPTION_FLAG, &v.evaluation.allow_network, NULL,
                        "give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &v.evaluation.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &v.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (v.common.help)
                return options_help("verify [OPTIONS] TASK",
                        "Grades the task's own solutions/NAME/ against their expect.json, and a\n"
                        "submission of nothing.\n\n"
                        "exit status: 0 all are as expected, 1 some are not, 2 usage or task, 4 "
                        "some\nare not because of this machine, 130 interrupted",
                        table, sizeof table / sizeof *table);
        if (evaluation_check_options(&v.evaluation, err) < 0)
                return -1;
        if (rest != 1)
                return error_set(err, CODE_USAGE, "verify: needs one task");
        v.task = argv[0];
        r = grade(&v, err);
        if (r == 0)
                r = report(&v, err);
        solutions_free(&v.solutions);
        verdict_of_task_free(&v.verdict);
        task_facts_free(&v.facts);
        return r;
}
