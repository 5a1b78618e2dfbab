/* Writing JSON, by the runner, assay-judge and assay-score. Whatever bytes go in, valid UTF-8 and
 * valid JSON come out: what is no UTF-8 becomes U+FFFD. */
#ifndef ASSAY_REPORT_JSON_H
#define ASSAY_REPORT_JSON_H

#include "buffer.h"

#include <stdint.h>

enum { JSON_MAX_DEPTH = 80 }; /* of ours, and below it a value of somebody else */

struct json_writer {
        struct buffer *out;
        bool compact; /* on one line */
        unsigned depth;
        bool array[JSON_MAX_DEPTH];
        bool used[JSON_MAX_DEPTH]; /* something was written at that depth */
};

/* `key` is NULL for elements of an array and for the outermost value. */
void json_open_object(struct json_writer *w, const char *key);
void json_open_array(struct json_writer *w, const char *key);
void json_close(struct json_writer *w);
void json_text(struct json_writer *w, const char *key, const char *text);
void json_bytes(struct json_writer *w, const char *key, const void *bytes, size_t len);
void json_number(struct json_writer *w, const char *key, uint64_t value);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_add_null(struct json_writer *w, const char *key);
/* A value that is JSON already, as it is. */
void json_document(struct json_writer *w, const char *key, const void *bytes, size_t len);
/* A number that is text already, such as a score of assay-score. */
void json_decimal(struct json_writer *w, const char *key, const char *digits);

#endif
