/* Asking the model until it gives a verdict: tries, pauses, and what to do when nothing helps. */
#ifndef ASSAY_JUDGE_CHAT_H
#define ASSAY_JUDGE_CHAT_H

#include "evaluators/judge/http.h"
#include "evaluators/judge/options.h"
#include "evaluators/judge/prompt.h"
#include "evaluators/judge/reply.h"

#include "images/digest.h"

struct chat {
        const struct judge_options *options;
        const struct judge_request *request;
        const struct prompt *prompt;
        struct http http;
        bool plain; /* the server refused a schema: the prompt alone says what is wanted */
        /* What became of it, over all runs. */
        unsigned requests;
        struct tokens tokens;
        char digest[DIGEST_SIZE]; /* of the body that the first run sent last */
};

/* One verdict. Runs differ in their seed, if there is one: it is the option's plus `run`. */
int chat_ask(struct chat *c, unsigned run, struct reply *ret, struct error *err);

/* How long to wait after so many failures (1 or more): `first_ms`, four times that, …, up to a half
 * longer by `random`; as long as the server asked for; never more than a minute. */
uint64_t chat_pause_ms(uint64_t first_ms, unsigned failures, uint64_t retry_after, uint32_t random);

#endif
