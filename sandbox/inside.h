/* The cell's own two processes: its first (pid 1), which builds the view and then only waits, and
 * the command. What they tell the supervisor goes over one socket. */
#ifndef ASSAY_INSIDE_H
#define ASSAY_INSIDE_H

#include "cgroup.h"
#include "ids.h"
#include "mounts.h"
#include "request.h"
#include "setup.h"

enum inside_message {
        /* supervisor → first process */
        INSIDE_REQUEST = 1, /* the ids are set; payload and descriptors of CELL_START */
        INSIDE_MOUNTS,  /* (as root) u8 n + n × text place; descriptors: the trees, the root, and
                           the result directory if there is one */
        INSIDE_DOORS,   /* the groups are made; descriptors: their doors */
        INSIDE_ONLINE,  /* (with CELL_NETWORK) its network leads out */
        INSIDE_COMMAND, /* (with CELL_SESSION) u64 cpu, u32 n + n × text argument; descriptors:
                           stdin, stdout, stderr, the exec pipe: another command */
        /* and back */
        INSIDE_MADE,     /* (as a user) descriptors of the root, of the result directory if there is
                            one, of the tree that is kept if there is one */
        INSIDE_NETWORK,  /* (with CELL_NETWORK) descriptor of its network namespace */
        INSIDE_LISTENER, /* descriptor that denied system calls are asked through */
        INSIDE_SOCKET,   /* (with CELL_CALLS) descriptor of the socket that listens in the cell */
        INSIDE_FAILED,   /* error: the view could not be built */
        INSIDE_ENDED,    /* u8 enum cell_end, u32 status, u64 monotonic us: the command ended */
};

/* When each step was done, in monotonic microseconds; 0: it was not needed. */
struct setup {
        uint64_t requested_at;
        uint64_t done_at[SETUP_COUNT];
};

/* What comes through the exec pipe. */
struct exec_news {
        int reason; /* EXEC_NEXT, or the errno of an exec that failed */
        uint64_t done_at[SETUP_COUNT];
};
enum { EXEC_NEXT = 0 };

struct inside {
        bool root;      /* the supervisor is root of the host */
        bool grouped;   /* control groups hold the limits; without, rlimits stand in */
        int socket;     /* to the supervisor */
        int bell;       /* rings before each message from it */
        int started;    /* the exec pipe: struct exec_news, then its end */
        int supervisor; /* a pidfd of it; below 0 where the kernel has none */
        uint64_t done_at[SETUP_COUNT];
        struct cell_request request;
        struct mounts mounts;
};

/* The life of the first process, from clone to exit. */
void inside_main(struct inside *in) __attribute__((noreturn));

/* confine_cell.c: the last steps before the command, after which nothing can be regained, and one
 * that may come early. Each gives the name of the step that failed (with errno), or NULL. */
const char *confine_bound(void); /* no program that is executed will gain a capability */
const char *confine_limits(const struct inside *in);
const char *confine_cell(const struct inside *in);

#endif
