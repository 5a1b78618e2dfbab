/* From an evaluation to the columns of a store; see storing.h. */
#include "storing.h"

#include "matching.h"
#include "report/report.h"

#include <fcntl.h>

int storing_check(const struct evaluation_options *o, struct error *err)
{
        if (o->agent && !o->store)
                return error_set(err, CODE_USAGE, "--agent: only with --store");
        if (o->store && o->replay)
                return error_set(err, CODE_USAGE, "--store: a replay is not stored");
        return o->agent ? store_check_agent(o->agent, err) : 0;
}

static int open_for(struct store_channel *c, const struct evaluation_options *o,
        const char *result_id, struct error *err)
{
        const struct store_order order = {.url = o->store,
                .agent = o->agent,
                .result_id = result_id,
                .match = o->match ? o->match->id : NULL,
                .harness = o->match ? o->match->harness : NULL};

        if (!order.url)
                return 0;
        return store_channel_open(c, &order, err) < 0 ? error_add(err, "--store") : 0;
}

int storing_try(const struct evaluation_options *o, struct error *err)
{
        struct store_channel c = STORE_CHANNEL_INIT;
        int r = open_for(&c, o, "", err);

        store_channel_close(&c);
        return r;
}

int storing_open(struct evaluation *e, struct error *err)
{
        const struct evaluation_stored *s = &e->options->stored;

        if (s->result_id && s->socket >= 0) {
                e->store.socket = fcntl(s->socket, F_DUPFD_CLOEXEC, 3);
                return e->store.socket >= 0
                               ? 0
                               : error_errno(err, CODE_INFRA_STORE, errno, "the store");
        }
        return open_for(&e->store, e->options, e->workspace.id, err);
}

/* --- the result ----------------------------------------------------------------------------- */

/* Both documents are complete, whoever reads the report. */
static int write_documents(
        struct evaluation *e, struct buffer *result, struct buffer *pass_data, struct error *err)
{
        const struct evaluation_options *given = e->options;
        struct evaluation_options complete = *given;
        int r;

        complete.for_submitter = false;
        e->options = &complete;
        r = report_json(e, result) < 0 || report_pass_data(e, pass_data) < 0 ? -1 : 0;
        e->options = given;
        return r < 0 ? error_set(err, CODE_INFRA_MEMORY, "out of memory for the report") : 0;
}

static int put_result(struct evaluation *e, struct error *err)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        const struct code_info *code = code_info(why->code);
        const bool said = why->code != CODE_NONE;
        const bool graded = evaluation_status(e) == STATUS_GRADED;
        _cleanup_buffer_ struct buffer result = BUFFER_INIT, pass_data = BUFFER_INIT;
        struct report_scores scores;

        if (write_documents(e, &result, &pass_data, err) < 0)
                return -1;
        report_scores(e, &scores);
        const struct store_text texts[] = {
                {STORED_TASK_SHA256, e->watched.sha256},
                {STORED_STATUS, status_name(evaluation_status(e))},
                {STORED_CLASS, said ? error_class_name(code->class) : NULL},
                {STORED_CODE, said ? code->name : NULL},
                {STORED_REASON, said ? why->text : NULL},
                {STORED_OUTCOME, report_outcome(e)},
                {STORED_EVAL_MODE, report_mode(&e->task)},
                {STORED_FINAL, graded ? scores.score : NULL},
                {STORED_FINAL_EXACT, graded ? scores.exact : NULL},
                {STORED_TEST, scores.test_score},
                {STORED_LLM, scores.llm_score},
                {STORED_LLM_REASONING, e->verdict.summary},
                {STORED_PASS_DATA, buffer_text(&pass_data)},
                {STORED_JSON, buffer_text(&result)},
        };

        return store_channel_texts(
                       &e->store, TABLE_RESULTS, texts, sizeof texts / sizeof *texts, err) < 0 ||
                               store_channel_number(&e->store, TABLE_RESULTS, STORED_SCALE,
                                       report_scale(&e->task), err) < 0 ||
                               store_channel_row(&e->store, TABLE_RESULTS, err) < 0
                       ? -1
                       : 0;
}

/* --- its parts ------------------------------------------------------------------------------ */

static const char *source_name(const struct criterion *c)
{
        return c->source == SOURCE_LLM ? "llm" : "test";
}

static int put_rubric(struct evaluation *e, struct error *err)
{
        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];
                const struct store_text texts[] = {
                        {CRITERION_NAME, c->name},
                        {CRITERION_DESCRIPTION, c->description},
                        {CRITERION_SOURCE, source_name(c)},
                };

                if (store_channel_texts(&e->store, TABLE_CRITERIA, texts,
                            sizeof texts / sizeof *texts, err) < 0 ||
                        store_channel_number(
                                &e->store, TABLE_CRITERIA, CRITERION_WEIGHT, c->weight, err) < 0 ||
                        store_channel_row(&e->store, TABLE_CRITERIA, err) < 0)
                        return -1;
        }
        return 0;
}

static int put_part(struct evaluation *e, const char *name, const char *source, const char *weight,
        const char *score, const char *reasoning, struct error *err)
{
        const struct store_text texts[] = {
                {DIMENSION_NAME, name},
                {DIMENSION_SOURCE, source},
                {DIMENSION_WEIGHT, weight},
                {DIMENSION_SCORE, score},
                {DIMENSION_REASONING, reasoning},
        };

        return store_channel_texts(
                       &e->store, TABLE_DIMENSIONS, texts, sizeof texts / sizeof *texts, err) < 0 ||
                               store_channel_row(&e->store, TABLE_DIMENSIONS, err) < 0
                       ? -1
                       : 0;
}

/* Of the scheme dimensions, those; else a row for each criterion, also where it has no score. */
static int put_parts(struct evaluation *e, struct error *err)
{
        const struct dimensions *d = &e->dimensions;

        for (unsigned i = 0; i < d->row_count; i++)
                if (put_part(e, d->rows[i].name, NULL, d->rows[i].weight, d->rows[i].score, NULL,
                            err) < 0)
                        return -1;
        for (unsigned i = 0; e->task.scheme != SCHEME_DIMENSIONS && i < e->task.criterion_count;
                i++) {
                const struct criterion *c = &e->task.criteria[i];
                const struct score_row *row = grade_row(e, c);
                char weight[16];

                snprintf(weight, sizeof weight, "%u", c->weight);
                if (put_part(e, c->name, source_name(c), weight, row ? row->score : NULL,
                            row ? row->reasoning : NULL, err) < 0)
                        return -1;
        }
        return 0;
}

int storing_append(struct evaluation *e, struct error *err)
{
        int r;

        if (e->store.socket < 0 || e->error.code == CODE_INTERRUPTED)
                return 0;
        r = store_channel_begin(&e->store, e->task.name, e->submission.sha256, &e->attempt, err);
        if (r == 0)
                r = put_rubric(e, err) < 0 || put_parts(e, err) < 0 || put_result(e, err) < 0 ||
                                    matching_say_valid(e, err) < 0 ||
                                    store_channel_commit(&e->store, err) < 0
                            ? -1
                            : 0;
        return r < 0 ? error_add(err, "the result was not stored") : 0;
}
