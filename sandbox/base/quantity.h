/* Amounts as people write them: whole numbers, sizes ("500MiB"), durations ("2s", "250ms").
 * Pure. Used for the command line and, by assay-score, for task files. */
#ifndef ASSAY_QUANTITY_H
#define ASSAY_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* Each returns 0, or -1 when the text is anything else (sign, space, empty, overflow, unit). */
int quantity_parse_count(const char *text, uint64_t *ret_value);
/* Bytes: a whole number with an optional unit B, KiB, MiB, GiB, kB, MB, GB. */
int quantity_parse_bytes(const char *text, uint64_t *ret_bytes);
/* Microseconds: a decimal number with a unit us, ms, s, m or h. */
int quantity_parse_duration(const char *text, uint64_t *ret_us);
/* A whole or decimal number of at most three places as thousandths: "1.5" is 1500. */
int quantity_parse_milli(const char *text, uint64_t *ret_milli);

/* "256 MiB", "600 s", "1.5 s": the shortest exact form. */
void quantity_format_bytes(char *out, size_t size, uint64_t bytes);
void quantity_format_duration(char *out, size_t size, uint64_t us);

#endif
