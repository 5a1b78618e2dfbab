/* What a chat API answered, and the verdict of the model in it: taken whole or refused. Pure. */
#ifndef ASSAY_JUDGE_REPLY_H
#define ASSAY_JUDGE_REPLY_H

#include "evaluators/judge/request.h"

/* Of all answers, also of those that were refused: they were paid for. */
struct tokens {
        uint64_t prompt, completion;
        bool known; /* some answer told */
};

struct opinion {
        const char *reasoning;
        char score[NUMBER_TEXT_SIZE]; /* 0 to 100, as the model wrote it */
};

struct opinions {
        const char *summary;
        struct opinion of[]; /* one for each criterion of the rubric, in its order */
};

/* Texts point into the documents. */
struct reply {
        struct buffer body;
        struct json envelope, verdict;
        const char *model; /* "": the server did not tell */
        struct opinions *opinions;
};
#define REPLY_INIT                                                                                 \
        {                                                                                          \
                .body = BUFFER_INIT, .envelope = JSON_INIT, .verdict = JSON_INIT                   \
        }

/* Read ret->body, which the caller filled. */
int reply_read(
        struct reply *ret, const struct judge_request *q, struct tokens *tokens, struct error *err);
void reply_free(struct reply *r);

/* What the server says went wrong, of the body of an answer that is none; "" if that is unclear. */
void reply_complaint(const struct buffer *body, char *out, size_t size);

#endif
