/* Starting one of our programs: a fresh address space, chosen descriptors, nothing of ours.
 *
 * The child shares our memory until it executes (as vfork does), so the cost does not grow with
 * the parent; it makes system calls only. It gets an empty environment, default signals, umask
 * 022, an empty keyring, no controlling terminal, and dies with its parent. */
#ifndef ASSAY_SPAWN_H
#define ASSAY_SPAWN_H

#include "error.h"

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPAWN_MAX_FDS = 8 };

struct spawn {
        int program;             /* descriptor of the executable */
        const char *const *argv; /* NULL at the end */
        const char *const *envp; /* the same; NULL: an empty one */
        bool script;             /* it may be one, whose interpreter opens it again */
        int fds[SPAWN_MAX_FDS];  /* becomes 0, 1, 2, …; -EBADF is /dev/null */
        unsigned fd_count;       /* all others are closed */
        int root;                /* a directory to make its root: no path leads elsewhere; -EBADF */
        bool change_ids;         /* with privilege: to uid and gid, no groups, no capability ever */
        uid_t uid;
        gid_t gid;
        uint64_t rights; /* its only capabilities, a mask, in `namespace`; 0: neither */
        int namespace;   /* a user namespace to go into */
};

#define SPAWN_INIT                                                                                 \
        {                                                                                          \
                .program = -EBADF, .root = -EBADF                                                  \
        }

/* Start it; returns its pid, `ret_pidfd` owned by the caller. */
pid_t spawn_process(const struct spawn *s, int *ret_pidfd, struct error *err);
/* Wait for the end; returns the exit status, or 128 + the signal. */
int spawn_wait(int pidfd, struct error *err);
/* Open the program `name` that belongs to us: beside the running executable, else in the libexec
 * directory of an installation. */
int spawn_find(const char *name, struct error *err);

#endif
