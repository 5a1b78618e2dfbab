/* One cell, from the request to the last reading, as the supervisor sees it. */
#ifndef ASSAY_CELL_H
#define ASSAY_CELL_H

#include "cgroup.h"
#include "inside.h"
#include "network.h"
#include "trace.h"

#include <poll.h>

/* What this machine lets the supervisor do; found out once. */
struct machine {
        bool root; /* may make id blocks, device nodes and mounts of the host's namespace */
        enum id_map ids;
        struct cgroup_root groups;
        uint8_t landlock; /* ABI version; 0: none */
        uint8_t enforcers[LIMIT_COUNT];
        char refused[96]; /* why no cell is made at all; "": they are */
        uint64_t weak;    /* mask of limits that are only polled for, or not held at all */
};

void machine_find(struct machine *ret);
/* As root: give up every right that making cells does not take. */
void machine_keep_rights(void);

struct cell {
        const struct machine *machine;
        struct ids ids;
        int slot_lock;
        struct cgroup group;
        bool in_group; /* the first process was born in its version 2 group */
        pid_t pid;     /* of the first process */
        int pidfd, socket, bell, started;
        int space;    /* its mount namespace, which does not end with its first process then */
        int listener; /* denied system calls are asked through it, when they are traced */
        struct trace trace;
        int calls; /* with CELL_CALLS: the socket that listens in it, until the runner has it */
        struct network network; /* with CELL_NETWORK */
        uint64_t started_at;    /* monotonic microseconds; 0: not yet */
        uint64_t look_at;       /* when to look at cpu time next */
        bool exec_next;         /* the set-up is complete */
        bool ended;             /* the command did */
        bool paused;            /* with CELL_SESSION: it did, and the cell waits for another one */
        bool tell_pause;        /* the runner has not heard of it yet */
        int exec_error;         /* of its command, or 0 */
        uint64_t cpu_before;    /* what earlier commands used */
        enum cell_end end;
        uint32_t status;
        bool disk_full;      /* at the end */
        enum code stopped;   /* why we killed it, or CODE_NONE */
        struct error failed; /* the cell could not be made, or broke; code NONE: it did not */
        struct usage usage;
        struct setup setup;
        struct cell_request request;
        struct mounts mounts;
};

enum { CELL_POLL_FDS = 6 };

/* start.c
 *
 * A first process in namespaces of its own, which waits for a request: what takes longest is done
 * before. Nobody's cell yet. */
struct cell *cell_prepare(const struct machine *machine, struct error *err);
/* Is it still there? */
bool cell_waits(const struct cell *c);
/* Make it the cell of a request and start the command. Takes over the prepared cell and the
 * request, whose payload goes to the first process as it came; NULL on failure, and nothing is
 * left. */
struct cell *cell_start(struct cell *prepared, struct cell_request *request,
        const struct buffer *payload, struct error *err);
/* Ring, and send its first process a message. */
int cell_tell(struct cell *c, enum inside_message type, const struct buffer *payload,
        const int *fds, unsigned count, struct error *err);
/* cell.c
 *
 * All zero; NULL: no memory. The first processes do not inherit it. */
struct cell *cell_new(void);
/* Is it in control groups? */
bool cell_has_group(const struct cell *c);
/* Take the next message of its first process. */
void cell_hear(struct cell *c);
/* What to wait for: fills CELL_POLL_FDS entries and lowers *wake_at. */
void cell_watch(const struct cell *c, struct pollfd *fds, uint64_t *wake_at);
/* Look at what happened. Returns true when all processes of the cell are gone and `usage`, `end`
 * and `stopped` are final. */
bool cell_step(struct cell *c, const struct pollfd *fds);
/* Start the next command of a session; the descriptors are borrowed. */
int cell_command(struct cell *c, uint64_t wall_us, uint64_t cpu_us, const struct buffer *command,
        const int stdio[CELL_STDIO], struct error *err);
/* Kill every process of the cell; the first reason given stays. */
void cell_stop(struct cell *c, enum code reason);
/* Result file `which` of a finished cell, opened beneath its result directory. */
enum result_state cell_result(
        const struct cell *c, unsigned which, int *ret_fd, uint64_t *ret_size);
struct cell *cell_free(struct cell *c);

#endif
