/* A workflow of a submission: read when it is unpacked, run, and scored by the record of its
 * execution, as `assay workflow score` would. */
#include "grade_rows.h"

#include "beneath.h"
#include "fd.h"

#include <stdlib.h>

/* A document that was sent alone is answer.json. */
int grade_read_workflow(struct evaluation *e, struct error *err)
{
        static const char *const names[] = {"workflow.json", "answer.json"};
        _cleanup_fd_ int file = -EBADF;

        for (unsigned i = 0; file < 0 && i < sizeof names / sizeof *names; i++)
                file = beneath_open(e->submission.root, names[i], O_RDONLY | O_NONBLOCK, 0);
        if (file < 0)
                return error_set(err, CODE_WORKFLOW_INVALID,
                        "the submission has no workflow.json at its root");
        return workflow_read(&e->workflow, &e->task, &e->submission, file, &e->channel, err);
}

/* --- how good its output is ------------------------------------------------------------------ */

static int take_quality(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct evaluation *e = to;
        char *why;

        if (type != WORKFLOW_QUALITY || e->workflow.quality)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        e->workflow.quality = scorer_text(r, SCORE_MAX_NAME);
        why = scorer_text(r, SCORE_MAX_TEXT);
        r->bad |= !e->workflow.quality || !scorer_is_decimal(e->workflow.quality) ||
                  *e->workflow.quality == '-' || scorer_compare(e->workflow.quality, "1") > 0;
        if (why && *why)
                grade_note(e, "quality", why);
        free(why);
        return 0;
}

static int find_quality(struct evaluation *e, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT, output = BUFFER_INIT;
        _cleanup_fd_ int request = scorer_request(err);
        struct json_writer w = {.out = &output, .compact = true};
        char seconds[UNITS_TEXT_SIZE];

        if (e->task.workflow.by_suite && !*e->suite.score)
                return error_set(err, CODE_SUITE_RESULT_INVALID, "the suite gave no score");
        workflow_output(&e->workflow, &w);
        if (!buffer_ok(&output))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        put_text(&payload, units_text(e->workflow.us, SECONDS_PLACES, seconds));
        put_text(&payload, e->task.workflow.by_suite ? e->suite.score : "");
        if (request < 0 || scorer_put(request, REQUEST_QUALITY, &payload, err) < 0 ||
                grade_put_spec(e, request, err) < 0 ||
                scorer_put_bytes(request, DOCUMENT_SUBMISSION, &output, err) < 0 ||
                grade_put_truth(e, request, err) < 0 || scorer_end_request(request, err) < 0 ||
                scorer_ask(&e->channel, HELPER_WORKFLOW, request, take_quality, e, err) < 0)
                return error_add(err, "the quality of the output");
        return e->workflow.quality
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no quality");
}

/* --- the score ------------------------------------------------------------------------------- */

static int take_score(void *to, unsigned type, struct reader *r, struct error *err)
{
        return composite_take(to, type, r, err);
}

int grade_workflow(struct evaluation *e, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT, record = BUFFER_INIT;
        _cleanup_fd_ int request = scorer_request(err);
        struct json_writer w = {.out = &record, .compact = true};

        if (request < 0 || find_quality(e, err) < 0)
                return -1;
        workflow_record(&e->workflow, &e->task, &w, NULL);
        if (!buffer_ok(&record))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        put_u8(&options, false);
        if (scorer_put(request, REQUEST_COMPOSITE, &options, err) < 0 ||
                grade_put_spec(e, request, err) < 0 ||
                scorer_put_bytes(request, DOCUMENT_RECORD, &record, err) < 0 ||
                scorer_end_request(request, err) < 0 ||
                scorer_ask(&e->channel, HELPER_COMPOSITE, request, take_score, &e->composite, err) <
                        0)
                return error_add(err, "the score");
        return e->composite.present
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
}
