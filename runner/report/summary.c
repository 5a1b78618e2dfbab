/* The summary of an evaluation for a person. Bytes of outsiders are escaped. */
#include "report/report.h"
#include "report/visible.h"

#include "quantity.h"
#include "text.h"

#include <unistd.h>

enum { SHOWN_TESTS = 50, SHOWN_LOG = 4000, SHOWN_LINES = 20, SHOWN_TEXT = 300 };

struct style {
        const char *good, *bad, *dim, *bold, *off;
};

static void add_escaped(struct buffer *out, const char *text)
{
        char safe[SHOWN_TEXT * 4];
        size_t len = strlen(text);

        text_escape(safe, sizeof safe, text, len > SHOWN_TEXT ? SHOWN_TEXT : len);
        buffer_add_text(out, safe);
        if (len > SHOWN_TEXT)
                buffer_add_text(out, "…");
}

static void add_headline(struct buffer *out, const struct evaluation *e, const struct style *s)
{
        buffer_add_text(out, s->bold);
        add_escaped(out, e->task.title && *e->task.title ? e->task.title : e->task.name);
        buffer_add_format(out, "%s: ", s->off);
        if (e->dimensions.present) {
                dimensions_text(&e->dimensions, out);
                return;
        }
        if (e->composite.present) {
                buffer_add_format(out, "%s%s%s, %s of 1 (passes at %s)\n",
                        e->composite.passed ? s->good : s->bad,
                        e->composite.passed ? "passed" : "not passed", s->off,
                        e->composite.shown[0], e->task.pass);
                composite_text(&e->composite, out);
                return;
        }
        if (!e->blend.present) {
                const struct code_info *code = code_info(e->error.code);

                buffer_add_format(out, "%s%s%s, no score (%s)\n", s->bad,
                        status_name(evaluation_status(e)), s->off, code->name);
                buffer_add_format(
                        out, "  why: %s\n  what to do: %s\n", e->error.text, code->remedy);
                return;
        }
        buffer_add_format(out, "%s%s%s, %s of 100", e->blend.passed ? s->good : s->bad,
                e->blend.passed ? "passed" : "not passed", s->off, e->blend.score);
        if (!e->task.pass_from_suite)
                buffer_add_format(out, " (passes at %s)", e->task.pass);
        buffer_add_char(out, '\n');
        if (e->shaped.code != CODE_NONE)
                buffer_add_format(
                        out, "  %s: %s\n", code_info(e->shaped.code)->name, e->shaped.text);
}

/* What came of a step, and why its last attempt was not good. */
static void add_step(struct buffer *out, const struct workflow_step *step, const struct style *s)
{
        const bool good = step->status == STEP_COMPLETED;
        const char *reason = good || step->attempt_count == 0
                                     ? NULL
                                     : step->attempts[step->attempt_count - 1].reason;

        buffer_add_format(
                out, "    %s%s%s ", good ? s->good : s->bad, workflow_step_status(step), s->off);
        add_escaped(out, step->id);
        buffer_add_format(out, " %s(", s->dim);
        add_escaped(out, step->tool->name);
        buffer_add_format(out, ", %u attempt%s)%s", step->attempt_count,
                step->attempt_count == 1 ? "" : "s", s->off);
        if (reason) {
                buffer_add_text(out, ": ");
                add_escaped(out, reason);
        }
        buffer_add_char(out, '\n');
}

static void add_steps(struct buffer *out, const struct evaluation *e, const struct style *s)
{
        const struct workflow *w = &e->workflow;
        char seconds[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];

        if (!w->ran)
                return;
        buffer_add_format(out, "  %u step%s, %s s, cost %s%s, quality %s\n", w->count,
                w->count == 1 ? "" : "s", units_text(w->us, SECONDS_PLACES, seconds),
                units_text(w->cost, COST_PLACES, cost),
                w->budget_aborted ? ", the budget is used up" : "",
                w->quality ? w->quality : "unknown");
        for (unsigned i = 0; i < w->count && i < SHOWN_TESTS; i++)
                add_step(out, &w->steps[i], s);
        if (w->count > SHOWN_TESTS)
                buffer_add_format(
                        out, "    … and %u more (--json has all)\n", w->count - SHOWN_TESTS);
}

