/* A helper program locks itself in before it reads a byte of an outsider.
 *
 * What is left afterwards: the descriptors named, memory and CPU time up to the limits, the
 * system calls of its own list, and below one directory (if any) the right to make and remove
 * files. No capability but those that its work needs in a user namespace of its own, no set-id
 * effect, no other process to see or signal. Built with a sanitizer, whose runtime needs more than
 * that, a program keeps its rights (ASSAY_UNCONFINED). */
#ifndef ASSAY_CONFINE_H
#define ASSAY_CONFINE_H

#include "error.h"

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct confinement {
        const char *name;                 /* for messages */
        unsigned keep_fds;                /* descriptors 0 … keep_fds-1 stay, all others close */
        int tree;                         /* the directory it may write below, or -EBADF */
        uint64_t also_below;              /* LANDLOCK_ACCESS_FS_… it has there beside */
        int readable;                     /* one it may read below, or -EBADF */
        uint64_t rights;                  /* capabilities, a mask: what it has of them stays */
        uint64_t cpu_seconds;             /* RLIMIT_CPU */
        uint64_t memory;                  /* RLIMIT_AS, bytes */
        uint64_t file_size;               /* RLIMIT_FSIZE, bytes */
        uint64_t open_files;              /* RLIMIT_NOFILE */
        const struct sock_filter *filter; /* compiled at build time from its filter table */
        size_t filter_length;
};

/* Apply it to this process, for ever. -1: something could not be taken away; do not go on. A
 * kernel without landlock is no failure: the other fences hold. */
int confine_self(const struct confinement *c, struct error *err);

/* The single steps, for what a cell's processes need of them. Each 0, or -1 with errno.
 *
 * Lower a resource limit, soft and hard; a caller's that is lower already stays. */
int confine_limit(int resource, uint64_t value);
/* No capability in any set but the bounding one, or no other than those of the mask `kept`. */
int confine_capabilities(uint64_t kept);
/* Load a compiled system call filter. Needs no_new_privs. */
int confine_filter(const struct sock_filter *filter, size_t length);
/* The version of landlock's interface that the kernel has; 0 for none. */
int confine_landlock_abi(void);
/* A directory and what may be done below it (LANDLOCK_ACCESS_FS_…); -EBADF: nothing. */
struct confine_tree {
        int tree;
        uint64_t allowed;
};
/* Landlock alone: refuse everything it knows but what is allowed below the trees, TCP where
 * `network` is false, and abstract sockets and signals that leave. 0 also where the kernel has no
 * landlock. Needs no_new_privs. */
int confine_landlock(const struct confine_tree *trees, unsigned count, bool network);

/* Called by a helper right after confine_self(), where it exists: the tests link one that plays a
 * helper that was taken over (tests/takeover/hook.c). Products have none. */
void takeover_hook(void) __attribute__((weak));

#endif
