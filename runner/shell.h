/* A look around inside: what an evaluation would run its suite or its submission in, with a shell
 * instead. */
#ifndef ASSAY_SHELL_H
#define ASSAY_SHELL_H

#include "evaluation.h"

struct shell_order {
        bool submission;            /* the submission's cell, not the suite's */
        const char *case_name;      /* whose input and output are to be there too; NULL */
        const char *const *command; /* NULL at the end; none: a shell */
        bool quiet;
};

/* The evaluation has been run as far as EVALUATE_CELLS. How the command ended is an exit status as
 * `assay exec` has it. */
int shell_run(
        struct evaluation *e, const struct shell_order *o, int *ret_status, struct error *err);

#endif
