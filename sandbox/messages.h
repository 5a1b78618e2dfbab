/* What the runner asks of the supervisor (assay-cell) and what it answers, over one socket that
 * is the supervisor's descriptor 3. The end of the socket is the end of every cell.
 *
 * Ids are chosen by the runner, unique among what is alive. Layouts stand beside each type. */
#ifndef ASSAY_SANDBOX_MESSAGES_H
#define ASSAY_SANDBOX_MESSAGES_H

#include "ended.h"
#include "limit.h"

#include <stdint.h>
#include <sys/types.h>

enum cell_message {
        /* runner → supervisor */
        CELL_START = 1, /* u32 id, u8 enum cell_profile, u8 flags, LIMIT_COUNT × u64 limit,
                           u32 uid, u32 gid (inside), text workdir, u32 n + n × text argument, u32 n
                           + n × text NAME=VALUE,    u32 n + n × (u8 enum place_kind, text place):
                           one descriptor each,    u32 layers of the image that is the cell's root,
                           one descriptor each, the lowest first (none: the image `host`),    u32 n
                           + n × (text place, u8 executable, bytes): files of the cell's own,
                           text result directory (empty: none), u32 n + n × text result file
                           beneath it;
                           descriptors: stdin, stdout, stderr, then one tree for each mount, then
                           the layers: in `serve` directories of the unpacker alone */
        CELL_TREE,  /* nothing in it; descriptor: a directory that cells may have as PLACE_OWNED.
                       Taken only before everything else, while the runner has its caller's rights
                       and has read nothing yet */
        CELL_OWNER, /* u32 uid: whose directories the unpacker may be given to fill; they become its
                       own. Taken as CELL_TREE is */
        CELL_TOTAL, /* u64 bytes of memory that all cells may have together; once, before the first.
                       Cells that do not fit wait until others are gone */
        CELL_ALLOW, /* u8 flags that cells may have: CELL_NETWORK. Taken as CELL_TREE is */
        CELL_PREPARE,   /* nothing in it: get one further cell ready before it is asked for */
        CELL_COMMAND,   /* u32 id, u64 wall, u64 cpu (microseconds), u32 n + n × text argument: the
                           next command of a cell with CELL_SESSION whose last one has ended;
                           descriptors: stdin, stdout, stderr */
        CELL_SHOW,      /* u32 id; descriptor: a tree that CELL_TREE named, which whom CELL_OWNER
                           named wants to read as its owner could. Answered by CELL_SHOWN or
                           CELL_FAILED */
        CELL_KILL,      /* u32 id, u16 enum code: the reason to be given in CELL_DONE */
        EXEC_REPORT,    /* (assay-cell exec) u8 timing wanted; descriptor: where the report goes */
        JUDGE_OPERATOR, /* u32 n + n × text NAME=VALUE: the environment of the operator's judge;
                           descriptor: its key, which becomes its descriptor 3, or none. Taken as
                           CELL_TREE is */
        JUDGE_START,    /* u32 id, u8 operator's, u32 n + n × text argument, u32 n + n × text
                           NAME=VALUE; descriptors: standard input, output and error, and a program,
                           which runs outside of any cell under an id of its own. The operator's has
                           what JUDGE_OPERATOR said and no other variable; without a program it is
                           assay-judge */
        HELPER_START,   /* u32 id, u8 enum helper, u8 enum helper_mode; descriptors: its input,
                           its answer, for the unpacker the directory */
        SUPERVISOR_RUNNER, /* (assay-cell keep, over its own socket) nothing in it; descriptor: the
                              next runner's socket, which is served from then on, and closed when
                              nothing is left of what it had. Whoever sends it knows that the one
                              before has ended */

        /* supervisor → runner */
        SUPERVISOR_READY, /* u8 root, u8 enum id_map, u8 cgroup version (0 none, 1, 2), u8 landlock
                             ABI (0 none), u64 mask of weak limits, LIMIT_COUNT × u8 enum enforcer
                           */
        CELL_DONE,        /* u32 id, u8 enum cell_end, u32 status, u16 enum code (what stopped it),
                             u64 cpu_us, u64 wall_us, u64 memory_peak, u64 pids_peak (0: unknown),
                             u64 oom_kills, SETUP_COUNT × u32 (microseconds from the
                             request until the step was done; 0: not needed), u32 n + n × (u8
                             enum result_state, u64 size) of the result files, u8 kept (with
                             CELL_KEEP: the tree is there);
                             descriptors: of each RESULT_FILE, then of the tree that was kept */
        CELL_SOCKET, /* u32 id; descriptor: with CELL_CALLS, the socket that listens in the cell */
        CELL_PAUSED, /* u32 id, u8 enum cell_end, u32 status, u64 cpu_us, u64 wall_us, u64
                        memory_peak: with CELL_SESSION, a command has ended, and its cell
                        waits for another one */
        CELL_SHOWN,  /* u32 id; descriptor: the tree, to be read only */
        CELL_FAILED, /* u32 id, error: the cell could not be made, or was not wanted any more
                        before it was */
        HELPER_DONE, /* u32 id, u32 exit status, or 128 + signal */
};

