/* How alike two texts are, whatever their case, spaces and forms of letters. Pure. */
#ifndef ASSAY_EVALUATORS_LIKENESS_H
#define ASSAY_EVALUATORS_LIKENESS_H

#include <stddef.h>
#include <stdint.h>

enum {
        LIKENESS_MOST = 100000,                   /* code points of a text in its normal form */
        LIKENESS_MOST_BYTES = 16 * LIKENESS_MOST, /* before that */
};

/* Code points; owned. */
struct likeness_text {
        uint32_t *points;
        size_t count;
};

/* The NFC of the case fold of valid UTF-8, white space trimmed and runs of it made one space. 0; 1:
 * it is too long; -1: no memory. To be freed in any case. */
int likeness_normalise(const char *text, size_t len, struct likeness_text *ret);
void likeness_free(struct likeness_text *t);

/* Levenshtein's distance; SIZE_MAX: no memory. */
size_t likeness_distance(const struct likeness_text *a, const struct likeness_text *b);

#endif
