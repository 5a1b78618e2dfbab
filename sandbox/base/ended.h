/* How a command in a cell ended, and how that is passed on: as the exit status that a shell would
 * see, and as a report in JSON. For `assay exec` and assay-exec, which answer alike. */
#ifndef ASSAY_ENDED_H
#define ASSAY_ENDED_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

enum cell_end {
        CELL_EXITED,      /* status: 0–255 */
        CELL_SIGNALED,    /* status: the signal */
        CELL_EXEC_FAILED, /* status: errno of the exec */
        CELL_END_COUNT,
};

struct ended {
        bool failed; /* there was no cell, or it broke */
        enum cell_end end;
        uint32_t status;
        enum code stopped; /* why it was killed, or CODE_NONE */
        uint64_t cpu_us, wall_us;
        uint64_t memory_peak; /* 0: unknown */
};

enum { ENDED_FAILED = 125 };

/* 124 time limit, 125 failed, 126 not executable, 127 not found, 128 + signal, 137 another limit,
 * 130 interrupted, else the command's own. */
int ended_exit_status(const struct ended *e);
/* {"exit", "signal", "limit", "cpu_ms", "wall_ms", "memory_peak"}, a line; `between` (or "") stands
 * before "cpu_ms". */
void ended_report(const struct ended *e, const char *between, struct buffer *out);
/* A member: a number, or null where it is not known. */
void ended_number(struct buffer *out, const char *key, bool known, uint64_t value);

#endif
