/* What the runner waits for while cells run: descriptors, each with a function that is called when
 * there is something. */
#ifndef ASSAY_LOOP_H
#define ASSAY_LOOP_H

#include "error.h"

#include <poll.h>

struct watch {
        int fd; /* negative: not now */
        short events;
        /* -1 ends the loop with `err`: what concerns one peer alone must not. */
        int (*ready)(void *to, short seen, struct error *err);
        void *to;
};

enum { LOOP_MAX = 2048 };

struct loop {
        struct watch *watches[LOOP_MAX]; /* borrowed; NULL: taken away during this turn */
        unsigned count;
};

/* -1: there are too many. */
int loop_add(struct loop *l, struct watch *w, struct error *err);
/* May be called while the loop turns, also by the watch itself. */
void loop_remove(struct loop *l, struct watch *w);
/* Wait, at most `milliseconds` (-1: for ever) or until a signal comes (interrupt.h), and call who
 * has something. */
int loop_turn(struct loop *l, int milliseconds, struct error *err);

#endif
