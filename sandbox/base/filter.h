/* The words that system call tables (NAME/filter_table.h) are written in. A table is compiled
 * at build time (filter_gen.c) into an array that the program loads at run time.
 *
 * A table defines FILTER_OTHERWISE (what happens to calls it does not name) and FILTER_ROWS, a
 * list of rows:
 *
 *   ALLOW(call, "why")
 *   ALLOW_ZERO(call, argument, mask, "why")    only when none of the bits of mask is set
 *   ALLOW_VALUES(call, argument, "why", v, …)  only when the argument, as 32 bits, is one of v
 *   DENY_VALUES(call, argument, "why", v, …)   unless the argument, as 32 bits, is one of v
 *   DENY_MASKS(call, a, mask_a, b, mask_b, "why")  unless each argument has a bit of its mask
 *   DENY_PAIR(call, a, value, b, "why", v, …)  unless argument a is that value and b is one of v
 *   DENY(call, errno, "why")
 *
 * A call may have several rows with conditions: all are asked.
 *
 * A table may also define FILTER_PROFILES: an array `profiles` of struct filter_profile, each with
 * rows that replace those of the table. Then a program is compiled for each.
 *
 * What a row with a condition does not allow fails with EPERM. Conditions look at the low 32 bits
 * only, as the kernel does for such arguments: garbage above cannot slip past. */
#ifndef ASSAY_FILTER_H
#define ASSAY_FILTER_H

#include <stdint.h>

enum filter_rule {
        RULE_ALLOW,
        RULE_ALLOW_ZERO,
        RULE_ALLOW_VALUES,
        RULE_DENY_VALUES,
        RULE_DENY_MASKS,
        RULE_DENY_PAIR,
        RULE_DENY,
};

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
        uint32_t mask;   /* of RULE_ALLOW_ZERO and RULE_DENY_MASKS; the value of RULE_DENY_PAIR; the
                            errno of RULE_DENY */
        unsigned second; /* the other argument of RULE_DENY_MASKS and RULE_DENY_PAIR */
        uint32_t second_mask;
        const char *why;
        uint32_t values[FILTER_MAX_VALUES];
        unsigned value_count;
};

struct filter_profile {
        const char *name;
        const struct filter_row *rows;
        unsigned count;
};

#define FILTER_COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* clang-format off */
#define FILTER_ROW(call, rule, argument, mask, second, second_mask, why, ...)                      \
        {#call, rule, argument, mask, second, second_mask, why, {__VA_ARGS__}, FILTER_COUNT(__VA_ARGS__)},
#define ALLOW(call, why)                      {#call, RULE_ALLOW, 0, 0, 0, 0, why, {0}, 0},
#define DENY(call, err, why)                  {#call, RULE_DENY, 0, err, 0, 0, why, {0}, 0},
#define ALLOW_ZERO(call, argument, mask, why) {#call, RULE_ALLOW_ZERO, argument, mask, 0, 0, why, {0}, 0},
#define ALLOW_VALUES(call, argument, why, ...)                                                     \
        FILTER_ROW(call, RULE_ALLOW_VALUES, argument, 0, 0, 0, why, __VA_ARGS__)
#define DENY_VALUES(call, argument, why, ...)                                                      \
        FILTER_ROW(call, RULE_DENY_VALUES, argument, 0, 0, 0, why, __VA_ARGS__)
#define DENY_MASKS(call, a, mask_a, b, mask_b, why)                                                \
        {#call, RULE_DENY_MASKS, a, mask_a, b, mask_b, why, {0}, 0},
#define DENY_PAIR(call, a, value, b, why, ...)                                                     \
        FILTER_ROW(call, RULE_DENY_PAIR, a, value, b, 0, why, __VA_ARGS__)
/* clang-format on */

#endif
