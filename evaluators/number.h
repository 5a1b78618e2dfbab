/* Numbers of outsiders: read from their digits (decimal.h), computed exactly, rounded once. Any
 * exact fraction computed from a number within its bounds fits SCORE_MAX_NAME bytes. Pure. */
#ifndef ASSAY_EVALUATORS_NUMBER_H
#define ASSAY_EVALUATORS_NUMBER_H

#include "decimal.h"

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_PLAIN_SIZE = SCORE_MAX_PLAIN + 1 };

/* The value of a text that is one number and nothing else; -1 otherwise. */
int number_parse(mpq_t ret, const char *text);
/* The same for what number_plain() wrote, which may have more digits. */
int number_parse_plain(mpq_t ret, const char *text);
/* The same, or a fraction as number_fraction() writes it. Neither is negative. */
int number_parse_exact(mpq_t ret, const char *text);
/* The text is such a number and least <= number <= most. */
bool number_between(const char *text, unsigned long least, unsigned long most);
/* The text is such a number, whole (60, 60.0, 6e1) and at most `most`; -1 otherwise. */
int number_whole(const char *text, uint64_t most, uint64_t *ret);

/* The number without an exponent and with its digits as they were written: 1.50e1 is "15.0". The
 * text must be one number; `size` of at least NUMBER_PLAIN_SIZE always has room. */
void number_plain(const char *text, char *out, size_t size);

/* Round to `places` decimals, half up. */
void number_round(mpq_t x, unsigned places);
/* A number that is not negative and was rounded to `places`, with all of them: "84.00". */
void number_format(const mpq_t x, unsigned places, char *out, size_t size);
/* The reduced fraction: "21/25", "84". */
void number_fraction(const mpq_t x, char *out, size_t size);

#endif
