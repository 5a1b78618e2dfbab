/* Numbers that may differ a little, exactly: each is its digits and a power of ten, and no fraction
 * needs to be reduced. Pure. */
#ifndef ASSAY_EVALUATORS_COMPARE_NUMBER_H
#define ASSAY_EVALUATORS_COMPARE_NUMBER_H

#include "decimal.h"

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

/* digits × 10^exponent */
struct scaled {
        mpz_t digits;
        int exponent;
};

struct tolerance {
        char abs_text[NUMBER_TEXT_SIZE], rel_text[NUMBER_TEXT_SIZE];
        struct scaled abs, rel;
        /* Of the tokens at hand; here so that their memory is used again. */
        struct scaled expected, actual, difference, allowed, power;
};

enum closeness {
        NUMBERS_NOT_BOTH, /* one of them is no number */
        NUMBERS_APART,
        NUMBERS_CLOSE, /* |expected − actual| ≤ abs, or ≤ rel × |expected| */
};

void tolerance_init(struct tolerance *t);
void tolerance_free(struct tolerance *t);
/* -1 when one is neither empty nor a number of at least 0. */
int tolerance_set(struct tolerance *t, const char *abs, const char *rel);

/* Two tokens, as programs print numbers: what decimal.h takes, and also a plus sign, zeros in
 * front, `.5` and `5.`. */
enum closeness tolerance_compare(struct tolerance *t, const unsigned char *expected,
        size_t expected_len, const unsigned char *actual, size_t actual_len);

#endif
