/* Comparing values; see value.h. Recursion ends at SCORE_MAX_DEPTH, as the documents do. */
#include "value.h"

#include "number.h"

#include <stdlib.h>

/* --- numbers -------------------------------------------------------------------------------- */

/* In its one form: no zero at either end of the digits; 0 has none and no sign. */
static void canonical(struct json_value v, struct decimal *ret)
{
        size_t zeros, len, size;
        const char *text = json_raw(v, &size);

        decimal_scan(text, size, ret);
        zeros = strspn(ret->digits, "0");
        len = strlen(ret->digits) - zeros;
        memmove(ret->digits, ret->digits + zeros, len + 1);
        while (len > 0 && ret->digits[len - 1] == '0') {
                ret->digits[--len] = '\0';
                ret->exponent++;
        }
        if (len == 0) {
                ret->negative = false;
                ret->exponent = 0;
        }
}

static bool equal_numbers(struct json_value a, struct json_value b)
{
        size_t left_size, right_size;
        const char *left = json_raw(a, &left_size), *right = json_raw(b, &right_size);
        struct decimal l, r;

        if (left_size == right_size && memcmp(left, right, left_size) == 0)
                return true;
        canonical(a, &l);
        canonical(b, &r);
        return l.negative == r.negative && l.exponent == r.exponent &&
               strcmp(l.digits, r.digits) == 0;
}

void value_number(struct json_value v, mpq_t ret)
{
        char text[NUMBER_TEXT_SIZE];

        json_number_text(v, text, sizeof text);
        number_parse(ret, text);
}

/* --- equality ------------------------------------------------------------------------------- */

struct member {
        const char *key;
        struct json_value value;
};

static int compare_members(const void *left, const void *right)
{
        const struct member *l = left, *r = right;

        return strcmp(l->key, r->key);
}

/* Sorted by key; NULL: no memory, or there are none. */
static struct member *members_of(struct json_value object, size_t count)
{
        struct member *list = count > 0 ? malloc(count * sizeof *list) : NULL, *m = list;
        struct json_value child;

        if (!list)
                return NULL;
        for (struct json_walk w = json_walk(object); json_next(&w, &child); m++)
                *m = (struct member){w.key, child};
        qsort(list, count, sizeof *list, compare_members);
        return list;
}

static bool equal_objects(struct json_value a, struct json_value b)
{
        const size_t count = json_object_size(a.node);
        struct member *l, *r;
        bool equal;

        if (count != json_object_size(b.node))
                return false;
        l = members_of(a, count);
        r = members_of(b, count);
        equal = count == 0 || (l && r);
        for (size_t i = 0; equal && i < count; i++)
                equal = strcmp(l[i].key, r[i].key) == 0 && value_equal(l[i].value, r[i].value);
        free(l);
        free(r);
        return equal;
}

static bool equal_arrays(struct json_value a, struct json_value b)
{
        struct json_walk v = json_walk(a), w = json_walk(b);
        struct json_value left = a, right = b;

        if (json_array_size(a.node) != json_array_size(b.node))
                return false;
        while (json_next(&v, &left) && json_next(&w, &right))
                if (!value_equal(left, right))
                        return false;
        return true;
}

bool value_equal(struct json_value a, struct json_value b)
{
        if (!a.node || !b.node || json_typeof(a.node) != json_typeof(b.node))
                return false;
        switch (json_typeof(a.node)) {
        case JSON_OBJECT:
                return equal_objects(a, b);
        case JSON_ARRAY:
                return equal_arrays(a, b);
        case JSON_STRING:
                return json_string_length(a.node) == json_string_length(b.node) &&
                       memcmp(json_string_value(a.node), json_string_value(b.node),
                               json_string_length(a.node)) == 0;
        case JSON_REAL:
        case JSON_INTEGER:
                return equal_numbers(a, b);
        default:
                return true;
        }
}

/* --- hashing -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
        const __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15) * (b | 1);

        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
        const unsigned char *p = bytes;
        uint64_t h = mix(seed, len + 1), word = 0;

        for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
                memcpy(&word, p, sizeof word);
                h = mix(h ^ word, seed ^ 0xa0761d6478bd642f);
        }
        word = 0;
        memcpy(&word, p, len);
        return mix(h ^ word, seed ^ 0xe7037ed1a0b428db);
}

/* Few digits as a whole number, without taking them apart: most are that. */
static bool small_whole(const char *text, size_t len, uint64_t *ret_digits, int *ret_exponent)
{
        enum { FEW = 18 };
        uint64_t value = 0;

        if (len > FEW)
                return false;
        for (size_t i = 0; i < len; i++) {
                if (text[i] < '0' || text[i] > '9')
                        return false;
                value = 10 * value + (uint64_t)(text[i] - '0');
        }
        for (*ret_exponent = 0; value > 0 && value % 10 == 0; value /= 10)
                (*ret_exponent)++;
        *ret_digits = value;
        return true;
}

static uint64_t hash_number(struct json_value v, uint64_t seed)
{
        size_t size;
        const char *text = json_raw(v, &size);
        struct decimal d = {.negative = false};
        uint64_t digits;
        int unused;

        if (!small_whole(text, size, &digits, &d.exponent)) {
                canonical(v, &d);
                if (!small_whole(d.digits, strlen(d.digits), &digits, &unused))
                        digits = hash_bytes(d.digits, strlen(d.digits), seed);
        }
        return mix(digits ^ seed, mix((uint64_t)(int64_t)(2 * d.exponent + d.negative), seed));
}