static void add_parts(struct buffer *out, const struct evaluation *e)
{
        if (e->task.mode != MODE_HYBRID || !e->blend.present)
                return;
        buffer_add_format(out, "  tests %s × %u %%, judge %s × %u %%\n", e->blend.test_score,
                e->task.test_weight, e->blend.llm_score, e->task.llm_weight);
}

static void add_criteria(struct buffer *out, const struct evaluation *e, const struct style *s)
{
        for (unsigned i = 0; e->blend.present && i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];
                const struct score_row *row = grade_row(e, c);

                buffer_add_format(out, "  %6s  ", row ? row->score : "-");
                add_escaped(out, c->name);
                buffer_add_format(out, " %s(%s, weight %u)%s\n", s->dim,
                        c->source == SOURCE_LLM ? "judge" : "tests", c->weight, s->off);
        }
}

static void add_test(struct buffer *out, const struct test_result *t, const struct style *s)
{
        buffer_add_format(out, "    %s%s%s ", t->passed ? s->good : s->bad,
                t->passed ? "pass" : "FAIL", s->off);
        add_escaped(out, t->name);
        if (*t->error) {
                buffer_add_text(out, ": ");
                add_escaped(out, t->error);
        }
        buffer_add_char(out, '\n');
}

static void add_tests(struct buffer *out, const struct evaluation *e, const struct style *s)
{
        const struct suite_result *suite = &e->suite;
        unsigned passed = 0, all = 0, shown = 0;

        for (unsigned i = 0; i < suite->test_count; i++)
                if (visible_test(e, &suite->tests[i])) {
                        all++;
                        passed += suite->tests[i].passed;
                }
        if (all > 0)
                buffer_add_format(out, "  %u of %u tests passed\n", passed, all);
        for (unsigned i = 0; i < suite->test_count && shown < SHOWN_TESTS; i++)
                if (visible_test(e, &suite->tests[i])) {
                        add_test(out, &suite->tests[i], s);
                        shown++;
                }
        if (all > shown)
                buffer_add_format(out, "    … and %u more (--json has all)\n", all - shown);
        if (suite->test_count > all)
                buffer_add_format(out, "  %u tests are hidden\n", suite->test_count - all);
}

static void add_lines(struct buffer *out, const unsigned char *at, size_t len)
{
        const unsigned char *end = at + len;
        char line[1024];

        while (at < end) {
                const unsigned char *newline = memchr(at, '\n', (size_t)(end - at));
                size_t n = (size_t)((newline ? newline : end) - at);

                text_escape(line, sizeof line, at, n);
                buffer_add_format(out, "    | %s\n", line);
                at += n + 1;
        }
}

/* Where the last SHOWN_LINES lines begin. */
static size_t last_lines(const unsigned char *bytes, size_t len)
{
        unsigned lines = 0;
        size_t at = len;

        while (at > 0 && len - at < SHOWN_LOG) {
                if (bytes[at - 1] == '\n' && at < len && ++lines == SHOWN_LINES)
                        break;
                at--;
        }
        return at;
}

/* When something went wrong the last lines of the log are what people ask for first. */
static void add_log_tail(
        struct buffer *out, const char *name, const struct log *l, const struct style *s)
{
        bool whole = log_dropped(l) == 0;
        unsigned char *bytes = malloc(l->head_len + l->tail_size + 1);
        size_t len = 0, from;

        if (!bytes || l->total == 0) {
                free(bytes);
                return;
        }
        /* Head and tail are one text only when nothing is missing between them. */
        if (whole) {
                memcpy(bytes, l->head, l->head_len);
                len = l->head_len;
        }
        len += log_tail(l, bytes + len);
        from = last_lines(bytes, len);
        buffer_add_format(out, "  %s%s, its end", s->dim, name);
        if (l->total > len - from)
                buffer_add_format(out, " (%llu bytes before it are not shown)",
                        (unsigned long long)(l->total - (len - from)));
        buffer_add_format(out, ":%s\n", s->off);
        add_lines(out, bytes + from, len - from);
        free(bytes);
}

struct warning_style {
        struct buffer *out;
        const struct style *style;
};

