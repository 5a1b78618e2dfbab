/* Composite scores; see composite.h. */
#include "composite.h"

#include "text.h"

#include <stdlib.h>

enum { MOST_STEPS = 100 };

static const char *const names[COMPOSITE_PARTS] = {
        "score", "success", "cost", "latency", "reliability"};

/* None of them is negative. */
static char *take_number(struct reader *r, bool (*is_such)(const char *text), size_t most)
{
        char *text = scorer_text(r, most);

        if (text && (!is_such(text) || *text == '-'))
                r->bad = true;
        return text;
}

static void take_score(struct composite *c, struct reader *r)
{
        if (c->present) {
                r->bad = true;
                return;
        }
        for (unsigned i = 0; i < COMPOSITE_PARTS; i++)
                c->shown[i] = take_number(r, scorer_is_decimal, SCORE_MAX_NAME);
        for (unsigned i = 0; i < COMPOSITE_PARTS; i++)
                c->exact[i] = take_number(r, scorer_is_exact, SCORE_MAX_EXACT);
        c->gate = get_u8(r);
        c->passed = get_u8(r);
        c->present = !r->bad;
}

static void take_step(struct composite *c, struct reader *r)
{
        char **more = NULL;

        if (c->step_count < MOST_STEPS)
                more = realloc(c->steps, (c->step_count + 1) * sizeof *more);
        if (!more) {
                r->bad = true;
                return;
        }
        c->steps = more;
        more[c->step_count++] = scorer_text(r, SCORE_MAX_TEXT);
}

int composite_take(struct composite *c, unsigned type, struct reader *r, struct error *err)
{
        if (type == COMPOSITE_SCORE)
                take_score(c, r);
        else if (type == SCORE_EXPLANATION)
                take_step(c, r);
        else
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        return 0;
}

void composite_free(struct composite *c)
{
        for (unsigned i = 0; i < COMPOSITE_PARTS; i++) {
                free(c->shown[i]);
                free(c->exact[i]);
        }
        for (unsigned i = 0; i < c->step_count; i++)
                free(c->steps[i]);
        free(c->steps);
        *c = (struct composite){0};
}

const char *composite_outcome(const struct composite *c)
{
        return c->passed ? "pass" : "fail";
}

void composite_json(const struct composite *c, struct json_writer *w)
{
        json_text(w, "outcome", composite_outcome(c));
        json_decimal(w, "score", c->shown[0]);
        json_number(w, "scale", 1);
        json_open_object(w, "composite");
        json_bool(w, "gate", c->gate);
        for (unsigned i = 1; i < COMPOSITE_PARTS; i++)
                json_decimal(w, names[i], c->shown[i]);
        json_close(w);
        json_open_object(w, "exact");
        for (unsigned i = 0; i < COMPOSITE_PARTS; i++)
                json_text(w, names[i], c->exact[i]);
        json_close(w);
        if (c->step_count == 0)
                return;
        json_open_array(w, "explanation");
        for (unsigned i = 0; i < c->step_count; i++)
                json_text(w, NULL, c->steps[i]);
        json_close(w);
}

void composite_text(const struct composite *c, struct buffer *out)
{
        for (unsigned i = 0; i < COMPOSITE_PARTS; i++)
                buffer_add_format(out, "%s%-12s %s\n", i > 0 ? "  " : "", names[i], c->shown[i]);
        for (unsigned i = 0; i < c->step_count; i++) {
                char safe[2 * SCORE_MAX_TEXT];

                text_escape(safe, sizeof safe, c->steps[i], strlen(c->steps[i]));
                buffer_add_format(out, "%s\n", safe);
        }
}
