/* What a result that waited becomes: once all is computed, the documents of it (finalize.c). */
#ifndef ASSAY_FINALIZE_DOCUMENT_H
#define ASSAY_FINALIZE_DOCUMENT_H

#include "stored.h"
#include "verdict.h"

/* A number for readers, and exactly, as long as that gets. */
struct shown {
        char decimal[SCORE_MAX_NAME];
        char *exact;
};

struct final {
        const struct json *doc, *data; /* the second: eval_pass_data; NULL: none was given */
        const struct stored *old;
        const struct verdict *verdict; /* its opinions are none where a number was given */
        const char *id, *number;
        struct shown score, test, llm; /* of a blend; of dimensions the sum */
        struct shown rows[STORED_MOST_DIMENSIONS], weighted[STORED_MOST_DIMENSIONS];
        const char *outcome;
        unsigned long total; /* of dimensions */
        bool passed;
};

static inline bool final_is_dimensions(const struct final *f)
{
        return f->old->scheme == SCHEME_DIMENSIONS;
}

/* What the verdict says of that criterion; NULL: nothing. */
const struct opinion *final_opinion(const struct verdict *v, const char *name);
/* The new result; and what a store keeps beside it. */
void final_write(const struct final *f, struct buffer *text);
void final_write_data(const struct final *f, struct buffer *text);

#endif
