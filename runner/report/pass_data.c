/* What the parts of an evaluation said, as a store keeps it beside the result: eval_pass_data. */
#include "report/report.h"

static void add_scores(struct json_writer *w, const char *key, const struct score_row *rows,
        unsigned count, bool with_reasoning)
{
        json_open_array(w, key);
        for (unsigned i = 0; i < count; i++) {
                json_open_object(w, NULL);
                json_text(w, "name", rows[i].name);
                json_decimal(w, "score", rows[i].score);
                if (with_reasoning)
                        json_text(w, "reasoning", rows[i].reasoning ? rows[i].reasoning : "");
                json_close(w);
        }
        json_close(w);
}

static void add_breakdown(struct json_writer *w, const struct suite_result *s)
{
        json_open_object(w, "breakdown");
        for (unsigned i = 0; i < s->breakdown_count; i++)
                json_decimal(w, s->breakdown[i].name, s->breakdown[i].score);
        json_close(w);
}

static void add_verdict(struct json_writer *w, const struct verdict *v)
{
        if (!v->present) {
                json_add_null(w, "verdict");
                return;
        }
        json_open_object(w, "verdict");
        if (v->number)
                json_decimal(w, "score", v->number);
        add_scores(w, "criteria", v->criteria, v->criterion_count, true);
        if (v->summary)
                json_text(w, "summary", v->summary);
        if (v->model && *v->model)
                json_text(w, "model", v->model);
        json_close(w);
}

int report_pass_data(const struct evaluation *e, struct buffer *out)
{
        struct json_writer w = {.out = out, .compact = true};

        json_open_object(&w, NULL);
        add_breakdown(&w, &e->suite);
        report_tests(&w, e);
        if (e->suite.notes)
                json_text(&w, "notes", e->suite.notes);
        if (e->suite.present && e->suite.pass < 2)
                json_bool(&w, "suite_pass", e->suite.pass == 1);
        else
                json_add_null(&w, "suite_pass");
        if (e->suite_ran && e->outcome.end == CELL_EXITED)
                json_number(&w, "exit", e->outcome.status);
        else
                json_add_null(&w, "exit");
        report_build_check(&w, e);
        add_verdict(&w, &e->verdict);
        json_close(&w);
        return buffer_ok(out) ? 0 : -1;
}
