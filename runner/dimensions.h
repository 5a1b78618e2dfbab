/* What assay-score answers about dimensions, as it came; and asking for it. */
#ifndef ASSAY_DIMENSIONS_H
#define ASSAY_DIMENSIONS_H

#include "report/json.h"
#include "scorer.h"

enum { DIMENSIONS_MAX = 16 };

struct dimension_row {
        char *name, *label, *description, *colour, *criterion;
        char *score, *weight, *weighted;    /* decimals */
        char *exact_score, *exact_weighted; /* fractions; of what waits for the judge all are "" */
};

struct dimension_warning {
        bool error; /* else advice */
        char *field, *message;
};

struct violation {
        char *constraint, *limit, *actual;
};

/* What an agent did, as it says itself or its harness has signed. */
struct trajectory_verdict {
        bool given, valid;
        bool is_signed; /* by a harness whose key the store has */
        char *why;      /* it is not valid, or "" */
};

struct dimensions {
        bool present;            /* there is a total */
        unsigned total, outcome; /* 0 win, 1 draw, 2 loss */
        char *sum;               /* a fraction: before it is capped and floored */
        struct dimension_row rows[DIMENSIONS_MAX];
        unsigned row_count;
        struct dimension_warning *warnings;
        unsigned warning_count;
        struct violation violations[3];
        unsigned violation_count;
        struct trajectory_verdict trajectory;
        char **steps; /* of the explanation */
        unsigned step_count;
};

/* A frame of the answer (scorer_take). */
int dimensions_take(struct dimensions *d, unsigned type, struct reader *r, struct error *err);
void dimensions_free(struct dimensions *d);

const char *dimensions_outcome(const struct dimensions *d);
/* Members of the object that is open; and their parts: the scores, elements of the array of
 * warnings that is open, the violations, and what the trajectory is, where there is one. */
void dimensions_json(const struct dimensions *d, struct json_writer *w);
void dimensions_json_breakdown(const struct dimensions *d, struct json_writer *w);
void dimensions_json_scores(const struct dimensions *d, struct json_writer *w);
void dimensions_json_warnings(const struct dimensions *d, struct json_writer *w);
void dimensions_json_violations(const struct dimensions *d, struct json_writer *w);
void dimensions_json_trajectory(const struct dimensions *d, struct json_writer *w);
/* For people, a line for each dimension. */
void dimensions_text(const struct dimensions *d, struct buffer *out);

#endif
