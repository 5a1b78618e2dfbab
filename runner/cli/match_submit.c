/* assay match submit ID ANSWER: the answer is handed in, graded, and the match ends. */
#include "match.h"

#include "matching.h"
#include "report/report.h"
#include "storing.h"

#include <limits.h>

/* --- what came of it ------------------------------------------------------------------------ */

static void add_json(const struct evaluation *e, const struct store_values *m, struct buffer *out)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        struct json_writer w = {.out = out};

        json_open_object(&w, NULL);
        match_json(m, &w);
        json_decimal(&w, "time_used", e->match.used);
        json_text(&w, "status", status_name(evaluation_status(e)));
        if (why->code != CODE_NONE) {
                json_text(&w, "code", code_info(why->code)->name);
                json_text(&w, "reason", why->text);
        }
        dimensions_json_breakdown(&e->dimensions, &w);
        report_submission_json(&w, e);
        dimensions_json_violations(&e->dimensions, &w);
        json_close(&w);
        buffer_add_char(out, '\n');
}

static int print(const struct match_options *o, const struct evaluation *e,
        const struct store_values *m, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (o->common.json) {
                add_json(e, m, &out);
        } else {
                match_line(m, &out);
                if (e->dimensions.present)
                        dimensions_text(&e->dimensions, &out);
        }
        return match_print(o, &out, err);
}

/* --- grading -------------------------------------------------------------------------------- */

/* What was not handed in leaves no trace; what was and could not be stored may be again. */
static int grade(const struct match_options *o, struct evaluation *e, const char *task,
        const char *answer, struct error *err)
{
        struct store_values m = {0};
        int r = evaluation_open(e, task, answer, &o->evaluation, err);

        if (r == 0)
                r = evaluation_run(e, err);
        if (r < 0)
                task_print_problems(&e->task, task, stderr);
        if (r == 0 && (!e->match.entered || e->error.code == CODE_INTERRUPTED)) {
                *err = e->error;
                r = -1;
        }
        if (r == 0)
                r = storing_append(e, err);
        if (r == 0)
                r = matching_ask(e, &m, err);
        if (r == 0)
                r = print(o, e, &m, err);
        store_values_free(&m);
        if (r == 0 && e->error.code != CODE_NONE)
                error_print(&e->error);
        return r == 0 ? evaluation_exit(e) : -1;
}

static int run(const struct match_options *o, const char *task, const char *answer,
        struct match_order *order, struct error *err)
{
        struct match_options own = *o;
        struct evaluation *e;
        int r;

        if (match_task_digest(task, order->task_sha256, err) < 0)
                return -1;
        own.evaluation.match = order;
        own.evaluation.store = o->store;
        own.evaluation.agent = o->agent;
        e = calloc(1, sizeof *e);
        if (!e)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = grade(&own, e, task, answer, err);
        evaluation_close(e);
        free(e);
        return r;
}

/* Nobody's code runs for what would be refused anyway; the store looks again. */
static int check(const struct match_options *o, const struct store_values *m, const char *id,
        struct error *err)
{
        const char *result = m->values[PLAYED_RESULT].text;

        if (strcmp(m->values[PLAYED_AGENT].text, o->agent) != 0)
                return error_set(
                        err, CODE_MATCH_OWNER, "the match %.64s was started by another agent", id);
        if (strcmp(result, "expired") == 0)
                return error_set(err, CODE_MATCH_EXPIRED, "the time of the match %.64s was over %s",
                        id, m->values[PLAYED_EXPIRES].text);
        if (*result)
                return error_set(
                        err, CODE_MATCH_ENDED, "the match %.64s has ended: %s", id, result);
        return 0;
}

int match_submit(const struct match_options *o, char **words, struct error *err)
{
        struct match_order order = {.id = words[0], .harness = o->harness};
        struct store_values m = {0};
        int r = 0;

        if (o->signature && !o->evaluation.trajectory)
                r = error_set(err, CODE_USAGE, "--trajectory-hmac: only with --trajectory");
        if (r == 0 && o->signature)
                r = matching_read_digits(
                        "--trajectory-hmac", o->signature, true, order.signature, err);
        if (r == 0)
                r = match_end_overdue(o->store, err);
        if (r == 0)
                r = match_find(o->store, words[0], &m, err);
        if (r == 0)
                r = check(o, &m, words[0], err);
        if (r == 0)
                r = run(o, o->task ? o->task : m.values[PLAYED_TASK_PATH].text, words[1], &order,
                        err);
        store_values_free(&m);
        return r;
}
