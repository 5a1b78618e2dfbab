/* The documents of a result that waited; see finalize_document.h. What the evaluation found is
 * copied, byte for byte. */
#include "finalize_document.h"

#include "runner/report/json.h"

const struct opinion *final_opinion(const struct verdict *v, const char *name)
{
        const struct opinion *o = v->opinions.items;

        for (size_t i = 0; i < v->opinions.count; i++)
                if (strcmp(o[i].name, name) == 0)
                        return &o[i];
        return NULL;
}

static void copy(struct json_writer *w, const char *key, struct json_value value)
{
        size_t len;
        const char *raw = json_raw(value, &len);

        json_document(w, key, raw, len);
}

static void write_id(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        json_text(w, "id", f->id);
}

static void write_revision(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        json_number(w, "revision", f->old->revision + 1);
}

static void write_supersedes(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        json_text(w, "supersedes", f->old->id);
}

static void write_status(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)f;
        (void)old;
        json_text(w, "status", "graded");
}

static void write_used(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)f;
        (void)old;
        json_bool(w, "attempt_used", true);
}

static void write_outcome(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        json_text(w, "outcome", f->outcome);
}

static void write_score(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        if (final_is_dimensions(f))
                json_number(w, "score", f->total);
        else
                json_decimal(w, "score", f->score.decimal);
}

static void write_llm(const struct final *f, struct json_writer *w, struct json_value old)
{
        (void)old;
        json_decimal(w, "llm_score", f->llm.decimal);
}

static void write_inputs(const struct final *f, struct json_writer *w, struct json_value old)
{
        struct json_value child;

        json_open_object(w, "inputs");
        for (struct json_walk at = json_walk(old); json_next(&at, &child);)
                if (strcmp(at.key, "llm_score") == 0)
                        json_decimal(w, at.key, f->number);
                else
                        copy(w, at.key, child);
        json_close(w);
}

static void write_exact_rows(const struct final *f, struct json_writer *w)
{
        json_open_object(w, "score_breakdown");
        for (size_t i = 0; i < f->old->dimensions.count; i++) {
                json_open_object(w, f->old->dimensions.rows[i].name);
                json_text(w, "score", f->rows[i].exact);
                json_text(w, "weighted", f->weighted[i].exact);
                json_close(w);
        }
        json_close(w);
}

static void write_exact(const struct final *f, struct json_writer *w, struct json_value old)
{
        struct json_value child;

        json_open_object(w, "exact");
        json_text(w, final_is_dimensions(f) ? "sum" : "score", f->score.exact);
        if (final_is_dimensions(f)) {
                write_exact_rows(f, w);
        } else {
                for (struct json_walk at = json_walk(old); json_next(&at, &child);)
                        if (strcmp(at.key, "score") != 0 && strcmp(at.key, "llm_score") != 0)
                                copy(w, at.key, child);
                json_text(w, "llm_score", f->llm.exact);
        }
        json_close(w);
}

static void write_breakdown(const struct final *f, struct json_writer *w, struct json_value old)
{
        struct json_value row, child;

        json_open_object(w, "score_breakdown");
        for (struct json_walk at = json_walk(old); json_next(&at, &row);) {
                json_open_object(w, at.key);
                for (struct json_walk in = json_walk(row); json_next(&in, &child);)
                        if (strcmp(in.key, "score") == 0)
                                json_decimal(w, in.key, f->rows[at.index].decimal);
                        else if (strcmp(in.key, "weighted") == 0)
                                json_decimal(w, in.key, f->weighted[at.index].decimal);
                        else
                                copy(w, in.key, child);
                json_close(w);
        }
        json_close(w);
}

static void write_criterion(const struct final *f, struct json_writer *w, struct json_value old,
        const struct stored_criterion *c)
{
        const struct opinion *o =
                *f->number || c->source != SOURCE_LLM ? NULL : final_opinion(f->verdict, c->name);
        char plain[NUMBER_PLAIN_SIZE];
        struct json_value child;

        json_open_object(w, NULL);
        for (struct json_walk at = json_walk(old); json_next(&at, &child);)
                if (o && strcmp(at.key, "score") == 0) {
                        number_plain(o->score, plain, sizeof plain);
                        json_decimal(w, at.key, plain);
                } else if (strcmp(at.key, "reasoning") != 0 || !o)
                        copy(w, at.key, child);
        if (o && *o->reasoning)
                json_text(w, "reasoning", o->reasoning);
        json_close(w);
}

