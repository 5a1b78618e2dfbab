/* Batches as their users see them; see summary.h. */
#include "batch/summary.h"

#include "report/csv.h"
#include "report/json.h"
#include "text.h"

void batch_count(const struct batch_rows *b, struct batch_counts *ret)
{
        unsigned *const by_status[] = {
                [STATUS_GRADED] = &ret->graded,
                [STATUS_PENDING] = &ret->pending,
                [STATUS_REJECTED] = &ret->rejected,
                [STATUS_UNGRADABLE] = &ret->ungradable,
                [STATUS_ERROR] = &ret->errors,
        };

        *ret = (struct batch_counts){.all = b->count};
        for (unsigned i = 0; i < b->count; i++) {
                const struct batch_row *row = &b->all[i];

                if (!row->done)
                        continue;
                ret->done++;
                ret->kept += row->kept;
                ++*by_status[row->record.status];
                if (row->record.status == STATUS_GRADED)
                        ++*(row->record.exit == END_PASSED ? &ret->passed : &ret->not_passed);
        }
}

int batch_exit(const struct batch_counts *c)
{
        if (c->errors > 0 || c->done < c->all)
                return END_ERROR;
        if (c->pending > 0)
                return END_PENDING;
        return c->rejected + c->ungradable > 0 ? END_NOT_PASSED : END_PASSED;
}

/* --- for people ----------------------------------------------------------------------------- */

static void add_escaped(struct buffer *out, const char *text)
{
        char safe[1024];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_text(out, safe);
}

void batch_add_line(struct buffer *out, const struct batch_row *row)
{
        const struct batch_record *r = &row->record;

        add_escaped(out, row->name);
        if (r->status == STATUS_GRADED)
                buffer_add_format(out, ": %s %s", r->outcome, r->score);
        else
                buffer_add_format(out, ": %s", status_name(r->status));
        if (r->code != CODE_NONE) {
                buffer_add_format(out, " %s: ", code_info(r->code)->name);
                add_escaped(out, r->reason);
        }
        buffer_add_text(out, row->kept ? " (from before)\n" : "\n");
}

void batch_add_summary(struct buffer *out, const struct batch_counts *c)
{
        const struct {
                unsigned count;
                const char *what;
        } rest[] = {
                {c->rejected, "rejected"},
                {c->ungradable, "ungradable"},
                {c->pending, "waiting for a judge's score"},
                {c->errors, "without a score for other reasons"},
                {c->kept, "graded before"},
        };

        buffer_add_format(out, "%u of %u graded: %u passed, %u not passed", c->graded, c->all,
                c->passed, c->not_passed);
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
                if (rest[i].count > 0)
                        buffer_add_format(out, "; %u %s", rest[i].count, rest[i].what);
        buffer_add_char(out, '\n');
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void add_text(struct json_writer *w, const char *key, const char *text)
{
        if (text && *text)
                json_text(w, key, text);
        else
                json_add_null(w, key);
}

static void add_row(struct json_writer *w, const struct batch_row *row)
{
        const struct batch_record *r = &row->record;
        char file[512];

        json_open_object(w, NULL);
        json_text(w, "name", row->name);
        json_text(w, "status", status_name(r->status));
        add_text(w, "outcome", r->outcome);
        json_decimal(w, "score", r->score);
        json_decimal(w, "test_score", r->test_score);
        json_decimal(w, "llm_score", r->llm_score);
        add_text(w, "code", code_info(r->code)->name);
        add_text(w, "reason", r->reason);
        add_text(w, "sha256", r->sha256);
        json_number(w, "ms", r->ms);
        json_bool(w, "kept", row->kept);
        snprintf(file, sizeof file, "%s.json", row->name);
        add_text(w, "result", row->evaluated ? file : "");
        json_close(w);
}

void batch_add_json(struct buffer *out, const struct batch_rows *b, const char *task)
{
        struct json_writer w = {.out = out};
        struct batch_counts c;

        batch_count(b, &c);
        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.batch/1");
        json_text(&w, "task", task);
        json_open_object(&w, "summary");
        json_number(&w, "submissions", c.all);
        json_number(&w, "graded", c.graded);
        json_number(&w, "passed", c.passed);
        json_number(&w, "not_passed", c.not_passed);
        json_number(&w, "pending", c.pending);
        json_number(&w, "rejected", c.rejected);
        json_number(&w, "ungradable", c.ungradable);
        json_number(&w, "errors", c.errors);
        json_number(&w, "kept", c.kept);
        json_close(&w);
        json_open_array(&w, "submissions");
        for (unsigned i = 0; i < b->count; i++)
                if (b->all[i].done)
                        add_row(&w, &b->all[i]);
        json_close(&w);
        json_close(&w);
        buffer_add_char(out, '\n');
}

/* --- CSV ------------------------------------------------------------------------------------ */

void batch_add_csv(struct buffer *out, const struct batch_rows *b)
{
        buffer_add_text(
                out, "name,status,outcome,score,test_score,llm_score,code,reason,sha256,ms\r\n");
        for (unsigned i = 0; i < b->count; i++) {
                const struct batch_record *r = &b->all[i].record;
                char ms[32];

                if (!b->all[i].done)
                        continue;
                snprintf(ms, sizeof ms, "%llu", (unsigned long long)r->ms);
                csv_cell(out, b->all[i].name, ",");
                csv_cell(out, status_name(r->status), ",");
                csv_cell(out, r->outcome, ",");
                csv_cell(out, r->score, ",");
                csv_cell(out, r->test_score, ",");
                csv_cell(out, r->llm_score, ",");
                csv_cell(out, code_info(r->code)->name, ",");
                csv_cell(out, r->reason, ",");
                csv_cell(out, r->sha256, ",");
                csv_cell(out, ms, "\r\n");
        }
}
