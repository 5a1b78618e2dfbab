/* What a batch came to: counted, and as text, JSON and CSV. Pure. */
#ifndef ASSAY_BATCH_SUMMARY_H
#define ASSAY_BATCH_SUMMARY_H

#include "batch/rows.h"

struct batch_counts {
        unsigned all, done, kept, graded, passed, not_passed, pending, rejected, ungradable, errors;
};

void batch_count(const struct batch_rows *b, struct batch_counts *ret);
/* The exit status, of a batch that was not interrupted. */
int batch_exit(const struct batch_counts *c);

/* "NAME: pass 84.00", "NAME: rejected archive.link_escape: why". */
void batch_add_line(struct buffer *out, const struct batch_row *row);
/* A sentence for each kind of end. */
void batch_add_summary(struct buffer *out, const struct batch_counts *c);
/* assay.batch/1 */
void batch_add_json(struct buffer *out, const struct batch_rows *b, const char *task);
/* RFC 4180 with a header. A cell that a spreadsheet would take for a formula gets an apostrophe in
 * front; bytes that are no UTF-8 become U+FFFD. */
void batch_add_csv(struct buffer *out, const struct batch_rows *b);

#endif
