/* The digits of numbers of outsiders. Pure.
 *
 * A number is what JSON calls one, of at most SCORE_MAX_DIGITS digits and an exponent between
 * -NUMBER_MAX_EXPONENT and NUMBER_MAX_EXPONENT. Within these bounds it always fits a double (so
 * jansson takes it). */
#ifndef ASSAY_EVALUATORS_DECIMAL_H
#define ASSAY_EVALUATORS_DECIMAL_H

#include "messages.h"

#include <stdbool.h>
#include <stddef.h>

enum {
        NUMBER_MAX_EXPONENT = 100,
        NUMBER_TEXT_SIZE = 40, /* sign, digits, point, exponent and NUL */
};

/* The number at the start of a text: its value is ± digits × 10^exponent. */
struct decimal {
        bool negative;
        char digits[SCORE_MAX_DIGITS + 1];
        int exponent;
        size_t length; /* in the text; where the fault is when there is one */
};

/* NULL, or what is wrong at ret->length. What follows the number is the caller's. */
const char *decimal_scan(const char *text, size_t len, struct decimal *ret);

#endif