enum cell_flag {
        CELL_ALLOW_WEAK = 1,   /* run although a limit is only polled for */
        CELL_TRACE_DENIED = 2, /* (assay-cell exec) name each denied system call on stderr */
        CELL_NETWORK = 4,      /* a way out, see network.h; never for a submission */
        CELL_CALLS = 8,        /* assay-exec is in it, and the socket that it calls; never for a
                                  submission */
        CELL_KEEP = 16,        /* its first PLACE_COPY outlives it, to be looked at */
        CELL_SESSION = 32,     /* it outlives its command, and may be given others */
        CELL_ALL_FLAGS = 63,
};

/* Which system calls a cell has: filter_table.h. */
enum cell_profile { PROFILE_SUITE, PROFILE_SUBMISSION, PROFILE_DEBUG, PROFILE_COUNT };

/* How a file or directory of the host enters a cell. */
enum place_kind {
        PLACE_VIEW,  /* read-only, what everybody may read; through an overlay of the cell's own */
        PLACE_DATA,  /* the same, and nothing in it can be executed */
        PLACE_COPY,  /* the same, but it belongs to the cell's command, and what that changes stays
                        in the cell; in `serve` as root a tree of the unpacker, or one that
                        CELL_TREE named */
        PLACE_OVER,  /* the same, with what the image has there below it */
        PLACE_OWNED, /* the same, but what the owner owns belongs to the cell's root: in `serve`
                        only a tree that CELL_TREE named */
        PLACE_BIND,  /* the thing itself, writable: in `assay exec` only */
        PLACE_KIND_COUNT,
};

enum helper {
        HELPER_UNPACK,
        HELPER_SCORE,
        HELPER_COUNT,
};

/* The mode of a helper is its argv[1]; the supervisor knows all of them. */
enum helper_mode {
        HELPER_PLAIN, /* none */
        HELPER_TASK,
        HELPER_RESULT, /* result */
        HELPER_VERDICT,
        HELPER_BLEND,
        HELPER_LAYER, /* layer */
        HELPER_DIMENSIONS,
        HELPER_DIMENSIONS_BATCH,
        HELPER_COMPOSITE,
        HELPER_WINDOW,
        HELPER_RATE,
        HELPER_METADATA,
        HELPER_BUILT, /* built: the unpacker, of what a build left */
        HELPER_COMPARE,
        HELPER_CASES,
        HELPER_EXPECT,
        HELPER_POLICY,
        HELPER_STORED,
        HELPER_FINALIZE,
        HELPER_DIFFER,
        HELPER_WORKFLOW,
        HELPER_MODE_COUNT,
};

enum id_map {
        IDS_BLOCK,  /* 65536 ids of its own */
        IDS_RANGE,  /* the caller's own id as 0 inside, and for --user the sub-ids that it has */
        IDS_SINGLE, /* the caller's own id, as 0 inside */
        IDS_COUNT,
};

enum enforcer {
        ENFORCED_CGROUP_V2,
        ENFORCED_CGROUP_V1,
        ENFORCED_RLIMIT,
        ENFORCED_TMPFS,
        ENFORCED_CLOCK,
        ENFORCED_POLLING, /* weak */
        ENFORCED_RUNNER,
        ENFORCED_SUPERVISOR,
        ENFORCED_NOTHING, /* weak */
        ENFORCER_COUNT,
};

enum result_state {
        RESULT_FILE, /* a regular file of acceptable size; its descriptor travels along */
        RESULT_MISSING,
        RESULT_NOT_FILE, /* link, directory, pipe, device, socket, or more than one link */
        RESULT_TOO_LARGE,
        RESULT_UNREADABLE,
        RESULT_STATE_COUNT,
};

enum {
        CELL_MAX_REQUEST = 1 << 20,
        CELL_MAX_ARGUMENTS = 4096,
        CELL_MAX_ARGUMENT = 128 << 10,
        CELL_MAX_MOUNTS = 16,
        CELL_MAX_LAYERS = 128,
        CELL_MAX_PLACE = 256, /* bytes of a path inside the cell */
        CELL_MAX_FILES = 4,
        CELL_MAX_RESULTS = 3,
        CELL_STDIO = 3,
        SUPERVISOR_SOCKET = 3, /* descriptor of the supervisor's end */
};

#define NETWORK_PASTA "/usr/bin/pasta"

/* Where a cell with CELL_CALLS has them. */
#define CALLS_DIRECTORY "/run/assay"
#define CALLS_PROGRAM   CALLS_DIRECTORY "/assay-exec"
#define CALLS_SOCKET    CALLS_DIRECTORY "/broker"

/* Ids of the host that belong to Assay when it was started as root, in a range that no system
 * allocates from. The runner itself becomes the user `assay` where that exists. */
enum {
        IDS_FIRST = 0x70000000,
        IDS_RUNNER = IDS_FIRST,
        IDS_UNPACK = IDS_FIRST + 1,
        IDS_SCORE = IDS_FIRST + 2,
        IDS_JUDGE = IDS_FIRST + 3,
        IDS_BLOCK_SIZE = 65536,
        IDS_NETWORK = IDS_BLOCK_SIZE - 1, /* of a block: pasta's, and no process's of the cell */
        IDS_BLOCKS = 4095, /* block n starts at IDS_FIRST + (n + 1) × IDS_BLOCK_SIZE */
        IDS_IMAGES = IDS_FIRST - IDS_BLOCK_SIZE, /* a block too: of the files of images */
};

#endif
