/* The score of dimensions: what the suite, the tests, a script and the judge found goes to
 * assay-score as frames, the answer, the truth and the trajectory as documents. */
#include "evaluation.h"

#include "beneath.h"
#include "fd.h"
#include "input.h"

#include <unistd.h>

/* --- what was found ------------------------------------------------------------------------- */

static int put_tests(const struct suite_result *s, int sources, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        for (unsigned i = 0; i < s->test_count; i++) {
                put_text(&payload, s->tests[i].name);
                put_u8(&payload, s->tests[i].passed);
                if (scorer_put(sources, GIVEN_TEST, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

static int put_rows(
        int sources, unsigned type, const struct score_row *rows, unsigned count, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        for (unsigned i = 0; i < count; i++) {
                put_text(&payload, rows[i].name);
                put_text(&payload, rows[i].score);
                if (scorer_put(sources, type, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

/* One number of a judge is its word on each criterion. */
static int put_number(const struct evaluation *e, int sources, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                put_text(&payload, e->task.criteria[i].name);
                put_text(&payload, e->verdict.number);
                if (scorer_put(sources, GIVEN_JUDGE, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

static int put_sources(const struct evaluation *e, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_fd_ int sources = scorer_request(err);
        int r = sources < 0 ? -1 : 0;

        if (r == 0 && e->suite.present && *e->suite.score) {
                put_text(&payload, e->suite.score);
                r = scorer_put(sources, GIVEN_SUITE, &payload, err);
        }
        if (r == 0)
                r = put_tests(&e->suite, sources, err);
        if (r == 0)
                r = put_rows(
                        sources, GIVEN_SCRIPT, e->suite.dimensions, e->suite.dimension_count, err);
        if (r == 0 && grade_waits(e))
                r = scorer_put(sources, GIVEN_NO_VERDICT, &payload, err);
        if (r == 0)
                r = e->verdict.number ? put_number(e, sources, err)
                                      : put_rows(sources, GIVEN_JUDGE, e->verdict.criteria,
                                                e->verdict.criterion_count, err);
        if (r == 0 && lseek(sources, 0, SEEK_SET) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "a request to the scorer");
        return r < 0 ? -1
                     : scorer_put_document(request, DOCUMENT_SOURCES, sources, SCORE_MAX_REQUEST,
                               CODE_SUITE_RESULT_INVALID, err);
}

/* --- documents ------------------------------------------------------------------------------ */

/* A submission without an answer has none of its fields. */
static int put_answer(const struct evaluation *e, int request, struct error *err)
{
        const struct buffer nothing = {.data = (unsigned char *)"{}", .len = 2};
        _cleanup_fd_ int file =
                beneath_open(e->submission.root, "answer.json", O_RDONLY | O_NONBLOCK, 0);

        if (file >= 0)
                return scorer_put_document(request, DOCUMENT_SUBMISSION, file, SCORE_MAX_RESULT,
                        CODE_SCORE_ANSWER, err);
        return scorer_put_bytes(request, DOCUMENT_SUBMISSION, &nothing, err);
}

int grade_put_truth(const struct evaluation *e, int request, struct error *err)
{
        const int truth = task_readable(&e->task, TASK_TRUTH);
        _cleanup_fd_ int file =
                truth < 0 ? -1 : beneath_open(truth, "truth.json", O_RDONLY | O_NONBLOCK, 0);

        if (truth >= 0 && file < 0 && errno != ENOENT)
                return error_errno(err, CODE_SCORE_TRUTH, errno, "truth/truth.json");
        return file < 0 ? 0
                        : scorer_put_document(request, DOCUMENT_TRUTH, file, SCORE_MAX_RESULT,
                                  CODE_SCORE_TRUTH, err);
}

int grade_put_spec(const struct evaluation *e, int request, struct error *err)
{
        if (lseek(e->task.file, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "task.json");
        return scorer_put_document(
                request, DOCUMENT_SPEC, e->task.file, SCORE_MAX_TASK, CODE_TASK_INVALID, err);
}

static int put_trajectory(struct evaluation *e, int request, struct error *err)
{
        uint64_t bytes;

        if (e->trajectory < 0)
                return 0;
        if (input_settle(&e->trajectory, SCORE_MAX_RESULT, &bytes, err) < 0)
                return error_add(err, "the trajectory");
        if (input_digest(e->trajectory, &bytes, e->trajectory_sha256, err) < 0)
                return error_add(err, "the trajectory");
        return scorer_put_document(request, DOCUMENT_TRAJECTORY, e->trajectory, SCORE_MAX_RESULT,
                CODE_SCORE_ANSWER, err);
}

/* -------------------------------------------------------------------------------------------- */

static int put_request(struct evaluation *e, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;

        put_text(&options, evaluation_time_used(e));
        put_text(&options, e->match.started); /* "": nobody knows */
        put_text(&options, e->match.submitted);
        put_u8(&options, false);
        if (scorer_put(request, REQUEST_SCORE, &options, err) < 0 ||
                grade_put_spec(e, request, err) < 0 || put_answer(e, request, err) < 0 ||
                grade_put_truth(e, request, err) < 0 || put_trajectory(e, request, err) < 0 ||
                put_sources(e, request, err) < 0)
                return -1;
        return scorer_end_request(request, err);
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        return dimensions_take(to, type, r, err);
}

int grade_dimensions(struct evaluation *e, struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);

        if (request < 0 || put_request(e, request, err) < 0)
                return -1;
        if (scorer_ask(&e->channel, HELPER_DIMENSIONS, request, take, &e->dimensions, err) < 0) {
                dimensions_free(&e->dimensions);
                return error_add(err, "the score");
        }
        e->dimensions.trajectory.is_signed = e->match.signature == SIGNATURE_GOOD;
        return e->dimensions.present == !grade_waits(e)
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
}
