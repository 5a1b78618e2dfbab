/* The first look at JSON of outsiders: is it strict JSON, within bounds, and where is what?
 *
 * jansson makes the tree but neither keeps places nor the digits of numbers, and it names its
 * own limits instead of ours. So this scan decides what is accepted and leaves a mark for each
 * value, in the order in which they begin. jansson keeps members in the order they were written,
 * so a walk over its tree and over the marks meets the same values (json.h does that). */
#ifndef ASSAY_EVALUATORS_JSON_SCAN_H
#define ASSAY_EVALUATORS_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Bounds the memory of the tree, whatever the file's size. A benchmark raises it. */
#ifndef JSON_MAX_VALUES
#define JSON_MAX_VALUES 1000000
#endif

struct json_mark {
        uint32_t key;        /* offset of the member's key; without key, of the value */
        uint32_t start, end; /* the value's own bytes */
        uint32_t next;       /* the first mark behind this value and all it holds */
};

struct json_marks {
        struct json_mark *list; /* owned; free() it, whatever json_scan() returned */
        uint32_t count, room;
};

/* NULL, or a sentence saying what is wrong at `ret_at`. */
const char *json_scan(
        const unsigned char *text, size_t len, struct json_marks *ret, size_t *ret_at);

#endif
