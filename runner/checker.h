/* Programs of the task that judge a case: checkers, which look at what was printed, and
 * interactors, which talk to the program. They run in cells like the suite's. */
#ifndef ASSAY_CHECKER_H
#define ASSAY_CHECKER_H

#include "cells.h"
#include "evaluators/messages.h"

struct checked {
        char part[32]; /* of the points, 0 to 1, a decimal */
        char reason[400];
};

struct check {
        char *const *command;
        enum checker_protocol protocol;
        const struct buffer *input, *expected;
        struct buffer actual; /* borrowed */
        struct cells *cells;
        void (*checker_cell)(void *to, struct cell_order *ret);
        void *to;
};

/* An end that the protocol does not know is the suite's fault: -1. */
int checker_run(const struct check *c, struct checked *ret, struct error *err);

struct interaction {
        char *const *command;
        const struct buffer *input;
        struct cell_order *program; /* but for its standard descriptors */
        struct running *program_cell, *interactor_cell;
        struct log *log[2]; /* standard error of the interactor, and of the program */
        struct cells *cells;
        void (*checker_cell)(void *to, struct cell_order *ret);
        void *to;
};

/* Start both, the output of each the input of the other. */
int interaction_start(const struct interaction *i, struct error *err);
/* Both have ended. */
int interaction_judge(enum checker_protocol protocol, const struct running *interactor,
        const struct log *errors, struct checked *ret, struct error *err);

#endif
