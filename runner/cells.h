/* The cells of an evaluation that run at the moment: what they print is kept, what they read is
 * written, and their ends are told. */
#ifndef ASSAY_CELLS_H
#define ASSAY_CELLS_H

#include "channel.h"
#include "log.h"
#include "loop.h"

struct cells {
        struct loop loop;
        struct channel *channel;
        struct watch said; /* the supervisor's socket */
        struct running *first;
};

/* One of them. Its owner keeps it where it is until `ended`. */
struct running {
        struct running *next;
        struct cells *cells;
        uint32_t id;
        struct watch output[2]; /* our ends of its standard output and error */
        struct log *logs[2];    /* where they go to */
        uint64_t most;          /* bytes of both: it is stopped beyond (limit.output) */
        struct watch input;     /* our end of its standard input */
        const char *feed;       /* what is still to be written there; borrowed */
        size_t feed_left;
        bool stopped, ended;
        struct cell_outcome outcome;             /* once it has ended; its file is the owner's */
        void (*on_socket)(void *to, int socket); /* takes over what CELL_SOCKET brings */
        void (*on_pause)(void *to, const struct cell_outcome *o); /* a command of a session ended */
        void (*on_end)(void *to, struct running *r);
        void *to;
};

/* What is given to a cell to read, and what is kept of what it prints; none: its pipes are somebody
 * else's, in the order's stdio already. */
struct running_pipes {
        const char *feed;
        size_t feed_size;
        struct log *logs[2];
        uint64_t most;
        bool wired; /* its input and output stand in the order, somebody else's; only what it says
                       on standard error is kept */
};

int cells_open(struct cells *c, struct channel *channel, struct error *err);
/* Start one. The callbacks in `r` are set before; `order` gets its standard descriptors here, if
 * there are `pipes`. */
int cells_start(struct cells *c, struct running *r, struct cell_order *order,
        const struct running_pipes *pipes, struct error *err);
/* Kill it, unless that was asked for already; its end is still to come. */
int cells_stop(struct running *r, enum code reason, struct error *err);
/* Wait for whatever comes next. When a signal asks for the end, all are stopped. */
int cells_turn(struct cells *c, struct error *err);
/* Until that one has ended. */
int cells_wait(struct cells *c, const struct running *r, struct error *err);
/* Kill all, wait for their ends. */
void cells_close(struct cells *c);

#endif
