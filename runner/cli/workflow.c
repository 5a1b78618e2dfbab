/* assay workflow score SPEC RECORD: the composite score of an execution that was recorded.
 * assay workflow window SCORES: means of the last hundred, and capped weights; with --store of the
 * workflows that are stored. */
#include "verbs.h"

#include "composite.h"
#include "fd.h"
#include "match.h"
#include "report/json.h"
#include "scoring.h"
#include "text.h"

#include <unistd.h>

enum { MOST_BYTES = 16 << 20 };

struct workflow_options {
        struct common_options common;
        bool explain;
        const char *store;
};

struct answer {
        const struct workflow_options *options;
        struct json_writer w; /* the document, which is open */
        struct buffer text;   /* the same for people */
        bool present;
};

/* None of them is negative. */
static char *take_number(struct reader *r, bool (*is_such)(const char *text), size_t most)
{
        char *text = scorer_text(r, most);

        if (text && (!is_such(text) || *text == '-'))
                r->bad = true;
        return text;
}

static int print(struct answer *a, struct error *err)
{
        struct buffer *out = a->options->common.json ? a->w.out : &a->text;

        if (!buffer_ok(out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (a->options->common.quiet && !a->options->common.json)
                return 0;
        return fd_write_all(STDOUT_FILENO, out->data, out->len) < 0
                       ? error_errno(err, CODE_INFRA_IO, errno, "cannot write the score")
                       : 0;
}

/* --- score ---------------------------------------------------------------------------------- */

static int take_score(void *to, unsigned type, struct reader *r, struct error *err)
{
        return composite_take(to, type, r, err);
}

static int show_score(struct answer *a, const struct composite *c, struct error *err)
{
        json_open_object(&a->w, NULL);
        json_text(&a->w, "schema", "assay.score/1");
        json_text(&a->w, "status", "graded");
        composite_json(c, &a->w);
        json_close(&a->w);
        buffer_add_char(a->w.out, '\n');
        composite_text(c, &a->text);
        return print(a, err);
}

static int score(const struct workflow_options *o, char **paths, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT, options = BUFFER_INIT;
        struct scoring s = {
                .files = {{.which = DOCUMENT_SPEC,
                                  .path = paths[0],
                                  .what = "the spec",
                                  .most = MOST_BYTES,
                                  .fd = -EBADF},
                        {.which = DOCUMENT_RECORD,
                                .path = paths[1],
                                .what = "the record",
                                .most = MOST_BYTES,
                                .fd = -EBADF}},
                .file_count = 2,
        };
        struct answer a = {.options = o, .w = {.out = &out}, .text = BUFFER_INIT};
        struct composite c = {0};
        int r = scoring_open(&s, err);

        put_u8(&options, o->explain);
        if (r == 0)
                r = scoring_ask(
                        &s, HELPER_COMPOSITE, REQUEST_COMPOSITE, &options, take_score, &c, err);
        if (r == 0 && !c.present)
                r = error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        if (r == 0)
                r = show_score(&a, &c, err);
        if (r == 0)
                r = c.passed ? END_PASSED : END_NOT_PASSED;
        composite_free(&c);
        buffer_free(&a.text);
        scoring_close(&s);
        return r;
}

/* --- window --------------------------------------------------------------------------------- */

static void take_row(struct answer *a, struct reader *r)
{
        char *name = scorer_text(r, SCORE_MAX_NAME);
        uint32_t count = get_u32(r);
        char *mean = take_number(r, scorer_is_decimal, SCORE_MAX_NAME);
        char *weight = take_number(r, scorer_is_decimal, SCORE_MAX_NAME);
        char *exact_mean = take_number(r, scorer_is_exact, SCORE_MAX_EXACT);
        char *exact_weight = take_number(r, scorer_is_exact, SCORE_MAX_EXACT);
        char safe[4 * SCORE_MAX_NAME];

        if (!r->bad) {
                json_open_object(&a->w, NULL);
                json_text(&a->w, "name", name);
                json_number(&a->w, "scores", count);
                json_decimal(&a->w, "mean", mean);
                json_decimal(&a->w, "weight", weight);
                json_open_object(&a->w, "exact");
                json_text(&a->w, "mean", exact_mean);
                json_text(&a->w, "weight", exact_weight);
                json_close(&a->w);
                json_close(&a->w);
                text_escape(safe, sizeof safe, name, strlen(name));
                buffer_add_format(&a->text, "%s  %s  %4u  %s\n", weight, mean, count, safe);
        }
        free(name);
        free(mean);
        free(weight);
        free(exact_mean);
        free(exact_weight);
}

static void take_rest(struct answer *a, struct reader *r)
{
        char *shown = take_number(r, scorer_is_decimal, SCORE_MAX_NAME);
        char *exact = take_number(r, scorer_is_exact, SCORE_MAX_EXACT);

        r->bad |= a->present;
        a->present = true;
        if (!r->bad) {
                json_close(&a->w);
                json_decimal(&a->w, "unassigned", shown);
                json_text(&a->w, "exact_unassigned", exact);
                buffer_add_format(&a->text, "%s  unassigned\n", shown);
        }
        free(shown);
        free(exact);
}

static int take_window(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct answer *a = to;

        if (type == WINDOW_ROW && !a->present)
                take_row(a, r);
        else if (type == WINDOW_REST)
                take_rest(a, r);
        else
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        return 0;
}

/* The document that SCORES would be, of a store. */
struct stored_scores {
        struct buffer out;
        struct json_writer w;
        char *agent; /* whose array is open */
};

static int take_stored(void *to, const struct store_values *v, struct error *err)
{
        enum { AGENT, EXACT };
        struct stored_scores *s = to;
        const char *agent = v->values[AGENT].text;

        if (!s->agent || strcmp(s->agent, agent) != 0) {
                if (s->agent)
                        json_close(&s->w);
                free(s->agent);
                s->agent = strdup(agent);
                if (!s->agent)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                json_open_array(&s->w, agent);
        }
        json_text(&s->w, NULL, v->values[EXACT].text);
        return 0;
}

static int read_store(const char *url, struct stored_scores *s, struct error *err)
{
        int r;

        s->w = (struct json_writer){.out = &s->out, .compact = true};
        json_open_object(&s->w, NULL);
        r = match_each(url, MATCH_SCORES, NULL, 2, take_stored, s, err);
        if (r == 0 && s->agent)
                json_close(&s->w);
        if (r == 0)
                json_close(&s->w);
        free(s->agent);
        return r < 0 ? error_add(err, "--store") : 0;
}

static int window(const struct workflow_options *o, const char *path, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT, options = BUFFER_INIT;
        struct stored_scores stored = {.out = BUFFER_INIT};
        struct scoring s = {
                .files = {{.which = DOCUMENT_SUBMISSION,
                        .path = path,
                        .what = "the scores",
                        .most = MOST_BYTES,
                        .fd = -EBADF,
                        .bytes = o->store ? &stored.out : NULL}},
                .file_count = 1,
                .channel = CHANNEL_INIT,
        };
        struct answer a = {.options = o, .w = {.out = &out}, .text = BUFFER_INIT};
        int r = o->store ? read_store(o->store, &stored, err) : 0;

        if (r == 0)
                r = scoring_open(&s, err);

        json_open_object(&a.w, NULL);
        json_open_array(&a.w, "weights");
        if (r == 0)
                r = scoring_ask(&s, HELPER_WINDOW, REQUEST_WINDOW, &options, take_window, &a, err);
        if (r == 0 && !a.present)
                r = error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no weights");
        json_close(&a.w);
        buffer_add_char(&out, '\n');
        if (r == 0)
                r = print(&a, err);
        buffer_free(&a.text);
        buffer_free(&stored.out);
        scoring_close(&s);
        return r;
}

/* -------------------------------------------------------------------------------------------- */

int verb_workflow(int argc, char **argv, struct error *err)
{
        struct workflow_options o = {0};
        const struct option table[] = {
                {"--explain", OPTION_FLAG, &o.explain, NULL, "each step of the computation"},
                {"--store", OPTION_TEXT, &o.store, "URL",
                        "window: of the workflows that agents have in that store"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("workflow score [--explain] SPEC RECORD\n"
                                    "       assay workflow window SCORES | --store URL",
                        "score gives the composite score, 0 to 1, of a workflow whose execution "
                        "was\n"
                        "recorded. window takes an object of names, each with its scores, the "
                        "latest\n"
                        "last: the mean of the last hundred, and weights of at most 15 %. Of a "
                        "store each\nagent has a score for each task, the latest.",
                        table, sizeof table / sizeof *table);
        if (rest == 3 && !o.store && strcmp(argv[0], "score") == 0)
                return score(&o, argv + 1, err);
        if (rest == (o.store ? 1 : 2) && strcmp(argv[0], "window") == 0)
                return window(&o, o.store ? NULL : argv[1], err);
        return error_set(err, CODE_USAGE,
                "workflow: needs `score SPEC RECORD`, `window SCORES` or "
                "`window --store URL`");
}
