/* Scores of dimensions; see dimensions.h. Every number stays text, as assay-score wrote it. */
#include "dimensions.h"

#include "text.h"

#include <stdlib.h>

enum { OUTCOMES = 3, MOST_WARNINGS = 1000, MOST_STEPS = 1000, MOST_TOTAL = 1000 };

/* Of what waits for the judge they are empty. */
static char *take_number(
        struct reader *r, bool (*is_such)(const char *text), size_t most, bool waits)
{
        char *text = scorer_text(r, most);

        if (text && (waits ? *text != '\0' : !is_such(text)))
                r->bad = true;
        return text;
}

static char *take_decimal(struct reader *r, bool waits)
{
        return take_number(r, scorer_is_decimal, SCORE_MAX_NAME, waits);
}

static char *take_exact(struct reader *r, bool waits)
{
        return take_number(r, scorer_is_exact, SCORE_MAX_EXACT, waits);
}

static void take_row(struct dimensions *d, struct reader *r)
{
        struct dimension_row *row = &d->rows[d->row_count];
        bool waits;

        if (d->row_count == DIMENSIONS_MAX) {
                r->bad = true;
                return;
        }
        d->row_count++;
        row->name = scorer_text(r, SCORE_MAX_NAME);
        if (row->name && row->name[strspn(row->name, "abcdefghijklmnopqrstuvwxyz_")])
                r->bad = true;
        row->label = scorer_text(r, SCORE_MAX_NAME);
        row->description = scorer_text(r, SCORE_MAX_TEXT);
        row->colour = scorer_text(r, SCORE_MAX_NAME);
        row->criterion = scorer_text(r, SCORE_MAX_NAME);
        row->score = scorer_text(r, SCORE_MAX_NAME);
        waits = row->score && !*row->score;
        r->bad |= row->score && !waits && !scorer_is_decimal(row->score);
        row->weight = take_decimal(r, false);
        row->weighted = take_decimal(r, waits);
        row->exact_score = take_exact(r, waits);
        row->exact_weighted = take_exact(r, waits);
}

static void take_warning(struct dimensions *d, struct reader *r)
{
        struct dimension_warning *more = NULL;

        if (d->warning_count < MOST_WARNINGS)
                more = realloc(d->warnings, (d->warning_count + 1) * sizeof *more);
        if (!more) {
                r->bad = true;
                return;
        }
        d->warnings = more;
        more += d->warning_count++;
        more->error = get_u8(r);
        more->field = scorer_text(r, SCORE_MAX_TEXT);
        more->message = scorer_text(r, SCORE_MAX_TEXT);
}

static void take_violation(struct dimensions *d, struct reader *r)
{
        struct violation *v = &d->violations[d->violation_count];

        if (d->violation_count == sizeof d->violations / sizeof *d->violations) {
                r->bad = true;
                return;
        }
        d->violation_count++;
        v->constraint = scorer_text(r, SCORE_MAX_NAME);
        if (v->constraint && v->constraint[strspn(v->constraint, "abcdefghijklmnopqrstuvwxyz_")])
                r->bad = true;
        v->limit = take_decimal(r, false);
        v->actual = take_decimal(r, false);
}

static void take_trajectory(struct dimensions *d, struct reader *r)
{
        struct trajectory_verdict *t = &d->trajectory;

        r->bad |= t->given;
        t->given = true;
        t->valid = get_u8(r);
        free(t->why);
        t->why = scorer_text(r, SCORE_MAX_TEXT);
}

static void take_step(struct dimensions *d, struct reader *r)
{
        char **more = NULL;

        if (d->step_count < MOST_STEPS)
                more = realloc(d->steps, (d->step_count + 1) * sizeof *more);
        if (!more) {
                r->bad = true;
                return;
        }
        d->steps = more;
        more[d->step_count++] = scorer_text(r, SCORE_MAX_TEXT);
}

static void take_total(struct dimensions *d, struct reader *r)
{
        r->bad |= d->present;
        d->present = true;
        d->total = get_u32(r);
        d->outcome = get_u8(r);
        free(d->sum);
        d->sum = take_exact(r, false);
        r->bad |= d->total > MOST_TOTAL || d->outcome >= OUTCOMES;
}

