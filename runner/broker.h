/* The broker: what a suite asks for by assay-exec, it gets as cells of the submission. Served in
 * the loop of the evaluation while the suite runs; its peers are the suite, and what of the
 * submission the suite lets into its own cell, so what they say ends them at most. */
#ifndef ASSAY_BROKER_H
#define ASSAY_BROKER_H

#include "submission_cell.h"

enum {
        BROKER_MAX_CALLS = 64, /* at once; more wait to be heard */
        BROKER_MAX_SESSIONS = 8,
};

struct broker {
        struct cells *cells;
        const struct submission_cell *submission;
        struct limits most;    /* what a call may ask for: the suite's own */
        uint64_t total_memory; /* of all cells at once */
        struct watch listener;
        struct call *first;
        struct session *sessions;
        unsigned count;
        struct cell_usage usage; /* of all calls */
        struct error broken; /* the first call that failed by no fault of who made it: what a suite
                                took for an answer was none */
        bool closing;
};

/* Serve what comes through `socket`, which is taken over. */
int broker_open(struct broker *b, int socket, struct error *err);
/* The suite has ended: no call is any use to anyone. */
int broker_close(struct broker *b, struct error *err);

#endif
