/* The contracts between graders and their container: where things are in a suite's cell, what runs,
 * what is read at the end. A row each; assay-score and the runner share it. Pure data. */
#ifndef ASSAY_EVALUATORS_CONTRACT_H
#define ASSAY_EVALUATORS_CONTRACT_H

#include "evaluators/messages.h"
#include "sandbox/messages.h"

struct contract {
        const char *name; /* in task.json */
        struct {
                const char *place; /* NULL: it is not in the suite's cell */
                enum place_kind kind;
        } submission[2], tests, truth;
        const char *results;    /* the one place whose files are read */
        const char *format;     /* of the result, where the task names none */
        const char *workdir;    /* with `host`; an image has its own */
        const char *command[3]; /* where the task names none; {NULL}: the image's */
        const char *program;    /* in tests/, which that runs; an image may have another */
        const char *own[8];     /* what an image has there, a submission's cell does not */
};

extern const struct contract contracts[CONTRACT_COUNT];

#endif
