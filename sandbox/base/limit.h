/* The limits of a cell: one row each, with unit, default and the code that says it was hit.
 * Used by the task reader, the command line, the supervisor and the result. */
#ifndef ASSAY_LIMIT_H
#define ASSAY_LIMIT_H

#include "error.h"

#include <stdint.h>

enum limit {
        LIMIT_WALL,   /* microseconds since exec */
        LIMIT_CPU,    /* microseconds, all processes together */
        LIMIT_CPUS,   /* thousandths of a processor */
        LIMIT_MEMORY, /* bytes, swap off; what tmpfs holds counts */
        LIMIT_DISK,   /* bytes written to the cell's own file system */
        LIMIT_INODES,
        LIMIT_PIDS,
        LIMIT_FILES,  /* open descriptors of a process */
        LIMIT_OUTPUT, /* bytes of output kept */
        LIMIT_RESULT, /* bytes of the result file */
        LIMIT_COUNT,
};

enum limit_unit { UNIT_COUNT, UNIT_BYTES, UNIT_TIME, UNIT_MILLI };

/* What kind of cell the defaults are for. */
enum cell_kind { CELL_SUITE, CELL_SUBMISSION, CELL_KIND_COUNT };

struct limits {
        uint64_t value[LIMIT_COUNT];
};

struct limit_info {
        const char *name;
        enum limit_unit unit;
        uint64_t standard[CELL_KIND_COUNT];
        uint64_t least, most; /* what a task or an option may ask for */
};

/* The row of a limit. */
const struct limit_info *limit_info(enum limit limit);
/* The limit of that name, or LIMIT_COUNT. */
enum limit limit_find(const char *name);
/* The contract's defaults; cpu follows from wall × cpus (see limits_settle). */
void limits_standard(struct limits *ret, enum cell_kind kind);
/* A value in the limit's own unit from text ("256MiB", "10s", "2"); -1: not such a value, or out
 * of bounds, with the reason in err (code usage). */
int limit_parse(enum limit limit, const char *text, uint64_t *ret_value, struct error *err);
void limit_format(enum limit limit, uint64_t value, char *out, size_t size);
/* The names of a mask of limits: "cpu, memory". */
void limits_names(uint64_t mask, char *out, size_t size);
/* The cpu limit that nobody set is wall × cpus. */
void limits_settle(struct limits *l);

#endif
