/* The result JSON of an evaluation: assay.result/1. What this version does not know is left out. */
#include "report/report.h"

#include "report/json.h"
#include "report/visible.h"

static void add_submission(struct json_writer *w, const struct submission *s)
{
        json_open_object(w, "submission");
        if (*s->sha256)
                json_text(w, "sha256", s->sha256);
        json_number(w, "bytes", s->bytes);
        if (s->root >= 0) {
                json_number(w, "entries", s->entries);
                json_number(w, "unpacked_bytes", s->unpacked_bytes);
                json_open_array(w, "sections");
                for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                        if (s->sections & 1U << i)
                                json_text(w, NULL, submission_section(i));
                json_close(w);
        }
        json_close(w);
}

static void add_reason(struct json_writer *w, const struct error *why)
{
        const struct code_info *code = code_info(why->code);

        if (why->code == CODE_NONE)
                return;
        json_text(w, "class", error_class_name(code->class));
        json_text(w, "code", code->name);
        json_text(w, "reason", why->text);
        json_text(w, "remedy", code->remedy);
}

static void add_end(struct json_writer *w, const struct evaluation *e)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        const struct code_info *code = code_info(why->code);
        bool ours = code->class == CLASS_INFRA || code->class == CLASS_JUDGE ||
                    code->class == CLASS_INTERNAL || why->code == CODE_SUITE_UNGRADABLE;

        json_text(w, "status", status_name(evaluation_status(e)));
        add_reason(w, why);
        json_bool(w, "attempt_used", !ours);
}

static void add_exact(struct json_writer *w, const struct blend *b, const struct suite_result *s)
{
        json_open_object(w, "exact");
        if (*b->exact)
                json_text(w, "score", b->exact);
        if (*b->exact_test)
                json_text(w, "test_score", b->exact_test);
        if (s->raw && *s->raw)
                json_text(w, "raw_test_score", s->raw); /* before it was clamped */
        if (*b->exact_llm)
                json_text(w, "llm_score", b->exact_llm);
        json_close(w);
}

const char *report_outcome(const struct evaluation *e)
{
        if (e->dimensions.present)
                return dimensions_outcome(&e->dimensions);
        if (e->composite.present)
                return composite_outcome(&e->composite);
        if (!e->blend.present)
                return "";
        return e->blend.passed ? "pass" : "fail";
}

void report_scores(const struct evaluation *e, struct report_scores *ret)
{
        const struct blend *b = &e->blend;

        *ret = (struct report_scores){"", "", "", "", ""};
        if (e->dimensions.present) {
                snprintf(ret->total, sizeof ret->total, "%u", e->dimensions.total);
                ret->score = ret->total;
                ret->exact = e->dimensions.sum;
        } else if (e->composite.present) {
                ret->score = e->composite.shown[0];
                ret->exact = e->composite.exact[0];
        } else if (b->parts) {
                ret->score = b->score;
                ret->exact = b->exact;
                ret->test_score = b->test_score;
                ret->llm_score = b->llm_score;
        }
}

const char *report_mode(const struct task *t)
{
        static const char *const modes[MODE_COUNT] = {
                "llm", "container", "hybrid", "answer", "workflow"};

        return modes[t->mode];
}

unsigned report_scale(const struct task *t)
{
        static const unsigned scales[SCHEME_COUNT] = {
                [SCHEME_BLEND] = 100, [SCHEME_DIMENSIONS] = 1000, [SCHEME_COMPOSITE] = 1};

        return scales[t->scheme];
}

/* How what was found becomes a score: with the parts of it, all that `assay finalize` needs. */
static void add_rules(struct json_writer *w, const struct task *t)
{
        static const char *const schemes[SCHEME_COUNT] = {"blend", "dimensions", "composite"};

        json_text(w, "scheme", schemes[t->scheme]);
        json_text(w, "mode", report_mode(t));
        if (t->scheme == SCHEME_DIMENSIONS)
                return;
        if (t->pass_from_suite)
                json_text(w, "pass", "suite");
        else
                json_decimal(w, "pass", t->pass);
        if (t->mode != MODE_HYBRID)
                return;
        json_open_object(w, "weights");
        json_number(w, "test", t->test_weight);
        json_number(w, "llm", t->llm_weight);
        json_close(w);
}