static void add_warning(void *to, const char *field, const char *message)
{
        const struct warning_style *w = to;

        buffer_add_format(w->out, "  %swarning:%s ", w->style->dim, w->style->off);
        add_escaped(w->out, field);
        buffer_add_text(w->out, ": ");
        add_escaped(w->out, message);
        buffer_add_char(w->out, '\n');
}

static void add_text(struct buffer *out, const char *name, const char *text, const struct style *s)
{
        if (!text || !*text)
                return;
        buffer_add_format(out, "  %s%s:%s ", s->dim, name, s->off);
        add_escaped(out, text);
        buffer_add_char(out, '\n');
}

static void add_footer(struct buffer *out, const struct evaluation *e, const struct style *s)
{
        if (!e->suite_ran || e->outcome.end == CELL_EXEC_FAILED)
                return;
        buffer_add_format(out, "  %sintegrity %s, suite %llu ms, cell made in %llu.%llu ms", s->dim,
                integrity_name(e->integrity), (unsigned long long)(e->outcome.wall_us / 1000),
                (unsigned long long)(e->outcome.setup_us[SETUP_EXEC] / 1000),
                (unsigned long long)(e->outcome.setup_us[SETUP_EXEC] / 100 % 10));
        if (e->channel.facts.weak)
                buffer_add_text(out, ", weak limits");
        buffer_add_format(out, "%s\n", s->off);
}

static const struct style *find_style(bool colour)
{
        static const struct style plain = {"", "", "", "", ""};
        static const struct style coloured = {
                "\033[32m", "\033[31m", "\033[2m", "\033[1m", "\033[0m"};

        return colour ? &coloured : &plain;
}

bool report_wants_colour(void)
{
        const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

        return isatty(STDOUT_FILENO) && (!no_colour || !*no_colour) && terminal &&
               strcmp(terminal, "dumb") != 0;
}

/* Warnings first: they are what an author can still mend. */
int report_intake_text(const struct evaluation *e, bool colour, struct buffer *out)
{
        const struct submission *sub = &e->submission;
        const struct style *s = find_style(colour);
        struct warning_style warnings = {out, s};
        char size[32];

        report_submission_warnings(e, add_warning, &warnings);
        if (e->error.code != CODE_NONE) {
                const struct code_info *code = code_info(e->error.code);

                buffer_add_format(out, "%s%s%s (%s)\n  why: %s\n  what to do: %s\n", s->bad,
                        status_name(evaluation_status(e)), s->off, code->name, e->error.text,
                        code->remedy);
                return buffer_ok(out) ? 0 : -1;
        }
        quantity_format_bytes(size, sizeof size, sub->unpacked_bytes);
        buffer_add_format(out, "%saccepted%s: %llu files and folders, %s\n  sha256: %s\n", s->good,
                s->off, (unsigned long long)sub->entries, size, sub->sha256);
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                buffer_add_format(out, "  %s: %s\n", submission_section(i),
                        sub->section_texts[i]     ? "there"
                        : sub->sections & 1U << i ? "empty"
                                                  : "missing");
        return buffer_ok(out) ? 0 : -1;
}

int report_text(const struct evaluation *e, bool colour, struct buffer *out)
{
        const struct style *s = find_style(colour);
        struct warning_style warnings = {out, s};

        add_headline(out, e, s);
        add_parts(out, e);
        add_steps(out, e, s);
        add_criteria(out, e, s);
        add_tests(out, e, s);
        if (e->build.ran && !e->build.good) {
                add_log_tail(out, "standard output of the build", &e->build.output[0], s);
                add_log_tail(out, "standard error of the build", &e->build.output[1], s);
        }
        if (e->suite_ran && e->error.code != CODE_NONE && visible_output(e)) {
                add_log_tail(out, "standard output of the suite", &e->output[0], s);
                add_log_tail(out, "standard error of the suite", &e->output[1], s);
        }
        add_text(out, "notes of the suite", e->suite.notes, s);
        add_text(out, "summary of the judge", e->verdict.summary, s);
        report_submission_warnings(e, add_warning, &warnings);
        report_suite_warnings(e, add_warning, &warnings);
        add_footer(out, e, s);
        return buffer_ok(out) ? 0 : -1;
}
