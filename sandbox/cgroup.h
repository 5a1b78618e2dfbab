/* The control groups of cells: limits, accounting, and the surest way to kill.
 *
 * Two drivers, one table each in cgroup.c: version 2, and version 1 with or without a version 2
 * tree beside it ("hybrid", which gives cgroup.kill and cpu time). Cells live below the
 * supervisor's own group, so that whatever limits the caller holds for them too; where version 2
 * forbids that, in the nearest ancestor that hands its controllers down.
 *
 * A directory is named after its cell's slot: mkdir is what makes that unique among the supervisors
 * of one group. A lock on the directory says that its supervisor lives. */
#ifndef ASSAY_CGROUP_H
#define ASSAY_CGROUP_H

#include "error.h"
#include "limit.h"

#include <stdbool.h>
#include <sys/types.h>

/* What a group tells, each in a file of its own. */
enum cgroup_file {
        CGROUP_CPU_TIME,
        CGROUP_OOM_KILLS,
        CGROUP_MEMORY_PEAK,
        CGROUP_PIDS_PEAK,
        CGROUP_PIDS_EVENTS, /* becomes readable (POLLPRI) when the pids limit refused a process */
        CGROUP_FILES,
};

/* A directory of each that a cell uses. In version 2 all are one. The order is that in which they
 * are made and entered: what is in any is in the first that there is, which is removed last. */
enum hierarchy {
        HIERARCHY_UNIFIED,
        HIERARCHY_MEMORY,
        HIERARCHY_PIDS,
        HIERARCHY_CPU,
        HIERARCHY_COUNT,
};

struct cgroup_root {
        int version;                  /* 0: none that we may use */
        int parents[HIERARCHY_COUNT]; /* -EBADF where there is none */
        char why_not[128];            /* version 0: the reason */
};

struct cgroup {
        const struct cgroup_root *root;
        unsigned slot;
        char name[32];
        int dirs[HIERARCHY_COUNT];
        int doors[HIERARCHY_COUNT]; /* who writes "0" there is in */
        int files[CGROUP_FILES];    /* open, for reading again and again */
};

#define CGROUP_INIT                                                                                \
        {                                                                                          \
                .dirs = {-EBADF, -EBADF, -EBADF, -EBADF},                                          \
                .doors = {-EBADF, -EBADF, -EBADF, -EBADF}, .files = {                              \
                        -EBADF,                                                                    \
                        -EBADF,                                                                    \
                        -EBADF,                                                                    \
                        -EBADF,                                                                    \
                        -EBADF                                                                     \
                }                                                                                  \
        }

struct usage {
        uint64_t cpu_us, wall_us;
        uint64_t memory_peak; /* bytes; 0: unknown */
        uint64_t pids_peak;   /* 0: unknown */
        uint64_t oom_kills;
};

/* Find where cells may live. Never fails: version 0 and the reason say that there is no place. */
void cgroup_find(struct cgroup_root *ret);
/* Is there a file that tells the processor time of a cell? */
bool cgroup_counts_cpu(const struct cgroup_root *root);
/* Remove what supervisors that no longer live left behind. */
void cgroup_sweep(const struct cgroup_root *root);
/* Make the one directory that must be there before the cell's first process is. 1, or 0 if another
 * cell has that slot. Without groups there is none to make. */
int cgroup_claim(
        const struct cgroup_root *root, unsigned slot, struct cgroup *ret, struct error *err);
/* Make the other directories, set the limits, and open the doors that the process still has to go
 * through (not the version 2 one, when it was `born_inside`). */
int cgroup_make(struct cgroup *g, const struct limits *limits, bool born_inside, struct error *err);
/* Open what tells of it: before any of the functions that read. */
int cgroup_watch(struct cgroup *g, struct error *err);
/* The version 2 directory that a process may be born in (CLONE_INTO_CGROUP), or -EBADF. */
int cgroup_birthplace(const struct cgroup *g);
/* Called by the one thread of a new process: go through the doors. A thread that moves itself costs
 * the kernel microseconds; a process that is moved by another waits for a grace period, 5 to 15 ms.
 * 0, or -1 with errno. */
int cgroup_enter(const int *doors, unsigned count);
/* The doors are not needed any more. */
void cgroup_close_doors(struct cgroup *g);
bool cgroup_pids_refused(const struct cgroup *g);
uint64_t cgroup_cpu_us(const struct cgroup *g);
/* Kill every process in it that still lives. */
void cgroup_kill(const struct cgroup *g);
bool cgroup_is_empty(const struct cgroup *g);
/* Peaks and totals; call when it is empty. */
void cgroup_usage(const struct cgroup *g, struct usage *ret);
/* Remove the directories (which must be empty) and forget the group. */
void cgroup_remove(struct cgroup *g);

#endif
