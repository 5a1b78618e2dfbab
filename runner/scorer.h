/* Asking assay-score: a descriptor goes in, checked frames come out. */
#ifndef ASSAY_SCORER_H
#define ASSAY_SCORER_H

#include "channel.h"
#include "evaluators/messages.h"

/* Called for each frame of an answer but the last; takes its fields from `r`, which must be done
 * afterwards. -1 refuses the frame. */
typedef int (*scorer_take)(void *to, unsigned type, struct reader *r, struct error *err);

/* Run the scorer in `mode` on `input` (borrowed) and hand every frame of its answer to `take`.
 * An error that it reports itself (a bad task, a bad result) is `err`, with its own code. */
int scorer_ask(struct channel *c, enum helper_mode mode, int input, scorer_take take, void *to,
        struct error *err);
/* A `take` that keeps an answer in a buffer; and that answer again, to another one. */
int scorer_record(void *to, unsigned type, struct reader *r, struct error *err);
int scorer_replay(const struct buffer *answer, scorer_take take, void *to, struct error *err);

/* A request of several frames, as a file to ask with; -1. To be ended, then closed. */
int scorer_request(struct error *err);
/* One frame; the payload is emptied. */
int scorer_put(int request, unsigned type, struct buffer *payload, struct error *err);
/* A document: what can be read from `from`, which is left where it ends; more than `most` bytes is
 * an error with `too_large`. */
int scorer_put_document(int request, enum score_document which, int from, uint64_t most,
        enum code too_large, struct error *err);
/* The same of bytes that are here. */
int scorer_put_bytes(
        int request, enum score_document which, const struct buffer *bytes, struct error *err);
int scorer_end_request(int request, struct error *err);

/* A text field on the heap, at most `max` bytes; NULL (and r->bad) when it is no such text. */
char *scorer_text(struct reader *r, size_t max);
/* A decimal number as assay-score writes it: digits, no needless zero in front, at most one sign
 * and one point. */
bool scorer_is_decimal(const char *text);
/* Of two that have no sign: below 0, 0 or above. */
int scorer_compare(const char *a, const char *b);
/* What was computed: such a number without a sign, or "21/25". */
bool scorer_is_exact(const char *text);
/* Such a number from 0 to 100, of at most SCORE_MAX_PLAIN bytes. */
bool scorer_is_score(const char *text);

#endif
