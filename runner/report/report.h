/* An evaluation as its users see it. Both forms are written from the same structure. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "evaluation.h"
#include "report/json.h"

/* The result of contract §7, complete. -1: out of memory. */
int report_json(const struct evaluation *e, struct buffer *out);
/* "pass", "fail", or "" where there is none. */
const char *report_outcome(const struct evaluation *e);
/* Its scores in short, on the result's own scale; "" where there is none. */
struct report_scores {
        const char *score, *exact, *test_score, *llm_score;
        char total[16]; /* of dimensions */
};
void report_scores(const struct evaluation *e, struct report_scores *ret);
/* "llm", "container", …; what a full score is. */
const char *report_mode(const struct task *t);
unsigned report_scale(const struct task *t);
/* The key "tests", and how many are hidden. */
void report_tests(struct json_writer *w, const struct evaluation *e);
/* Is standard output a terminal whose owner wants colours? */
bool report_wants_colour(void);
/* A summary for a person; `colour` for terminals. */
int report_text(const struct evaluation *e, bool colour, struct buffer *out);

/* The intake alone (evaluation_options.only_intake): assay.intake/1, and for a person. */
int report_intake_json(const struct evaluation *e, struct buffer *out);
int report_intake_text(const struct evaluation *e, bool colour, struct buffer *out);

/* build_check.c: the key of that name. */
void report_build_check(struct json_writer *w, const struct evaluation *e);

/* pass_data.c: what suite, build check and judge said, as one document. -1: out of memory. */
int report_pass_data(const struct evaluation *e, struct buffer *out);

/* Call `show` for every warning: of the submission, of the task, of the suite, and our own. */
typedef void (*report_show)(void *to, const char *field, const char *message);
void report_submission_warnings(const struct evaluation *e, report_show show, void *to);
/* The key "submission_warnings". */
void report_submission_json(struct json_writer *w, const struct evaluation *e);
void report_suite_warnings(const struct evaluation *e, report_show show, void *to);

#endif
