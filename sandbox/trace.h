/* assay exec --trace-denied: each denied system call is named. Never in a graded cell. */
#ifndef ASSAY_TRACE_H
#define ASSAY_TRACE_H

#include <stdint.h>

enum { TRACE_NUMBERS = 1024 };

/* What was named already. */
struct trace {
        uint64_t seen[TRACE_NUMBERS / 64 + 1];
};

/* A process waits for its call to be answered: name the call on standard error, the first time it
 * comes, and deny it as the filter would have. */
void trace_answer(struct trace *t, int listener);

#endif
