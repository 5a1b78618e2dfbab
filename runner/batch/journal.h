/* RESULTS/batch.log: what a batch has done, so that another one goes on where it ended. Lines of
 * our own, checked strictly when they are read:
 *
 *      assay-batch/1 TAB task
 *      name TAB sha256 TAB status TAB exit TAB code TAB outcome TAB score TAB test_score TAB
 *              llm_score TAB ms TAB size TAB changed TAB reason
 *
 * An empty field is "-"; bytes up to the blank, DEL, "%" and a "-" at the start are %XX. The last
 * record of a name counts. A last line without its end was being written when the machine died. */
#ifndef ASSAY_BATCH_JOURNAL_H
#define ASSAY_BATCH_JOURNAL_H

#include "batch/rows.h"

/* Open it in the directory of results, for us alone. With `resume` the records of rows that have
 * one are taken over (`done` and `kept` are set); else what is there goes. */
int journal_open(
        int results, const char *task, bool resume, struct batch_rows *rows, struct error *err);
/* Append the record of a row; it is on the disk afterwards. */
int journal_add(int journal, const struct batch_row *row, struct error *err);

#endif
