/* Scoring by itself: the documents of a request come from files of the caller, the answer is shown.
 * For verbs that start no cell. */
#ifndef ASSAY_SCORING_H
#define ASSAY_SCORING_H

#include "scorer.h"

#include <stdio.h>

/* A document of a request. */
struct scoring_file {
        enum score_document which;
        const char *path; /* "-": standard input; NULL: there is none */
        const char *what; /* for messages */
        uint64_t most;    /* bytes */
        int fd;
        enum code too_large;        /* CODE_NONE: that of an answer */
        const struct buffer *bytes; /* instead of a path: they are here */
};

enum { SCORING_MAX_FILES = 4 };

struct scoring {
        struct channel channel;
        struct scoring_file files[SCORING_MAX_FILES];
        unsigned file_count;
};

/* Start the supervisor and open the files with the caller's rights; root is given up afterwards. To
 * be closed in any case. */
int scoring_open(struct scoring *s, struct error *err);
void scoring_close(struct scoring *s);
/* Ask with these options, which are emptied, and the documents as they are now. */
int scoring_ask(struct scoring *s, enum helper_mode mode, unsigned request, struct buffer *options,
        scorer_take take, void *to, struct error *err);

/* A line of a problem in a document (TASK_PROBLEM): "PATH:LINE:COLUMN: KEY: what is wrong". */
void scoring_print_problem(struct reader *r, const char *path, FILE *to);

#endif