static void add_scores(struct json_writer *w, const struct evaluation *e)
{
        if (e->composite.present) {
                composite_json(&e->composite, w);
                return;
        }
        if (e->dimensions.row_count > 0) {
                dimensions_json_scores(&e->dimensions, w);
                return;
        }
        json_number(w, "scale", report_scale(&e->task));
        if (e->blend.present)
                json_text(w, "outcome", report_outcome(e));
        else
                json_add_null(w, "outcome");
        json_decimal(w, "score", e->blend.present ? e->blend.score : "");
        if (e->blend.parts) {
                json_decimal(w, "test_score", e->blend.test_score);
                json_decimal(w, "llm_score", e->blend.llm_score);
                add_exact(w, &e->blend, &e->suite);
        }
        if (e->suite.present && e->suite.pass < 2)
                json_bool(w, "suite_pass", e->suite.pass == 1);
}

static void add_criteria(struct json_writer *w, const struct evaluation *e)
{
        json_open_array(w, "criteria");
        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];
                const struct score_row *row = grade_row(e, c);

                json_open_object(w, NULL);
                json_text(w, "name", c->name);
                json_number(w, "weight", c->weight);
                json_text(w, "source", c->source == SOURCE_LLM ? "llm" : "test");
                json_decimal(w, "score", row ? row->score : "");
                if (row && row->reasoning && *row->reasoning)
                        json_text(w, "reasoning", row->reasoning);
                json_close(w);
        }
        json_close(w);
}

static void add_test(struct json_writer *w, const struct test_result *t)
{
        json_open_object(w, NULL);
        json_text(w, "name", t->name);
        json_bool(w, "passed", t->passed);
        if (*t->duration_ms)
                json_decimal(w, "duration_ms", t->duration_ms);
        if (*t->error)
                json_text(w, "error", t->error);
        json_close(w);
}

void report_tests(struct json_writer *w, const struct evaluation *e)
{
        unsigned hidden = 0;

        json_open_array(w, "tests");
        for (unsigned i = 0; i < e->suite.test_count; i++)
                if (visible_test(e, &e->suite.tests[i]))
                        add_test(w, &e->suite.tests[i]);
                else
                        hidden++;
        json_close(w);
        if (hidden > 0)
                json_number(w, "hidden_tests", hidden);
}

static void add_phases(struct json_writer *w, const struct evaluation *e)
{
        json_open_array(w, "phases");
        for (unsigned i = 0; i < PHASE_COUNT; i++) {
                if (!e->phases[i].ran)
                        continue;
                json_open_object(w, NULL);
                json_text(w, "name", phase_name((enum phase)i));
                json_number(w, "start_us", e->phases[i].start_us);
                json_number(w, "us", e->phases[i].us);
                json_close(w);
        }
        json_close(w);
}

static void add_known(struct json_writer *w, const char *key, uint64_t value)
{
        if (value > 0)
                json_number(w, key, value);
        else
                json_add_null(w, key);
}

static void add_used(struct json_writer *w, const char *key, const struct cell_outcome *o,
        const struct log *output)
{
        json_open_object(w, key);
        json_number(w, "cpu_ms", o->cpu_us / 1000);
        json_number(w, "wall_ms", o->wall_us / 1000);
        add_known(w, "memory_peak", o->memory_peak);
        add_known(w, "pids_peak", o->pids_peak);
        json_number(w, "output_bytes", output[0].total + output[1].total);
        json_close(w);
}

static void add_usage(struct json_writer *w, const struct evaluation *e)
{
        const struct cell_usage *u = e->cases.count > 0 ? &e->cases.usage
                                     : e->workflow.ran  ? &e->workflow.usage
                                                        : &e->broker.usage;

        json_open_object(w, "usage");
        if (e->suite_ran)
                add_used(w, "suite", &e->outcome, e->output);
        if (e->build.ran)
                add_used(w, "build", &e->build.outcome, e->build.output);
        if (u->cells > 0) {
                json_open_object(w, "submission");
                json_number(w, "cells", u->cells);
                json_number(w, "cpu_ms", u->cpu_us / 1000);
                json_number(w, "wall_ms", u->wall_us / 1000);
                add_known(w, "memory_peak", u->memory_peak);
                add_known(w, "pids_peak", u->pids_peak);
                json_number(w, "output_bytes", u->output_bytes);
                json_close(w);
        }
        json_close(w);
}

