/* The result that a waiting one becomes: what the scorer says of it, and its rows in a store. */
#ifndef ASSAY_FINAL_H
#define ASSAY_FINAL_H

#include "scorer.h"
#include "store_channel.h"

struct final_part {
        char *name, *weight, *score, *reasoning;
        enum final_source source;
};

struct final {
        struct buffer result, data; /* JSON; eval_pass_data, of one that is in a store */
        char *outcome, *score, *test_score, *llm_score, *exact, *summary;
        uint32_t scale;
        bool passed;
        struct final_part *parts;
        unsigned part_count;
};

#define FINAL_INIT                                                                                 \
        {                                                                                          \
                .result = BUFFER_INIT, .data = BUFFER_INIT                                         \
        }

void final_free(struct final *f);
/* Take the frames of an answer to REQUEST_FINALIZE (a scorer_take), and see that all are there. */
int final_take(void *to, unsigned type, struct reader *r, struct error *err);
int final_check(const struct final *f, bool with_data, struct error *err);

/* The result `id` of a store, and its eval_pass_data, unread. Needs the caller's rights. */
int final_find(const char *url, const char *id, struct buffer *ret_result, struct buffer *ret_data,
        struct error *err);
/* Append what it becomes: -1 and result.final where somebody was faster. `c` was opened with the
 * order to supersede it. */
int final_append(struct store_channel *c, const struct final *f, struct error *err);

#endif