static void write_criteria(const struct final *f, struct json_writer *w, struct json_value old)
{
        const struct stored_criterion *c = f->old->criteria.items;
        struct json_value child;

        json_open_array(w, "criteria");
        for (struct json_walk at = json_walk(old); json_next(&at, &child);)
                write_criterion(f, w, child, &c[at.index]);
        json_close(w);
        if (!*f->number)
                json_text(w, "summary", f->verdict->summary);
}

/* The suite's own word is kept, and that it differs is said. */
static void write_warnings(const struct final *f, struct json_writer *w, struct json_value old)
{
        const bool said = f->old->suite_pass != SUITE_DID_NOT_SAY && !final_is_dimensions(f);
        struct json_value child;

        json_open_array(w, "suite_warnings");
        for (struct json_walk at = json_walk(old); json_next(&at, &child);)
                copy(w, NULL, child);
        if (said && (f->old->suite_pass == SUITE_PASSED) != f->passed) {
                json_open_object(w, NULL);
                json_text(w, "severity", "warning");
                json_text(w, "field", "suite_pass");
                json_text(w, "message", "the suite's own `pass` differs from the outcome");
                json_close(w);
        }
        json_close(w);
}

/* What becomes of a member; without a function it is left out. All others stay. */
static const struct {
        const char *key;
        void (*write)(const struct final *f, struct json_writer *w, struct json_value old);
} members[] = {
        {"id", write_id},
        {"revision", write_revision},
        {"supersedes", write_supersedes},
        {"inputs", write_inputs},
        {"status", write_status},
        {"class", NULL},
        {"code", NULL},
        {"reason", NULL},
        {"remedy", NULL},
        {"attempt_used", write_used},
        {"outcome", write_outcome},
        {"score", write_score},
        {"llm_score", write_llm},
        {"exact", write_exact},
        {"score_breakdown", write_breakdown},
        {"criteria", write_criteria},
        {"summary", NULL},
        {"suite_warnings", write_warnings},
};

static void write_member(
        const struct final *f, struct json_writer *w, const char *key, struct json_value old)
{
        for (size_t i = 0; i < COUNT(members); i++)
                if (strcmp(members[i].key, key) == 0) {
                        if (members[i].write)
                                members[i].write(f, w, old);
                        return;
                }
        copy(w, key, old);
}

void final_write(const struct final *f, struct buffer *text)
{
        struct json_writer w = {.out = text};
        struct json_value child;

        json_open_object(&w, NULL);
        for (struct json_walk at = json_walk(json_root(f->doc)); json_next(&at, &child);)
                write_member(f, &w, at.key, child);
        json_close(&w);
        buffer_add_char(text, '\n');
}

/* --- what a store keeps beside it ----------------------------------------------------------- */

static void write_opinion(struct json_writer *w, const struct opinion *o)
{
        char plain[NUMBER_PLAIN_SIZE];

        number_plain(o->score, plain, sizeof plain);
        json_open_object(w, NULL);
        json_text(w, "name", o->name);
        json_decimal(w, "score", plain);
        json_text(w, "reasoning", o->reasoning);
        json_close(w);
}

/* As report_pass_data() writes it in `assay run`. */
static void write_verdict(const struct final *f, struct json_writer *w)
{
        const struct opinion *o = f->verdict->opinions.items;

        json_open_object(w, "verdict");
        if (*f->number)
                json_decimal(w, "score", f->number);
        json_open_array(w, "criteria");
        for (size_t i = 0; !*f->number && i < f->verdict->opinions.count; i++)
                write_opinion(w, &o[i]);
        json_close(w);
        if (!*f->number)
                json_text(w, "summary", f->verdict->summary);
        if (!*f->number && f->verdict->model && *f->verdict->model)
                json_text(w, "model", f->verdict->model);
        json_close(w);
}

void final_write_data(const struct final *f, struct buffer *text)
{
        struct json_writer w = {.out = text, .compact = true};
        struct json_value child;

        json_open_object(&w, NULL);
        for (struct json_walk at = json_walk(json_root(f->data)); json_next(&at, &child);)
                if (strcmp(at.key, "verdict") != 0)
                        copy(&w, at.key, child);
        write_verdict(f, &w);
        json_close(&w);
}
