/* What is expected of a solution; see expectation.h. The numbers are compared by assay-score. */
#include "expectation.h"

#include "fd.h"
#include "report/report.h"

#include <unistd.h>

enum { MOST_DIFFERENCES = 16 };

void expectation_free(struct expectation *x)
{
        free(x->llm_score);
        texts_free(x->differs);
        *x = (struct expectation){0};
}

static void take_difference(struct expectation *x, struct reader *r)
{
        char **more = x->differ_count < MOST_DIFFERENCES
                              ? realloc(x->differs, (x->differ_count + 2) * sizeof *more)
                              : NULL;

        if (!more) {
                r->bad = true;
                return;
        }
        x->differs = more;
        more[x->differ_count] = scorer_text(r, SCORE_MAX_TEXT);
        x->differ_count += more[x->differ_count] != NULL;
        more[x->differ_count] = NULL;
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct expectation *x = to;

        switch (type) {
        case EXPECT_GIVEN:
                r->bad |= x->llm_score != NULL;
                if (!r->bad)
                        x->llm_score = scorer_text(r, SCORE_MAX_NAME);
                r->bad |= !r->bad && *x->llm_score && !scorer_is_score(x->llm_score);
                return 0;
        case EXPECT_DIFFERS:
                take_difference(x, r);
                return 0;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
}

static void put_actual(struct buffer *b, const struct evaluation *e)
{
        const struct error *why = e->error.code != CODE_NONE ? &e->error : &e->shaped;
        struct report_scores scores;

        report_scores(e, &scores);
        put_u8(b, 1);
        put_text(b, status_name(evaluation_status(e)));
        put_text(b, code_info(why->code)->name);
        put_text(b, report_outcome(e));
        put_text(b, scores.score);
        put_text(b, scores.test_score);
}

static void put_nothing(struct buffer *b)
{
        put_u8(b, 0);
        for (unsigned i = 0; i < 5; i++)
                put_text(b, "");
}

int expectation_ask(struct expectation *x, struct channel *c, int file, const struct evaluation *e,
        struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        _cleanup_fd_ int request = scorer_request(err);

        expectation_free(x);
        if (e)
                put_actual(&options, e);
        else
                put_nothing(&options);
        if (request < 0 || scorer_put(request, REQUEST_EXPECT, &options, err) < 0)
                return -1;
        if (lseek(file, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot be read again");
        if (scorer_put_document(
                    request, DOCUMENT_SPEC, file, SCORE_MAX_TASK / 2, CODE_TASK_EXPECT, err) < 0 ||
                scorer_end_request(request, err) < 0 ||
                scorer_ask(c, HELPER_EXPECT, request, take, x, err) < 0)
                return -1;
        return x->llm_score ? 0
                            : error_set(err, CODE_INTERNAL_FRAME,
                                      "the scorer left out what is expected");
}
