/* What the files of appending share: append.c takes what assay says, append_place.c knows whose
 * result it is, append_rows.c writes it down. */
#ifndef ASSAY_STORE_APPEND_H
#define ASSAY_STORE_APPEND_H

#include "store/match.h"
#include "store/queue.h"
#include "store/superseded.h"

/* A row as it is said. */
struct pending {
        enum store_table table;
        struct buffer texts[STORED_COLUMNS];
        struct value values[STORED_COLUMNS];
};

struct append {
        struct store *store;
        char agent[STORE_MAX_AGENT + 1], result_id[STORE_MAX_NAME], submission_id[STORE_MAX_NAME];
        char supersedes[STORE_MAX_NAME]; /* "": it is an attempt of its own */
        struct superseded old;           /* that one */
        struct job_lease job;            /* which it ends; "": none */
        struct append_order order;       /* whose result it is */
        struct match_entry entry;        /* of a match */
        char task[STORE_MAX_NAME], archive[STORE_MAX_NAME];
        char task_sha256[DIGEST_SIZE]; /* which the job is to be graded by */
        char before[DIGEST_SIZE];      /* the mac of the submission's last result */
        int64_t number, attempt, revision;
        bool begun, committed;
        struct pending *rows[STORE_MAX_ROWS], *current[TABLE_GIVEN];
        unsigned row_count, result_rows;
        size_t bytes; /* of all texts */
};

/* append_place.c: begin the transaction, and find the submission, the attempt and the numbers of
 * the result in it. */
int append_find_place(struct append *a, struct error *err);

/* append_rows.c: the row of the result, once it was said; NULL. */
struct value *append_result_row(struct append *a);
/* All rows, and what they end; committed. */
int append_write(struct append *a, struct value *row, struct error *err);
/* Was that committed before the connection was lost? */
int append_is_there(struct append *a, struct error *err);

#endif
