/* What assay-score may ask of the kernel once it is locked in: bytes in, bytes out, memory. */
#ifndef ASSAY_EVALUATORS_FILTER_TABLE_H
#define ASSAY_EVALUATORS_FILTER_TABLE_H

#include "filter.h"

#define FILTER_OTHERWISE SCMP_ACT_KILL_PROCESS

/* clang-format off */
#define FILTER_ROWS                                                                               \
        ALLOW_VALUES(read, 0, "the input", 0)                                                     \
        ALLOW_VALUES(write, 0, "the answer", 1)                                                   \
        ALLOW(brk, "small blocks of malloc")                                                      \
        ALLOW_VALUES(mmap, 2, "large blocks of malloc; nothing is ever executable",               \
                     PROT_READ | PROT_WRITE, PROT_NONE)                                           \
        ALLOW_VALUES(mprotect, 2, "the same", PROT_READ | PROT_WRITE)                             \
        ALLOW_VALUES(madvise, 2, "blocks that are free", MADV_FREE)                               \
        ALLOW(mremap, "large blocks that grow; keeps the protection they have")                   \
        ALLOW(munmap, "large blocks given back")                                                  \
        ALLOW(exit_group, "the end")
/* clang-format on */

#endif