static void add_cell(struct json_writer *w, const struct evaluation *e)
{
        const struct machine_facts *m = &e->channel.facts;

        add_usage(w, e);

        json_open_object(w, "limits");
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                char text[32];

                limit_format((enum limit)i, e->task.limits[CELL_SUITE].value[i], text, sizeof text);
                json_open_object(w, limit_info((enum limit)i)->name);
                json_text(w, "value", text);
                json_text(w, "enforced_by", enforcer_name(m->enforcers[i]));
                json_close(w);
        }
        json_open_object(w, "network");
        json_text(w, "value", e->task.network ? "outbound" : "none");
        json_text(w, "enforced_by", e->task.network ? "pasta" : "namespace");
        json_close(w);
        json_close(w);

        json_open_object(w, "isolation");
        /* Every cell has these two, or was not made. */
        json_text(w, "namespaces", "user mount pid net ipc uts cgroup");
        json_bool(w, "seccomp", true);
        json_bool(w, "landlock", m->landlock > 0);
        json_text(w, "ids", m->ids == IDS_BLOCK ? "block" : "single");
        json_text(w, "cgroup",
                m->cgroup_version == 2   ? "v2"
                : m->cgroup_version == 1 ? "v1"
                                         : "none");
        json_text(w, "integrity", integrity_name(e->integrity));
        json_close(w);
}

static int add_log(struct json_writer *w, const char *key, const struct log *l)
{
        unsigned char *tail = malloc(l->tail_size + 1);

        if (!tail)
                return -1;
        json_open_object(w, key);
        json_bytes(w, "head", l->head, l->head_len);
        json_bytes(w, "tail", tail, log_tail(l, tail));
        json_number(w, "dropped_bytes", log_dropped(l));
        json_close(w);
        free(tail);
        return 0;
}

static int add_logs(struct json_writer *w, const struct evaluation *e)
{
        int r = 0;

        json_open_object(w, "logs");
        if (e->suite_ran && visible_output(e))
                r = add_log(w, "stdout", &e->output[0]) < 0 ||
                                    add_log(w, "stderr", &e->output[1]) < 0
                            ? -1
                            : 0;
        if (r == 0 && e->build.ran) {
                json_open_object(w, "build");
                r = add_log(w, "stdout", &e->build.output[0]) < 0 ||
                                    add_log(w, "stderr", &e->build.output[1]) < 0
                            ? -1
                            : 0;
                json_close(w);
        }
        json_close(w);
        return r;
}

void report_submission_warnings(const struct evaluation *e, report_show show, void *to)
{
        for (unsigned i = 0; i < e->submission.warning_count; i++)
                show(to, e->submission.warnings[i].field, e->submission.warnings[i].message);
}

void report_suite_warnings(const struct evaluation *e, report_show show, void *to)
{
        for (unsigned i = 0; i < e->task.warning_count; i++)
                show(to, e->task.warnings[i].key, e->task.warnings[i].message);
        for (unsigned i = 0; i < e->suite.warning_count; i++)
                show(to, e->suite.warnings[i].field, e->suite.warnings[i].message);
        for (unsigned i = 0; i < e->note_count; i++)
                show(to, e->notes[i].field, e->notes[i].message);
        for (unsigned i = 0; e->suite.present && i < e->task.criterion_count; i++)
                if (e->task.criteria[i].source == SOURCE_TEST &&
                        !grade_row(e, &e->task.criteria[i]))
                        show(to, e->task.criteria[i].name,
                                "the suite's breakdown leaves this criterion out");
}

static void add_warning(void *to, const char *field, const char *message)
{
        struct json_writer *w = to;

        json_open_object(w, NULL);
        json_text(w, "severity", "warning");
        json_text(w, "field", field);
        json_text(w, "message", message);
        json_close(w);
}

void report_submission_json(struct json_writer *w, const struct evaluation *e)
{
        json_open_array(w, "submission_warnings");
        report_submission_warnings(e, add_warning, w);
        dimensions_json_warnings(&e->dimensions, w);
        json_close(w);
}

static void add_warnings(struct json_writer *w, const struct evaluation *e)
{
        report_submission_json(w, e);
        if (e->dimensions.row_count > 0)
                dimensions_json_violations(&e->dimensions, w);
        dimensions_json_trajectory(&e->dimensions, w);
        json_open_array(w, "suite_warnings");
        report_suite_warnings(e, add_warning, w);
        json_close(w);
}

static void add_digest(struct json_writer *w, const char *key, const char *digest)
{
        if (*digest)
                json_text(w, key, digest);
        else
                json_add_null(w, key);
}

