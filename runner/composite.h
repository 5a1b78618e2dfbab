/* A composite score as assay-score answered it, every number as it came. */
#ifndef ASSAY_COMPOSITE_H
#define ASSAY_COMPOSITE_H

#include "report/json.h"
#include "scorer.h"

enum { COMPOSITE_PARTS = 5 }; /* the score, success, cost, latency, reliability */

struct composite {
        bool present, gate, passed;
        char *shown[COMPOSITE_PARTS]; /* decimals */
        char *exact[COMPOSITE_PARTS]; /* fractions */
        char **steps;                 /* of the explanation */
        unsigned step_count;
};

/* A frame of the answer (scorer_take). */
int composite_take(struct composite *c, unsigned type, struct reader *r, struct error *err);
void composite_free(struct composite *c);

const char *composite_outcome(const struct composite *c);
/* Members of the object that is open; and for people. */
void composite_json(const struct composite *c, struct json_writer *w);
void composite_text(const struct composite *c, struct buffer *out);

#endif
