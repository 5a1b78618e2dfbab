/* The submissions of a batch: found in folders and on the command line, each with a name of its own
 * and what is known of its grade. */
#ifndef ASSAY_BATCH_ROWS_H
#define ASSAY_BATCH_ROWS_H

#include "evaluation.h"

/* What came of one, as the journal keeps it. Texts are never NULL but in a record of zeros. */
struct batch_record {
        enum status status;
        unsigned exit;
        enum code code; /* CODE_NONE: nothing but the grade */
        char *sha256, *outcome, *score, *test_score, *llm_score, *reason;
        uint64_t ms;
        uint64_t size, changed; /* of the submission: bytes, nanoseconds since 1970 */
};

struct batch_row {
        char *name;  /* of the result: NAME.json */
        char *entry; /* in `folder`, or a path */
        int folder;  /* borrowed; -EBADF: `entry` is a path */
        struct batch_record record;
        bool done;      /* the record is valid */
        bool kept;      /* from an earlier run */
        bool running;   /* its result is being written */
        bool evaluated; /* there is a result file */
};

struct batch_rows {
        struct batch_row *all;
        unsigned count;
        int *folders;
        unsigned folder_count;
};

/* All that `paths` name: each entry of a folder, in the order of names, but those that begin with a
 * dot and the directory `results`; or the file. Two of one name are a usage error. */
int batch_rows_find(
        struct batch_rows *b, char *const *paths, unsigned count, int results, struct error *err);
/* Open a submission for reading, never through a link that lies in a folder: that could be
 * anybody's. `size` and `changed` of its record are set. */
int batch_row_open(struct batch_row *row, struct error *err);
/* The rows in the order of their names: a new list of as many. NULL: out of memory. */
struct batch_named {
        const char *name;
        struct batch_row *row;
};
struct batch_named *batch_rows_by_name(const struct batch_rows *b, struct error *err);
int batch_named_compare(const void *left, const void *right);
void batch_record_free(struct batch_record *r);
void batch_rows_free(struct batch_rows *b);

#endif
