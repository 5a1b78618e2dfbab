/* Watching a cell where there is no control group to use: its processes are looked at every few
 * milliseconds. Weak, because what happens between two looks is not seen; runs that rely on it
 * say so. */
#ifndef ASSAY_WEAK_H
#define ASSAY_WEAK_H

#include <stdint.h>
#include <sys/types.h>

struct weak_usage {
        uint64_t memory;    /* resident bytes of all processes, shared pages counted in each */
        uint64_t processes; /* threads count */
        uint64_t cpu_us;    /* of all that live, and of those their parents waited for */
};

/* Look at the process tree below the cell's first process, which is left out. */
void weak_look(pid_t first, struct weak_usage *ret);

#endif
