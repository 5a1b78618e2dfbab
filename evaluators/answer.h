/* Answers: frames in a buffer (messages.h says which, frame.h how a frame looks). Pure. */
#ifndef ASSAY_EVALUATORS_ANSWER_H
#define ASSAY_EVALUATORS_ANSWER_H

#include "messages.h"

#include "frame.h"

#include <gmp.h>

/* Begin a frame, put its fields, end it with what answer_begin() returned. */
size_t answer_begin(struct buffer *out, enum score_message type);
void answer_end(struct buffer *out, size_t at);

/* Whole frames. */
void answer_empty(struct buffer *out, enum score_message type);
void answer_error(struct buffer *out, const struct error *err);
void answer_error_as(struct buffer *out, enum score_message type, const struct error *err);
void answer_problem(
        struct buffer *out, unsigned line, unsigned column, const char *key, const char *text);
/* A number of an outsider as a text field: plain digits, whatever form it was written in; empty
 * stays empty. */
void put_number(struct buffer *out, const char *text);
/* A text that is cut at a character where it has more than `most` bytes: for people, not for us. */
void put_cut(struct buffer *out, const char *text, size_t most);
/* A number of ours as its reduced fraction: "21/25", "84". */
void put_exact(struct buffer *out, const mpq_t x);
/* The same rounded to some decimals, half up: "0.84". */
void put_rounded(struct buffer *out, const mpq_t x, unsigned places);
/* u32 n + n × text, of a list of them. */
struct list;
void put_texts(struct buffer *out, const struct list *texts);
void answer_warning(struct buffer *out, const char *field, const char *text);

/* The next frame of `r`, as a view of its payload. False at the end; then r->bad tells whether
 * a frame ended too early or carried descriptors. */
bool answer_next(struct reader *r, uint16_t *ret_type, struct reader *ret_payload);

#endif
