/* The table of formats, and how one is asked for; see formats.h. */
#include "evaluators/formats/formats.h"

#include "evaluators/request.h"

static const struct {
        const char *name;
        format_read *read;
        bool without_file; /* it looks by itself for what it has */
} formats[] = {
        {"score.json", score_json_read, false},
        {"gradescope", gradescope_read, false},
        {"prairielearn", prairielearn_read, false},
        {"codabench", codabench_read, false},
        {"harbor", harbor_read, true},
        {"ctrf", ctrf_read, false},
        {"junit", junit_read, false},
        {"tap", tap_read, false},
        {"exit-code", exit_code_read, true},
        {"stdout-json", stdout_json_read, false},
        {"tests.jsonl", tests_jsonl_read, false},
};

void result_option(const char *text, unsigned long otherwise, mpq_t ret)
{
        if (*text == '\0' || number_parse(ret, text) < 0)
                mpq_set_ui(ret, otherwise, 1);
}

int result_scale(struct outcome *o, const struct result_request *q, const char *number,
        unsigned long most, struct error *err)
{
        mpq_t value, min, max;
        int r = 0;

        mpq_inits(value, min, max, NULL);
        result_option(q->min, 0, min);
        result_option(q->max, most, max);
        mpq_sub(max, max, min);
        if (mpq_sgn(max) <= 0)
                r = error_set(err, CODE_SUITE_RESULT_INVALID,
                        "result.max must be greater than result.min");
        else if (number_parse(value, number) < 0)
                r = error_set(err, CODE_SUITE_RESULT_INVALID, "%.40s: is no number", number);
        else {
                mpq_sub(value, value, min);
                outcome_score(o, value, max);
        }
        mpq_clears(value, min, max, NULL);
        return r;
}

static int get_options(
        struct reader *r, char *format, size_t size, struct result_request *q, struct error *err)
{
        mpq_t unused;
        bool good;

        get_text(r, format, size);
        get_text(r, q->key, sizeof q->key);
        get_text(r, q->min, sizeof q->min);
        get_text(r, q->max, sizeof q->max);
        q->exit = get_u32(r);
        mpq_init(unused);
        good = reader_done(r) && (!*q->min || number_parse(unused, q->min) == 0) &&
               (!*q->max || number_parse(unused, q->max) == 0);
        mpq_clear(unused);
        return good ? 0 : error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

static int answer(const struct request *request, struct buffer *out, struct error *err)
{
        struct result_request q = {0};
        struct reader options = request->options;
        char format[32];
        struct outcome o;
        size_t i = 0;
        int r;

        if (get_options(&options, format, sizeof format, &q, err) < 0)
                return -1;
        while (i < sizeof formats / sizeof *formats && strcmp(formats[i].name, format) != 0)
                i++;
        if (i == sizeof formats / sizeof *formats)
                return error_set(err, CODE_INTERNAL_FRAME, "no format is called %s", format);
        if (request->documents[DOCUMENT_RESULT].given)
                q.file = &request->documents[DOCUMENT_RESULT].bytes;
        if (request->documents[DOCUMENT_RESULT_TEXT].given)
                q.text = &request->documents[DOCUMENT_RESULT_TEXT].bytes;
        if (!q.file && !formats[i].without_file)
                return error_set(err, CODE_SUITE_NO_RESULT, "there is no result");
        outcome_init(&o);
        r = formats[i].read(&q, &o, err);
        if (r == 0)
                outcome_put(&o, out);
        outcome_free(&o);
        return r;
}

int result_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_RESULT, answer, err);
}
