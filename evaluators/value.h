/* Values of JSON compared as scores mean it: numbers by value, members in any order. Pure. */
#ifndef ASSAY_EVALUATORS_VALUE_H
#define ASSAY_EVALUATORS_VALUE_H

#include "json.h"

#include <gmp.h>

/* Deep equality: 1 is 1.0, true is not 1, "1" is not 1; texts by their bytes. */
bool value_equal(struct json_value a, struct json_value b);

/* Equal values have equal hashes; `seed` keeps others from choosing values that collide. */
uint64_t value_hash(struct json_value v, uint64_t seed);

/* Different items of an array, to be asked for. */
struct value_set {
        struct json_value *items; /* owned; at most one of equal ones */
        uint64_t *hashes;         /* owned; of them */
        uint32_t *slots;          /* owned; 1 + index, or 0 */
        size_t count, room;
};
/* -1: no memory. To be freed in both cases. */
int value_set_make(struct value_set *ret, struct json_value array);
void value_set_free(struct value_set *s);
/* How many of one are in the other. */
size_t value_set_common(const struct value_set *a, const struct value_set *b);

/* The value of a number. */
void value_number(struct json_value v, mpq_t ret);
/* The value under a key of an object, whatever the key looks like. */
bool value_member(struct json_value object, const char *key, struct json_value *ret);
/* The value under a key of an object, or, when `field` begins with /, at that JSON Pointer. */
bool value_find(struct json_value root, const char *field, struct json_value *ret);

#endif
