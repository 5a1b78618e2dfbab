/* How a command in a cell ended, when that was not well, as a sentence for its author. */
#ifndef ASSAY_FAULT_H
#define ASSAY_FAULT_H

#include "channel.h"

enum { FAULT_SIZE = 300 };

/* False: it ended by itself with the status `wanted`. Else `ret` says what it did instead. */
bool fault_describe(const struct cell_outcome *o, const struct limits *limits, const char *program,
        unsigned wanted, char ret[FAULT_SIZE]);

#endif
