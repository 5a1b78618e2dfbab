/* Regular expressions of tasks: POSIX extended, of bytes. `^` and `$` are the ends of the whole
 * text, and a newline is a byte like others. Pure; no memory but the struct is needed.
 *
 * An expression is compiled to steps, and all ways through them are followed at once: time grows
 * with the length of the text times at most the number of steps, whatever text a hostile program
 * makes. The C library's matcher may need the square of the length, or more memory than there is,
 * and takes a newline for a place where ^ matches. */
#ifndef ASSAY_EVALUATORS_PATTERN_H
#define ASSAY_EVALUATORS_PATTERN_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        PATTERN_MAX_LENGTH = 1000, /* bytes of an expression */
        PATTERN_MAX_COUNT = 255,   /* of a repetition */
        PATTERN_MAX_STEPS = 2000,  /* once repetitions are written out */
        PATTERN_MAX_SETS = PATTERN_MAX_LENGTH / 3 + 1,
};

enum step_kind {
        STEP_BYTE, /* takes that byte, as the next two take one of some; then the step behind it */
        STEP_ANY,
        STEP_SET,
        STEP_FORK,  /* both the step behind it and the one at `to` */
        STEP_JUMP,  /* the one at `to` */
        STEP_BEGIN, /* the step behind it, at the beginning of the text */
        STEP_END,   /* the same at its end */
        STEP_MATCH,
};

struct step {
        uint8_t kind; /* enum step_kind */
        uint8_t byte;
        int16_t to; /* from here, so that steps can be moved and copied; of STEP_SET which one */
};

struct byte_set {
        uint32_t bits[256 / 32];
};

struct pattern {
        size_t count, set_count;
        struct step steps[PATTERN_MAX_STEPS];
        struct byte_set sets[PATTERN_MAX_SETS];
        struct byte_set first; /* what a match can begin with */
};

/* What is wrong with the expression is task.invalid. */
int pattern_compile(struct pattern *ret, const void *text, size_t len, struct error *err);
/* Whether some part of the text matches. */
bool pattern_match(const struct pattern *p, const void *text, size_t len);
/* For pattern_compile(): p->first, from the steps. */
void pattern_find_first(struct pattern *p);

#endif
