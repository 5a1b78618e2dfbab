/* The runner's side of assay-store: a store of results is asked here, with the frames of
 * store/messages.h. It is started with the caller's rights, and keeps them when this process gives
 * up its own. */
#ifndef ASSAY_STORE_CHANNEL_H
#define ASSAY_STORE_CHANNEL_H

#include "frame.h"
#include "store/messages.h"

#include <errno.h>

struct store_channel {
        int socket, pidfd;
};

#define STORE_CHANNEL_INIT                                                                         \
        {                                                                                          \
                .socket = -EBADF, .pidfd = -EBADF                                                  \
        }

/* Which store, and what for. */
struct store_order {
        const char *url;   /* sqlite:PATH, a plain path, postgresql://…; or `sqlite:`: the state
                              directory's */
        const char *agent; /* whose submission it will be; NULL: nobody's */
        const char *result_id;  /* to append that result; NULL: to read */
        bool queue;             /* instead: take and give jobs (queue.h) */
        const char *supersedes; /* the one that waits and that it takes the place of; or NULL */
        const char *match;      /* that the result ends; or NULL */
        const char *harness;    /* of that match; or NULL */
        bool for_matches;       /* instead of an append: the mode `match` */
};

/* Is it a name that an agent may have? -1: usage. */
int store_check_agent(const char *agent, struct error *err);

/* Start it and wait until the store is open; `c` is STORE_CHANNEL_INIT. To append a result to a
 * server, the process's last store: a password in `url` and PGPASSWORD are overwritten. */
int store_channel_open(struct store_channel *c, const struct store_order *order, struct error *err);
void store_channel_close(struct store_channel *c);

/* To append: whose result comes ("" and "": that of the superseded one), and which attempt it is.
 * Nobody else writes until the end. -1 is result.final where the superseded one does not wait. */
int store_channel_begin(struct store_channel *c, const char *task, const char *archive,
        unsigned *ret_attempt, struct error *err);
/* A column of the current row of a table; NULL and "" leave it out. */
int store_channel_text(struct store_channel *c, enum store_table table, unsigned column,
        const char *text, struct error *err);
/* Some of them. */
struct store_text {
        unsigned column;
        const char *text;
};
int store_channel_texts(struct store_channel *c, enum store_table table,
        const struct store_text *texts, size_t count, struct error *err);
int store_channel_number(struct store_channel *c, enum store_table table, unsigned column,
        uint64_t number, struct error *err);
int store_channel_row(struct store_channel *c, enum store_table table, struct error *err);
/* 0: it is on the disk. */
int store_channel_commit(struct store_channel *c, struct error *err);

/* To read: ask with a frame, then take the answers. 1: `f` is one, whose type and content are to be
 * checked; 0: there are no more. */
int store_channel_ask(struct store_channel *c, enum store_message type,
        const struct buffer *payload, struct error *err);
int store_channel_next(struct store_channel *c, struct frame *f, struct error *err);
/* Wait for an answer that others who write may keep from coming; signals end that. */
int store_channel_wait(struct store_channel *c, struct error *err);
/* An answer without anything in it. */
int store_channel_done(struct store_channel *c, enum store_message type, struct error *err);
/* An answer that is not what it should be. */
int store_channel_malformed(struct error *err);

#endif
