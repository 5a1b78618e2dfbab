/* The runner's side of the supervisor: cells and helpers are asked for here, and their ends come
 * back as events. One channel serves one evaluation at a time; nothing is shared. */
#ifndef ASSAY_CHANNEL_H
#define ASSAY_CHANNEL_H

#include "error.h"
#include "frame.h"
#include "limit.h"
#include "sandbox/messages.h"
#include "setup.h"

/* What the supervisor said of itself when it was ready. */
struct machine_facts {
        bool root;
        enum id_map ids;
        unsigned cgroup_version;
        unsigned landlock; /* ABI; 0: none */
        uint64_t weak;     /* mask of limits that this machine only polls for, or cannot hold */
        uint8_t enforcers[LIMIT_COUNT];
};

enum { CHANNEL_MAX_HELPERS = 8 }; /* at once */

struct channel {
        int socket;
        int pidfd; /* -EBADF: the supervisor is another's child */
        uint32_t last_id;
        bool ready;
        struct machine_facts facts;
        struct channel_event *early; /* which came while another was waited for */
        unsigned early_count;
};

#define CHANNEL_INIT                                                                               \
        {                                                                                          \
                .socket = -EBADF, .pidfd = -EBADF                                                  \
        }

/* What a cell is to run; texts and descriptors are borrowed. */
struct cell_order {
        enum cell_profile profile;
        bool allow_weak;
        bool trace_denied; /* for `assay exec` only */
        bool network;      /* a way out */
        bool calls;        /* assay-exec, and the socket for it */
        struct limits limits;
        uint32_t uid, gid; /* inside */
        const char *workdir;
        const char *const *argv, *const *envp; /* NULL at the end */
        int stdio[CELL_STDIO];
        struct {
                int tree;
                enum place_kind kind;
                const char *place;
        } mounts[CELL_MAX_MOUNTS];
        unsigned mount_count;
        const int *layers; /* of the image, the lowest first; at most CELL_MAX_LAYERS */
        unsigned layer_count;
        struct {
                const char *place;
                bool executable;
                const void *bytes;
                size_t size;
        } files[CELL_MAX_FILES]; /* made for the cell */
        unsigned file_count;
        const char *result_dir;                /* NULL: none */
        const char *results[CELL_MAX_RESULTS]; /* files beneath it, to be handed over at the end */
        unsigned result_count;
        bool keep;    /* its first PLACE_COPY is handed over at the end */
        bool session; /* it outlives its command */
};

/* How a cell ended. */
struct cell_outcome {
        struct error failed; /* code NONE unless the cell could not be made */
        enum cell_end end;
        uint32_t status;
        enum code stopped;
        uint64_t cpu_us, wall_us, memory_peak, pids_peak, oom_kills;
        uint32_t setup_us[SETUP_COUNT]; /* from the request until the step was done */
        struct {
                enum result_state state;
                uint64_t size;
                int fd; /* owned; -EBADF unless RESULT_FILE */
        } results[CELL_MAX_RESULTS];
        int kept; /* owned; -EBADF: there is none */
};

#define CELL_OUTCOME_INIT                                                                          \
        {                                                                                          \
                .results = {{.fd = -EBADF}, {.fd = -EBADF}, {.fd = -EBADF}}, .kept = -EBADF        \
        }
/* Close what it holds. */
void cell_outcome_free(struct cell_outcome *o);

/* What the supervisor says of a cell or a helper. */
struct channel_event {
        enum cell_message type; /* CELL_DONE, _PAUSED, _FAILED, _SOCKET, _SHOWN,
                                   HELPER_DONE */
        uint32_t id;
        struct cell_outcome outcome; /* of a cell that is done or paused; of CELL_FAILED only
                                        `failed` */
        uint32_t status;             /* of a helper */
        int socket;                  /* of CELL_SOCKET, or the tree of CELL_SHOWN; owned */
};

/* Start the supervisor, with the privilege this process has now. It gets ready meanwhile. */
int channel_open(struct channel *c, struct error *err);
/* The same, of `assay-cell MODE`: its socket, and the process. */
int channel_start_supervisor(const char *mode, int *ret_socket, int *ret_pidfd, struct error *err);
/* Be the runner of one that is kept (keeper.h); takes the socket. */
void channel_adopt(struct channel *c, int socket);
void channel_close(struct channel *c);
/* Wait until it is ready; `facts` are valid afterwards. */
int channel_ready(struct channel *c, struct error *err);

/* Put the CELL_START of an order into `socket` (`assay exec` hands it on like this). */
int channel_send_order(int socket, uint32_t id, const struct cell_order *order, struct error *err);
/* Cells may have this directory with its owner's rights; to be said before anything else. */
int channel_trust_tree(struct channel *c, int tree, struct error *err);
/* The unpacker may take over directories of this user, which the runner will be, and it may be
 * shown trees; to be said before anything else. */
int channel_name_owner(struct channel *c, uid_t owner, struct error *err);
/* As who was named: that tree, to be read only, as its owner could read it. -1 also where the
 * machine cannot do that. */
int channel_show_tree(struct channel *c, int tree, int *ret_shown, struct error *err);
/* The memory that all cells together may have; to be said once, before the first. */
int channel_limit_total(struct channel *c, uint64_t memory, struct error *err);
/* Cells may have a network; to be said before anything else. */
int channel_allow_network(struct channel *c, struct error *err);
/* A cell will be asked for soon. */
int channel_prepare_cell(struct channel *c, struct error *err);
/* Start a cell; returns its id, or 0. */
uint32_t channel_start_cell(struct channel *c, const struct cell_order *order, struct error *err);
/* The next command of a cell that is paused; the descriptors are borrowed. */
int channel_command(struct channel *c, uint32_t id, const struct limits *limits,
        const char *const *argv, const int stdio[CELL_STDIO], struct error *err);
int channel_kill(struct channel *c, uint32_t id, enum code reason, struct error *err);
/* Has something come already, that the socket will not tell? */
bool channel_has_early(const struct channel *c);
/* The next that was said, of whichever; blocks until something is. The descriptors in it are the
 * caller's. */
int channel_next(struct channel *c, struct channel_event *ret, struct error *err);

/* Start a helper with the descriptors that HELPER_START names; returns its id, or 0. */
uint32_t channel_start_helper(struct channel *c, enum helper which, enum helper_mode mode,
        const int *fds, unsigned fd_count, struct error *err);
/* The operator's judge: its environment, and its key (-EBADF: none); to be said before anything
 * else. */
int channel_name_judge(struct channel *c, const char *const *envp, int key, struct error *err);
/* Start a judge with this standard input, output and error; `program` -EBADF: assay-judge; `envp`
 * NULL: it is the operator's, which has an environment already. Returns its id, or 0. Its end comes
 * as a helper's does. */
uint32_t channel_start_judge(struct channel *c, const char *const *argv, const char *const *envp,
        const int stdio[CELL_STDIO], int program, struct error *err);
/* Wait for a judge's end: its exit status, or 128 + signal; -1: it could not be started. */
int channel_judge_done(struct channel *c, uint32_t id, struct error *err);
/* Wait for its end, which must be near: one that lingers is killed. A helper that did not exit 0 is
 * internal.helper_died, but one that used up its processor time fails with `code_if_slow`. */
int channel_helper_done(struct channel *c, uint32_t id, enum code code_if_slow, struct error *err);

const char *enforcer_name(enum enforcer e);

#endif
