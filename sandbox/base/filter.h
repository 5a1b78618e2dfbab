/* The words that system call tables (NAME/filter_table.h) are written in. A table is compiled by
 * libseccomp at build time (filter_gen.c) into an array that the program loads at run time.
 *
 * A table defines FILTER_OTHERWISE (what happens to calls it does not name) and FILTER_ROWS, a
 * list of rows:
 *
 *   ALLOW(call, "why")
 *   ALLOW_ZERO(call, argument, mask, "why")    only when none of the bits of mask is set
 *   ALLOW_VALUES(call, argument, "why", v, …)  only when the argument, as 32 bits, is one of v
 *   DENY_VALUES(call, argument, "why", v, …)   unless the argument, as 32 bits, is one of v
 *   DENY(call, errno, "why")
 *
 * A table may also define FILTER_PROFILES: an array `profiles` of struct filter_profile, each with
 * rows that replace those of the table. Then a program is compiled for each.
 *
 * What a row with a condition does not allow fails with EPERM. Conditions look at the low 32 bits
 * only, as the kernel does for such arguments: garbage above cannot slip past. */
#ifndef ASSAY_FILTER_H
#define ASSAY_FILTER_H

#include <stdint.h>

enum filter_rule { RULE_ALLOW, RULE_ALLOW_ZERO, RULE_ALLOW_VALUES, RULE_DENY_VALUES, RULE_DENY };

enum { FILTER_MAX_VALUES = 8 };

/* What the compiled header says of a call, by number. */
struct filter_call {
        const char *name;
        int denied_with; /* the errno, where it is denied */
        const char *why;
};

struct filter_row {
        const char *call;
        enum filter_rule rule;
        unsigned argument;
        uint32_t mask; /* RULE_ALLOW_ZERO; the errno of RULE_DENY */
        const char *why;
        uint32_t values[FILTER_MAX_VALUES];
        unsigned value_count;
};

struct filter_profile {
        const char *name;
        const struct filter_row *rows;
        unsigned count;
};

#define FILTER_COUNT(...)                     (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define ALLOW(call, why)                      {#call, RULE_ALLOW, 0, 0, why, {0}, 0},
#define DENY(call, err, why)                  {#call, RULE_DENY, 0, err, why, {0}, 0},
#define ALLOW_ZERO(call, argument, mask, why) {#call, RULE_ALLOW_ZERO, argument, mask, why, {0}, 0},
#define ALLOW_VALUES(call, argument, why, ...)                                                     \
        {#call, RULE_ALLOW_VALUES, argument, 0, why, {__VA_ARGS__}, FILTER_COUNT(__VA_ARGS__)},
#define DENY_VALUES(call, argument, why, ...)                                                      \
        {#call, RULE_DENY_VALUES, argument, 0, why, {__VA_ARGS__}, FILTER_COUNT(__VA_ARGS__)},

#endif
