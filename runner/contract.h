/* Where the contracts put things in cells: a row each. */
#ifndef ASSAY_CONTRACT_H
#define ASSAY_CONTRACT_H

#include "evaluators/messages.h"

struct contract {
        const char *submission[2]; /* read-only */
        const char *tests;         /* read-only */
        const char *results;       /* writable */
        const char *workdir;
        const char *own[8]; /* what an image has there, a submission's cell does not */
};

extern const struct contract contracts[CONTRACT_COUNT];

#endif