static void add_image(struct json_writer *w, const char *key, const char *reference,
        const struct image_cell *image)
{
        json_open_object(w, key);
        json_text(w, "ref", reference);
        add_digest(w, "ref_digest", image->image.ref_digest);
        add_digest(w, "id", image->image.id);
        json_close(w);
}

/* What went in beside the task, the submission and the images. */
static void add_inputs(struct json_writer *w, const struct evaluation *e)
{
        const struct evaluation_options *o = e->options;

        json_open_object(w, "inputs");
        json_text(w, "seed", o->seed ? o->seed : "0");
        json_decimal(w, "time_used", evaluation_time_used(e));
        json_decimal(w, "llm_score", e->verdict.number ? e->verdict.number : "");
        add_digest(w, "trajectory_sha256", e->trajectory_sha256);
        add_digest(w, "policy_sha256", e->policy.sha256);
        json_close(w);
}

static void add_known_decimal(struct json_writer *w, const char *key, const char *digits)
{
        if (digits && *digits)
                json_decimal(w, key, digits);
}

static void add_judge(struct json_writer *w, const struct evaluation *e)
{
        const struct verdict *v = &e->verdict;

        if (e->judge_tries == 0 || e->options->for_submitter)
                return;
        json_open_object(w, "judge");
        if (v->model && *v->model)
                json_text(w, "model", v->model);
        if (v->record.prompt_sha256 && *v->record.prompt_sha256)
                json_text(w, "prompt_sha256", v->record.prompt_sha256);
        add_known_decimal(w, "prompt_tokens", v->record.prompt_tokens);
        add_known_decimal(w, "completion_tokens", v->record.completion_tokens);
        add_known_decimal(w, "runs", v->record.runs);
        json_number(w, "tries", e->judge_tries);
        json_close(w);
}

int report_json(const struct evaluation *e, struct buffer *out)
{
        const char *own = e->task.submission_image.name; /* NULL: it says nothing of one */
        struct json_writer w = {.out = out};
        int r = 0;

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.result/1");
        json_text(&w, "id", e->workspace.id);
        json_number(&w, "attempt", e->attempt);
        json_number(&w, "revision", 1);
        json_add_null(&w, "supersedes");
        json_open_object(&w, "task");
        json_text(&w, "name", e->task.name);
        add_digest(&w, "sha256", e->watched.sha256);
        json_close(&w);
        add_submission(&w, &e->submission);
        add_image(&w, "image", e->task.image, &e->image);
        if (*e->cell.image.image.id)
                add_image(
                        &w, "submission_image", own && *own ? own : e->task.image, &e->cell.image);
        add_inputs(&w, e);
        json_open_object(&w, "runner");
        json_text(&w, "version", ASSAY_VERSION);
        json_text(&w, "scoring_version", "1");
        json_close(&w);
        add_end(&w, e);
        add_rules(&w, &e->task);
        add_scores(&w, e);
        add_criteria(&w, e);
        report_tests(&w, e);
        if (e->suite.notes)
                json_text(&w, "notes", e->suite.notes);
        if (e->verdict.summary)
                json_text(&w, "summary", e->verdict.summary);
        add_judge(&w, e);
        if (e->workflow.ran)
                workflow_record(&e->workflow, &e->task, &w, "execution");
        report_build_check(&w, e);
        add_phases(&w, e);
        if (e->suite_ran || e->build.ran || e->cases.count > 0 || e->workflow.ran) {
                add_cell(&w, e);
                r = add_logs(&w, e);
        }
        add_warnings(&w, e);
        json_close(&w);
        buffer_add_char(out, '\n');
        return r < 0 || !buffer_ok(out) ? -1 : 0;
}

int report_intake_json(const struct evaluation *e, struct buffer *out)
{
        struct json_writer w = {.out = out};
        struct buffer text = BUFFER_INIT;
        bool good;

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.intake/1");
        json_bool(&w, "accepted", e->error.code == CODE_NONE);
        add_reason(&w, &e->error);
        json_open_array(&w, "submission_warnings");
        report_submission_warnings(e, add_warning, &w);
        json_close(&w);
        add_submission(&w, &e->submission);
        if (e->submission.root >= 0) {
                submission_describe(&e->submission, &e->task, &text);
                json_bytes(&w, "submission_md", text.data, text.len);
        }
        json_close(&w);
        buffer_add_char(out, '\n');
        good = buffer_ok(out) && buffer_ok(&text);
        buffer_free(&text);
        return good ? 0 : -1;
}
