/* Where an evaluation keeps what it unpacks: one directory of its own below the state directory.
 *
 *   STATE/evaluations/ID/         the runner's; locked while the evaluation lives
 *   STATE/evaluations/ID/tree/    the unpacker's: the submission
 *   STATE/evaluations/ID/built/   the same: what its build made of it
 *
 * STATE is $ASSAY_STATE, else /var/lib/assay for root, else $XDG_STATE_HOME/assay or
 * ~/.local/state/assay. Made with the caller's rights, before root is given up. */
#ifndef ASSAY_WORKSPACE_H
#define ASSAY_WORKSPACE_H

#include "channel.h"
#include "ulid.h"

struct workspace {
        int work;           /* STATE/evaluations */
        int lock;           /* STATE/evaluations/ID */
        int tree, built;    /* STATE/evaluations/ID/tree, …/built */
        char id[ULID_SIZE]; /* a ULID: the evaluation's */
};

#define WORKSPACE_INIT                                                                             \
        {                                                                                          \
                .work = -EBADF, .lock = -EBADF, .tree = -EBADF, .built = -EBADF                    \
        }

/* `id` is the evaluation's; NULL: a new one. */
int workspace_make(struct workspace *w, const char *id, struct error *err);
/* Remove what is in a tree. It belongs to the ids of the unpacker in that mode (HELPER_PLAIN or
 * HELPER_LAYER), so the unpacker does it. */
int workspace_empty(int tree, enum helper_mode mode, struct channel *c, struct error *err);
/* Remove the trees and the directory. */
int workspace_remove(struct workspace *w, struct channel *c, struct error *err);
/* Remove what evaluations that no longer live left behind. */
void workspace_sweep(const struct workspace *own, struct channel *c);

#endif
