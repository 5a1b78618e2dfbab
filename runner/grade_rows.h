/* What the parts of grading share (grade.c, grade_suite.c, grade_verdict.c): rows that come as
 * frames, and warnings of our own. */
#ifndef ASSAY_GRADE_ROWS_H
#define ASSAY_GRADE_ROWS_H

#include "evaluation.h"

/* Append a row of `size` bytes to a list, or leave the list as it is and say that it is bad. */
void rows_append(void **list, unsigned *count, const void *row, size_t size, struct reader *r);
/* A text that is a number of the kind, or perhaps empty. */
char *rows_take_decimal(struct reader *r, bool (*is_such)(const char *text), bool may_be_empty);
void rows_take(struct score_row **list, unsigned *count, struct reader *r, bool with_reasoning);
void row_free(struct score_row *row);
void rows_free(struct score_row *rows, unsigned count);

/* A warning of our own in the result. */
/* A frame of a verdict (scorer_take); `to` is a struct verdict. */
int grade_take_verdict(void *to, unsigned type, struct reader *r, struct error *err);
void grade_note(struct evaluation *e, const char *field, const char *message);

/* grade_suite.c, grade_verdict.c */
void grade_forget_suite(struct evaluation *e);
void grade_forget_verdict(struct verdict *v);
const struct score_row *grade_verdict_row(const struct verdict *v, const char *name);

#endif