static uint64_t hash_children(struct json_value v, uint64_t seed)
{
        struct json_value child;
        uint64_t h = 0;

        for (struct json_walk w = json_walk(v); json_next(&w, &child);) {
                uint64_t one = value_hash(child, seed);

                if (w.key)
                        h += mix(hash_bytes(w.key, strlen(w.key), seed), one);
                else
                        h = mix(h ^ one, seed ^ 0x8ebc6af09c88c6e3);
        }
        return h;
}

uint64_t value_hash(struct json_value v, uint64_t seed)
{
        const uint64_t type = (uint64_t)json_typeof(v.node);

        switch (json_typeof(v.node)) {
        case JSON_OBJECT:
        case JSON_ARRAY:
                return mix(hash_children(v, seed), seed + type);
        case JSON_STRING:
                return hash_bytes(
                        json_string_value(v.node), json_string_length(v.node), seed + type);
        case JSON_REAL:
        case JSON_INTEGER:
                return hash_number(v, seed);
        default:
                return mix(type, seed);
        }
}

/* --- sets ----------------------------------------------------------------------------------- */

/* The slot of an equal item, or the empty one where it would go. */
static uint32_t *find_slot(const struct value_set *s, struct json_value v, uint64_t hash)
{
        size_t at = hash & (s->room - 1);

        for (; s->slots[at]; at = (at + 1) & (s->room - 1)) {
                const size_t i = s->slots[at] - 1;

                if (s->hashes[i] == hash && value_equal(s->items[i], v))
                        break;
        }
        return &s->slots[at];
}

int value_set_make(struct value_set *ret, struct json_value array)
{
        const size_t count = json_array_size(array.node);
        const uint64_t seed = json_random();
        struct json_value item;

        *ret = (struct value_set){.room = 8};
        while (ret->room < 2 * count)
                ret->room *= 2;
        ret->items = calloc(count + 1, sizeof *ret->items);
        ret->hashes = malloc((count + 1) * sizeof *ret->hashes);
        ret->slots = calloc(ret->room, sizeof *ret->slots);
        if (!ret->items || !ret->hashes || !ret->slots)
                return -1;
        for (struct json_walk w = json_walk(array); json_next(&w, &item);) {
                const uint64_t hash = value_hash(item, seed);
                uint32_t *slot = find_slot(ret, item, hash);

                if (*slot)
                        continue;
                ret->items[ret->count] = item;
                ret->hashes[ret->count] = hash;
                *slot = (uint32_t)++ret->count;
        }
        return 0;
}

void value_set_free(struct value_set *s)
{
        free(s->items);
        free(s->hashes);
        free(s->slots);
        *s = (struct value_set){0};
}

size_t value_set_common(const struct value_set *a, const struct value_set *b)
{
        size_t common = 0;

        for (size_t i = 0; i < a->count; i++)
                common += *find_slot(b, a->items[i], a->hashes[i]) != 0;
        return common;
}

/* --- finding -------------------------------------------------------------------------------- */

static bool find_member(
        struct json_value object, const char *key, size_t len, struct json_value *ret)
{
        if (!json_is_object(object.node))
                return false;
        for (struct json_walk w = json_walk(object); json_next(&w, ret);)
                if (strlen(w.key) == len && memcmp(w.key, key, len) == 0)
                        return true;
        return false;
}

bool value_member(struct json_value object, const char *key, struct json_value *ret)
{
        return find_member(object, key, strlen(key), ret);
}

static bool find_item(
        struct json_value array, const char *index, size_t len, struct json_value *ret)
{
        size_t wanted = 0;

        if (len == 0 || len > 9 || (len > 1 && *index == '0'))
                return false;
        for (size_t i = 0; i < len; i++) {
                if (index[i] < '0' || index[i] > '9')
                        return false;
                wanted = 10 * wanted + (size_t)(index[i] - '0');
        }
        for (struct json_walk w = json_walk(array); json_next(&w, ret);)
                if (w.index == wanted)
                        return true;
        return false;
}

/* A step of a JSON Pointer: ~1 is /, ~0 is ~. */
static bool unescape(const char *from, size_t len, char *to, size_t *ret_len)
{
        size_t n = 0;

        for (size_t i = 0; i < len; i++) {
                char c = from[i];

                if (c == '~') {
                        if (++i == len || (from[i] != '0' && from[i] != '1'))
                                return false;
                        c = from[i] == '1' ? '/' : '~';
                }
                to[n++] = c;
        }
        *ret_len = n;
        return true;
}

bool value_find(struct json_value root, const char *field, struct json_value *ret)
{
        *ret = root;
        if (*field != '/')
                return value_member(root, field, ret);
        while (*field == '/') {
                const size_t len = strcspn(field + 1, "/");
                char step[SCORE_MAX_NAME + 1];
                struct json_value parent = *ret;
                size_t n;

                if (len > SCORE_MAX_NAME || !unescape(field + 1, len, step, &n))
                        return false;
                if (!(json_is_array(parent.node) ? find_item(parent, step, n, ret)
                                                 : find_member(parent, step, n, ret)))
                        return false;
                field += 1 + len;
        }
        return true;
}
