/* Requests about dimensions, one by one and in batches; see dimensions.h. */
#include "evaluators/answer.h"
#include "evaluators/number.h"
#include "evaluators/request.h"
#include "evaluators/schemes/dimensions.h"

static int take_options(struct request *q, struct dimensions_input *a,
        char time_used[SCORE_MAX_NAME], char moments[2][SCORE_MAX_NAME], struct error *err)
{
        struct reader *r = &q->options;
        mpq_t number;
        bool good;

        get_text(r, time_used, SCORE_MAX_NAME);
        get_text(r, moments[0], SCORE_MAX_NAME);
        get_text(r, moments[1], SCORE_MAX_NAME);
        a->explain = get_u8(r);
        mpq_init(number);
        good = reader_done(r) && q->type == REQUEST_SCORE &&
               (!*time_used || (number_parse(number, time_used) == 0 && mpq_sgn(number) >= 0));
        for (int i = 0; i < 2; i++)
                good = good && (!*moments[i] || number_parse(number, moments[i]) == 0);
        mpq_clear(number);
        return good ? 0 : error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

static const struct buffer *document(const struct request *q, enum score_document which)
{
        return q->documents[which].given ? &q->documents[which].bytes : NULL;
}

typedef int answer_them(const struct dimensions_input *input, const struct request *q,
        struct buffer *out, struct error *err);

static int answer(const struct buffer *in, struct buffer *out, answer_them *them, struct error *err)
{
        char time_used[SCORE_MAX_NAME], moments[2][SCORE_MAX_NAME];
        struct trajectory trajectory;
        struct dimensions_input input = {.time_used = time_used, .trajectory = &trajectory};
        const struct buffer *lines;
        struct request q;
        int r = request_read(&q, in, err);

        trajectory_init(&trajectory);
        if (r == 0)
                r = take_options(&q, &input, time_used, moments, err);
        lines = r == 0 ? document(&q, DOCUMENT_TRAJECTORY) : NULL;
        if (lines)
                trajectory_read(&trajectory, lines, moments[0], moments[1]);
        input.spec = document(&q, DOCUMENT_SPEC);
        input.answer = document(&q, DOCUMENT_SUBMISSION);
        input.truth = document(&q, DOCUMENT_TRUTH);
        input.sources = document(&q, DOCUMENT_SOURCES);
        if (r == 0 && (!input.spec || !input.answer))
                r = error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (r == 0)
                r = them(&input, &q, out, err);
        trajectory_free(&trajectory);
        request_free(&q);
        return r;
}

static int answer_one(const struct dimensions_input *input, const struct request *q,
        struct buffer *out, struct error *err)
{
        (void)q;
        return dimensions_score(input, out, err);
}

int dimensions_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return answer(in, out, answer_one, err);
}

/* --- batches -------------------------------------------------------------------------------- */

/* The lines of a document; one that has a single line has it for all. */
struct lines {
        const struct buffer *document; /* NULL: there is none */
        size_t at;
        struct buffer line;
};

static bool has_one_line(const struct buffer *document)
{
        const unsigned char *newline = memchr(document->data, '\n', document->len);

        return !newline || newline == document->data + document->len - 1;
}

/* The next line as a document; false: there is none left. */
static bool next_line(struct lines *l)
{
        const unsigned char *start = l->document->data + l->at, *newline;
        const size_t left = l->document->len - l->at;
        size_t len;

        if (l->line.len > 0 && has_one_line(l->document))
                return true;
        if (left == 0)
                return false;
        newline = memchr(start, '\n', left);
        len = newline ? (size_t)(newline - start) : left;
        buffer_clear(&l->line);
        buffer_add(&l->line, start, len);
        l->at += len + (newline != NULL);
        return true;
}

static int answer_line(const struct dimensions_input *all, struct lines lines[3],
        struct buffer *out, struct error *err)
{
        struct dimensions_input input = *all;

        for (unsigned i = 0; i < 3; i++)
                if (i != 1 && lines[i].document && !next_line(&lines[i]))
                        return error_set(err, CODE_SCORE_ANSWER,
                                "there are more submissions than %s", i == 0 ? "specs" : "truths");
        input.spec = &lines[0].line;
        input.answer = &lines[1].line;
        input.truth = lines[2].document ? &lines[2].line : NULL;
        return dimensions_score(&input, out, err);
}

/* Each answer ends with an end or an error of its own. */
static int answer_lines(const struct dimensions_input *input, const struct request *q,
        struct buffer *out, struct error *err)
{
        const struct buffer *const documents[] = {input->spec, input->answer, input->truth};
        struct lines lines[3];

        (void)q;
        for (unsigned i = 0; i < 3; i++)
                lines[i] = (struct lines){.document = documents[i], .line = BUFFER_INIT};
        while (lines[1].document && next_line(&lines[1])) {
                struct error why = {0};
                size_t at = out->len;

                if (answer_line(input, lines, out, &why) < 0) {
                        if (buffer_ok(out))
                                out->len = at; /* what it had said till then */
                        answer_error_as(out, SCORE_LINE_ERROR, &why);
                } else
                        answer_empty(out, SCORE_LINE_END);
                if (has_one_line(lines[1].document))
                        break;
        }
        for (unsigned i = 0; i < 3; i++)
                buffer_free(&lines[i].line);
        return buffer_ok(out) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int dimensions_batch_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return answer(in, out, answer_lines, err);
}
