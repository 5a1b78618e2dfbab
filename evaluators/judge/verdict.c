/* Writing the verdict; see verdict.h. */
#include "evaluators/judge/verdict.h"

#include "evaluators/judge/median.h"

#include "runner/report/json.h"
#include "text.h"

/* Reasons are for reading: nobody carries on more of them than SCORE_MAX_TEXT. */
static void add_cut(struct json_writer *w, const char *key, const char *text)
{
        json_bytes(w, key, text, text_cut(text, strlen(text), SCORE_MAX_TEXT));
}

static void add_criteria(struct json_writer *w, const struct list *rubric, const struct reply *runs,
        unsigned run_count)
{
        const struct judge_criterion *c = rubric->items;

        json_open_array(w, "criteria");
        for (size_t i = 0; i < rubric->count; i++) {
                unsigned run = median_score(runs, run_count, i);
                const struct opinion *o = &runs[run].opinions->of[i];

                json_open_object(w, NULL);
                json_text(w, "name", c[i].name);
                json_decimal(w, "score", o->score);
                add_cut(w, "reasoning", o->reasoning);
                json_close(w);
        }
        json_close(w);
}

static void add_usage(struct json_writer *w, const struct tokens *tokens)
{
        if (!tokens->known) {
                json_add_null(w, "usage");
                return;
        }
        json_open_object(w, "usage");
        json_number(w, "prompt_tokens", tokens->prompt);
        json_number(w, "completion_tokens", tokens->completion);
        json_close(w);
}

static void add_input(struct json_writer *w, const struct prompt *p)
{
        json_open_object(w, "input");
        json_number(w, "bytes", p->shown);
        json_number(w, "cut", p->cut);
        json_close(w);
}

void judge_verdict_write(
        struct buffer *out, const struct chat *c, const struct reply *runs, unsigned run_count)
{
        const struct list *rubric = &c->request->rubric;
        const struct reply *middle = &runs[median_total(runs, run_count, rubric)];
        struct json_writer w = {.out = out};

        json_open_object(&w, NULL);
        add_criteria(&w, rubric, runs, run_count);
        add_cut(&w, "summary", middle->opinions->summary);
        json_text(&w, "model", middle->model[0] ? middle->model : c->options->model);
        json_text(&w, "prompt_sha256", c->digest);
        add_usage(&w, &c->tokens);
        json_number(&w, "runs", run_count);
        json_number(&w, "tries", c->requests);
        add_input(&w, c->prompt);
        json_close(&w);
        buffer_add_char(out, '\n');
}
