/* What the supervisor is doing: its cells, its helpers, its way to the runner. */
#ifndef ASSAY_SUPERVISOR_H
#define ASSAY_SUPERVISOR_H

#include "admission.h"
#include "cell.h"

enum {
        SUPERVISOR_MAX_CELLS = 256,
        SUPERVISOR_MAX_HELPERS = 32,
        SUPERVISOR_MAX_PREPARED = 4,
        SUPERVISOR_MAX_TREES = 8
};

/* With a frame: a runner that stops in the middle of one, or sends it byte by byte, must not keep
 * cells beyond their limits, nor the supervisor from the next runner. */
enum { SUPERVISOR_PATIENCE_S = 5 };

/* A confined helper program of ours that is running. */
struct helper_process {
        uint32_t id;
        pid_t pid; /* 0: this place is free */
        int pidfd;
};

/* All that one runner said and has. Nothing of it is left for the next one. */
struct session {
        int trees[SUPERVISOR_MAX_TREES]; /* named by CELL_TREE; open, so that none is made again */
        unsigned tree_count;
        uint8_t allowed;  /* flags named by CELL_ALLOW */
        uid_t owner;      /* named by CELL_OWNER; 0: none */
        char **judge_env; /* of JUDGE_OPERATOR; NULL: there is no such judge */
        int judge_key;    /* the same, or -EBADF */
        bool sealed;      /* no further ones of these */
        bool over;        /* the next runner waits */
        struct cell *cells[SUPERVISOR_MAX_CELLS];       /* NULL: free */
        struct cell *prepared[SUPERVISOR_MAX_PREPARED]; /* the first `prepared_count` are there */
        unsigned prepared_count;
        struct helper_process helpers[SUPERVISOR_MAX_HELPERS];
};

struct supervisor {
        struct machine machine;
        int signals; /* signalfd: interrupt, hang-up, termination */
        int keeper;  /* where runners come from; -EBADF: there are no others */
        int programs[HELPER_COUNT];
        int image_ids; /* the user namespace of who unpacks layers */
        struct admission admission;
        unsigned made;   /* cells, until now */
        bool swept;      /* what dead supervisors left */
        bool undertaker; /* there are descriptors enough for one */
        struct session now;
};

/* assay-cell serve: answer requests until the runner's end of the socket closes. Returns the exit
 * status. */
int supervisor_serve(struct supervisor *s);
/* assay-cell keep: the same for one runner after the other, whose sockets come over our own. */
int supervisor_keep(struct supervisor *s);
/* assay-cell exec: run the one request that waits in the socket, pass its end on. */
int supervisor_exec(struct supervisor *s);

/* verbs.c: take one request of the runner. False when it said something we do not know, or nothing
 * any more. */
bool supervisor_hear(struct supervisor *s);
/* Was it named by CELL_TREE? */
bool supervisor_trusts(const struct supervisor *s, int tree);
/* Make the cell of a request, which it takes over; NULL: it could not be. */
struct cell *supervisor_make_cell(struct supervisor *s, struct cell_request *request,
        const struct buffer *payload, struct error *err);
/* Start those that waited and have room now. */
void supervisor_begin_waiting(struct supervisor *s);
/* It is done: say so, and forget it. */
void supervisor_end_cell(struct supervisor *s, struct cell **place);

/* answers.c: each is a message to the runner; see messages.h. */
void answer(uint16_t type, const struct buffer *payload, const int *fds, unsigned count);
void answer_ready(const struct machine *m);
void answer_failed(uint32_t id, const struct error *err);
void answer_done(const struct cell *c);
void answer_socket(struct cell *c);
void answer_paused(struct cell *c);
void answer_helper_end(struct helper_process *h);

/* helper.c: start a helper as HELPER_START says. */
int helper_start(struct supervisor *s, struct frame *f, struct error *err);
/* What JUDGE_OPERATOR says of the operator's judge: before the runner has read anything, so that
 * who takes it over can neither have the key nor send it elsewhere. */
void judge_configure(struct supervisor *s, struct frame *f, struct error *err);
/* Start a judge as JUDGE_START says. */
int judge_start(struct supervisor *s, struct frame *f, struct error *err);
/* Its exit status, or 128 + signal; the place is free afterwards. */
uint32_t helper_end(struct helper_process *h);
/* Forget the operator's judge. */
void judge_forget(struct supervisor *s);

/* report.c: the JSON of `assay exec --report`, and the exit status that a shell would give. */
int report_write(const struct cell *c, bool timing, int fd, struct error *err);
int report_exit_status(const struct cell *c);

#endif
