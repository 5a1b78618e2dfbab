/* How many cells may run at a time. The memory limits of all cells of one evaluation never add up
 * to more than its total, so that none of them can be the victim of another's appetite; and there
 * are never more cells than the supervisor has descriptors for. What does not fit waits, first
 * come, first served. */
#ifndef ASSAY_ADMISSION_H
#define ASSAY_ADMISSION_H

#include "request.h"

struct waiting {
        struct cell_request request;
        struct buffer payload;
        struct waiting *next;
};

struct admission {
        uint64_t total; /* bytes; 0: as much as there is */
        uint64_t given; /* to cells that run */
        unsigned most, running;
        unsigned most_descriptors; /* of those that wait */
        struct waiting *first;
};

/* Is there room for it now? Then it is taken; give it back when the cell is gone. */
bool admission_take(struct admission *a, const struct cell_request *request);
void admission_give_back(struct admission *a, const struct limits *limits);

/* Keep a request until there is room; takes over both. -1 when it can never fit, or too many wait:
 * then they stay the caller's. */
int admission_wait(struct admission *a, struct cell_request *request, struct buffer *payload,
        struct error *err);
/* The first that waits, if there is room for it now, which is taken; NULL otherwise. */
struct waiting *admission_next(struct admission *a);
void waiting_free(struct waiting *w);
/* The one with this id, which is not wanted any more. */
bool admission_withdraw(struct admission *a, uint32_t id);
/* As if nothing had been asked for. */
void admission_reset(struct admission *a);

#endif
