/* The inner form of results; see outcome.h. */
#include "evaluators/formats/outcome.h"

#include "evaluators/answer.h"
#include "evaluators/schemes/blend.h"

#include <stdarg.h>

void outcome_init(struct outcome *o)
{
        *o = (struct outcome){.pass = SUITE_DID_NOT_SAY,
                .breakdown = BUFFER_INIT,
                .notes = BUFFER_INIT,
                .tests = BUFFER_INIT,
                .warnings = BUFFER_INIT};
        mpq_init(o->score);
}

void outcome_free(struct outcome *o)
{
        mpq_clear(o->score);
        buffer_free(&o->breakdown);
        buffer_free(&o->notes);
        buffer_free(&o->tests);
        buffer_free(&o->warnings);
}

static void add_row(struct outcome *o, enum score_message type, const char *name, const char *score)
{
        size_t at = answer_begin(&o->breakdown, type);

        put_cut(&o->breakdown, name, SCORE_MAX_NAME);
        put_number(&o->breakdown, score);
        answer_end(&o->breakdown, at);
}

void outcome_breakdown(struct outcome *o, const char *name, const char *score)
{
        add_row(o, RESULT_BREAKDOWN, name, score);
}

void outcome_dimension(struct outcome *o, const char *name, const char *score)
{
        add_row(o, RESULT_DIMENSION, name, score);
}

void outcome_notes(struct outcome *o, const char *text)
{
        size_t at;

        buffer_clear(&o->notes);
        at = answer_begin(&o->notes, RESULT_NOTES);
        put_cut(&o->notes, text, SCORE_MAX_TEXT);
        answer_end(&o->notes, at);
}

int outcome_test(struct outcome *o, const char *name, bool passed, const char *duration_ms,
        const char *error, struct error *err)
{
        size_t at;

        if (++o->test_count > SCORE_MAX_MANY)
                return error_set(
                        err, CODE_SUITE_RESULT_INVALID, "more than %d tests", SCORE_MAX_MANY);
        at = answer_begin(&o->tests, RESULT_TEST);
        put_cut(&o->tests, name, SCORE_MAX_NAME);
        put_u8(&o->tests, passed);
        put_number(&o->tests, duration_ms);
        put_cut(&o->tests, error, SCORE_MAX_TEXT);
        answer_end(&o->tests, at);
        return 0;
}

void outcome_warn(struct outcome *o, const char *field, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        answer_warning(&o->warnings, field, text);
}

static void clamp(struct outcome *o, unsigned long to)
{
        number_fraction(o->score, o->raw, sizeof o->raw);
        outcome_warn(
                o, "score", "is %s %lu and counts as %lu", to == 0 ? "below" : "above", to, to);
        mpq_set_ui(o->score, to, 1);
}

void outcome_score(struct outcome *o, const mpq_t part, const mpq_t whole)
{
        mpq_t hundred;

        mpq_init(hundred);
        mpq_set_ui(hundred, 100, 1);
        mpq_div(o->score, part, whole);
        mpq_mul(o->score, o->score, hundred);
        mpq_clear(hundred);
        o->scored = true;
        if (mpq_sgn(o->score) < 0)
                clamp(o, 0);
        else if (mpq_cmp_ui(o->score, 100, 1) > 0)
                clamp(o, 100);
}

int outcome_count(struct outcome *o, uint64_t passed, uint64_t counted, struct error *err)
{
        if (counted == 0)
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "the suite collected no test, or skipped all: there is nothing to score");
        mpq_set_ui(o->score, 100 * passed, counted);
        mpq_canonicalize(o->score);
        o->scored = true;
        return 0;
}

void outcome_put(const struct outcome *o, struct buffer *out)
{
        enum { PARTS = 4 };
        const struct buffer *const parts[PARTS] = {
                &o->breakdown, &o->notes, &o->tests, &o->warnings};
        size_t at = answer_begin(out, RESULT_SCORE);

        if (o->scored)
                put_exact(out, o->score);
        else
                put_text(out, "");
        put_u8(out, (uint8_t)o->pass);
        put_u8(out, o->ungradable);
        put_text(out, o->raw);
        answer_end(out, at);
        for (size_t i = 0; i < PARTS; i++) {
                buffer_add(out, parts[i]->data, parts[i]->len);
                out->failed |= parts[i]->failed;
        }
}
