/* Work in a process of its own, of which this one wants one message: what gives up its rights for
 * ever, while this process keeps them. */
#ifndef ASSAY_BESIDE_H
#define ASSAY_BESIDE_H

#include "frame.h"

/* Have `work` done by a child, which answers with one frame, put by it into `ret_payload`, whose
 * type it returns; -1: an error, which becomes `err`. */
typedef int (*beside_work)(void *to, struct buffer *ret_payload, struct error *err);
int beside_ask(beside_work work, void *to, struct frame *ret, struct error *err);
/* The same for a child that may be taken over: it has no descriptor of this process but the
 * standard ones, and is not waited for any longer than that. */
int beside_ask_alone(
        beside_work work, void *to, unsigned seconds, struct frame *ret, struct error *err);

#endif