int dimensions_take(struct dimensions *d, unsigned type, struct reader *r, struct error *err)
{
        switch (type) {
        case SCORE_TOTAL:
                take_total(d, r);
                return 0;
        case SCORE_DIMENSION:
                take_row(d, r);
                return 0;
        case SCORE_WARNING:
                take_warning(d, r);
                return 0;
        case SCORE_VIOLATION:
                take_violation(d, r);
                return 0;
        case SCORE_TRAJECTORY:
                take_trajectory(d, r);
                return 0;
        case SCORE_EXPLANATION:
                take_step(d, r);
                return 0;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
}

void dimensions_free(struct dimensions *d)
{
        for (unsigned i = 0; i < d->row_count; i++) {
                struct dimension_row *row = &d->rows[i];
                char *texts[] = {row->name, row->label, row->description, row->colour,
                        row->criterion, row->score, row->weight, row->weighted, row->exact_score,
                        row->exact_weighted};

                for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
                        free(texts[n]);
        }
        for (unsigned i = 0; i < d->warning_count; i++) {
                free(d->warnings[i].field);
                free(d->warnings[i].message);
        }
        for (unsigned i = 0; i < d->violation_count; i++) {
                free(d->violations[i].constraint);
                free(d->violations[i].limit);
                free(d->violations[i].actual);
        }
        for (unsigned i = 0; i < d->step_count; i++)
                free(d->steps[i]);
        free(d->trajectory.why);
        free(d->warnings);
        free(d->steps);
        free(d->sum);
        *d = (struct dimensions){0};
}

/* --- showing -------------------------------------------------------------------------------- */

const char *dimensions_outcome(const struct dimensions *d)
{
        static const char *const names[OUTCOMES] = {"win", "draw", "loss"};

        return names[d->outcome];
}

void dimensions_json_breakdown(const struct dimensions *d, struct json_writer *w)
{
        json_open_object(w, "score_breakdown");
        for (unsigned i = 0; i < d->row_count; i++) {
                const struct dimension_row *row = &d->rows[i];

                json_open_object(w, row->name);
                json_decimal(w, "score", row->score);
                json_decimal(w, "weight", row->weight);
                json_decimal(w, "weighted", row->weighted);
                json_text(w, "label", row->label);
                json_text(w, "description", row->description);
                json_text(w, "color", row->colour);
                if (*row->criterion)
                        json_text(w, "criterion", row->criterion);
                json_close(w);
        }
        json_close(w);
}

static void add_exact(const struct dimensions *d, struct json_writer *w)
{
        json_open_object(w, "exact");
        if (d->present)
                json_text(w, "sum", d->sum);
        json_open_object(w, "score_breakdown");
        for (unsigned i = 0; i < d->row_count; i++) {
                if (!*d->rows[i].exact_score)
                        continue;
                json_open_object(w, d->rows[i].name);
                json_text(w, "score", d->rows[i].exact_score);
                json_text(w, "weighted", d->rows[i].exact_weighted);
                json_close(w);
        }
        json_close(w);
        json_close(w);
}

void dimensions_json_warnings(const struct dimensions *d, struct json_writer *w)
{
        for (unsigned i = 0; i < d->warning_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "severity", d->warnings[i].error ? "error" : "warning");
                json_text(w, "field", d->warnings[i].field);
                json_text(w, "message", d->warnings[i].message);
                json_close(w);
        }
}

void dimensions_json_violations(const struct dimensions *d, struct json_writer *w)
{
        json_open_array(w, "constraint_violations");
        for (unsigned i = 0; i < d->violation_count; i++) {
                json_open_object(w, NULL);
                json_text(w, "constraint", d->violations[i].constraint);
                json_decimal(w, "limit", d->violations[i].limit);
                json_decimal(w, "actual", d->violations[i].actual);
                json_close(w);
        }
        json_close(w);
}

void dimensions_json_trajectory(const struct dimensions *d, struct json_writer *w)
{
        const struct trajectory_verdict *t = &d->trajectory;

        if (!t->given)
                return;
        json_open_object(w, "trajectory");
        json_bool(w, "valid", t->valid);
        json_text(w, "source", t->is_signed ? "signed" : "self-reported");
        if (!t->valid)
                json_text(w, "reason", t->why);
        json_close(w);
}

void dimensions_json_scores(const struct dimensions *d, struct json_writer *w)
{
        if (d->present) {
                json_text(w, "outcome", dimensions_outcome(d));
                json_number(w, "score", d->total);
        } else {
                json_add_null(w, "outcome");
                json_add_null(w, "score");
        }
        json_number(w, "scale", MOST_TOTAL);
        dimensions_json_breakdown(d, w);
        add_exact(d, w);
}

void dimensions_json(const struct dimensions *d, struct json_writer *w)
{
        dimensions_json_scores(d, w);
        json_open_array(w, "submission_warnings");
        dimensions_json_warnings(d, w);
        json_close(w);
        dimensions_json_violations(d, w);
        dimensions_json_trajectory(d, w);
        if (d->step_count == 0)
                return;
        json_open_array(w, "explanation");
        for (unsigned i = 0; i < d->step_count; i++)
                json_text(w, NULL, d->steps[i]);
        json_close(w);
}

static void add_safe(struct buffer *out, const char *before, const char *text)
{
        char safe[2048];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_format(out, "%s%s\n", before, safe);
}

void dimensions_text(const struct dimensions *d, struct buffer *out)
{
        buffer_add_format(out, "%u of %d: %s\n", d->total, MOST_TOTAL, dimensions_outcome(d));
        for (unsigned i = 0; i < d->row_count; i++)
                buffer_add_format(out, "  %-30s %8s × %s = %s\n", d->rows[i].name, d->rows[i].score,
                        d->rows[i].weight, d->rows[i].weighted);
        for (unsigned i = 0; i < d->warning_count; i++) {
                char field[SCORE_MAX_NAME];

                text_escape(
                        field, sizeof field, d->warnings[i].field, strlen(d->warnings[i].field));
                buffer_add_format(
                        out, "%s: %s: ", d->warnings[i].error ? "format error" : "warning", field);
                add_safe(out, "", d->warnings[i].message);
        }
        for (unsigned i = 0; i < d->violation_count; i++)
                buffer_add_format(out, "constraint violated: %s: %s, at most %s\n",
                        d->violations[i].constraint, d->violations[i].actual,
                        d->violations[i].limit);
        for (unsigned i = 0; i < d->step_count; i++)
                add_safe(out, "", d->steps[i]);
}
