/* One question to a helper program, from its start to its end. Both helpers are asked here, so that
 * one place knows how they may fail: they read what outsiders wrote, and may have been taken over.
 */
#ifndef ASSAY_HELPER_H
#define ASSAY_HELPER_H

#include "channel.h"

/* Called for each frame of the answer: 1 it was the last, 0 more must come, -1 with `err`. What is
 * left in `r`, or bad in it, refuses the answer. */
typedef int (*helper_take)(void *to, unsigned type, struct reader *r, struct error *err);

struct helper_question {
        enum helper which;
        enum helper_mode mode;
        int input;                    /* borrowed */
        int tree;                     /* borrowed; -EBADF for the scorer */
        unsigned request;             /* the type of a first frame to it; 0: none */
        const struct buffer *payload; /* of that frame */
        unsigned error_type;          /* of the frame that carries an error */
        unsigned blamed;              /* whose fault, but ours, its input may be: 1 << class, … */
        enum code too_slow;           /* when it used up its processor time */
        unsigned patience;            /* seconds until it must have answered; 0: two minutes */
        uint64_t most;                /* bytes of its answer; 0: 64 MiB */
        bool must_finish;             /* tidying up: signals wait until it is done */
        int (*meanwhile)(void *to, struct error *err); /* work to do before its answer is heard */
        helper_take take;
        void *to; /* given to both */
};

/* Ask and wait. An error that the helper reports itself is `err`, with its own code; a helper that
 * died, or answered nonsense, is an error of class internal. Signals end it (interrupt.h). */
int helper_ask(struct channel *c, const struct helper_question *q, struct error *err);

/* The same in two steps, for several at once, at most CHANNEL_MAX_HELPERS: `socket` becomes
 * readable when there is something of the answer. What was begun must be finished or given up. */
struct helper_asked {
        struct helper_question question; /* its payload is not needed any more */
        int socket;
        uint32_t id;
};
int helper_begin(struct channel *c, const struct helper_question *q, struct helper_asked *ret,
        struct error *err);
int helper_finish(struct channel *c, struct helper_asked *a, struct error *err);
void helper_give_up(struct channel *c, struct helper_asked *a);

#endif
