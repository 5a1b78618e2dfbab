/* Formats of result files, one file and one row each. A format turns what a suite left into an
 * outcome. Pure; what it cannot accept is suite.result_invalid, never a guess. */
#ifndef ASSAY_EVALUATORS_FORMATS_H
#define ASSAY_EVALUATORS_FORMATS_H

#include "evaluators/formats/outcome.h"

/* What the task says of the result, and the result. */
struct result_request {
        char key[SCORE_MAX_NAME + 1];                  /* of several numbers, or "" */
        char min[SCORE_MAX_NAME], max[SCORE_MAX_NAME]; /* decimals, or "" */
        uint32_t exit;                                 /* of the suite; above 255: a signal */
        const struct buffer *file, *text;              /* NULL: it is not there */
};

typedef int format_read(const struct result_request *q, struct outcome *ret, struct error *err);

format_read score_json_read, gradescope_read, prairielearn_read, codabench_read, harbor_read,
        ctrf_read, junit_read, tap_read, exit_code_read, stdout_json_read, tests_jsonl_read;

/* A number of the request, or `otherwise` where it is not given. */
void result_option(const char *text, unsigned long otherwise, mpq_t ret);
/* 100 × (the text − min) / (max − min); min is 0 and max is `most` where they are not given. */
int result_scale(struct outcome *o, const struct result_request *q, const char *number,
        unsigned long most, struct error *err);

/* A result request to its answer; both are frames. */
int result_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
