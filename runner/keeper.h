/* A supervisor that is kept: for one evaluation after the other, so that it is started, and finds
 * out what the machine can do, only once. Nothing of an evaluation is left in it for the next one.
 * Who has the keeper's socket may have a supervisor that trusts it, so no evaluation has. */
#ifndef ASSAY_KEEPER_H
#define ASSAY_KEEPER_H

#include "error.h"

#include <errno.h>

struct keeper {
        int socket, pidfd;
};

#define KEEPER_INIT                                                                                \
        {                                                                                          \
                .socket = -EBADF, .pidfd = -EBADF                                                  \
        }

/* A channel to it for the next evaluation (channel_adopt), whose predecessor's process has ended.
 * It is started where there is none, with the privilege that this process has. */
int keeper_lend(struct keeper *k, int *ret_socket, struct error *err);
/* End it, and all cells with it. */
void keeper_end(struct keeper *k);

#endif
