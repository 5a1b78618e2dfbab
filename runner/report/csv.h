/* Writing CSV (RFC 4180). Whatever bytes go in, valid UTF-8 comes out, and nothing that a
 * spreadsheet would take for a formula. */
#ifndef ASSAY_REPORT_CSV_H
#define ASSAY_REPORT_CSV_H

#include "buffer.h"

/* A cell (NULL: an empty one) and what follows it: "," or "\r\n". */
void csv_cell(struct buffer *out, const char *text, const char *end);

#endif
