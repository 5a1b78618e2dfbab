/* Which ids of the host a cell's processes have. */
#ifndef ASSAY_IDS_H
#define ASSAY_IDS_H

#include "error.h"
#include "messages.h"

struct ids {
        enum id_map kind;
        uid_t uid; /* of the host, for 0 inside */
        gid_t gid;
        uint32_t count;
};

/* The ids for the cell with that slot: a block of its own as root, else the caller's one id. */
struct ids ids_for(bool root, unsigned slot);
/* Write the maps of the new user namespace that process `pid` is in. */
int ids_map(const struct ids *ids, pid_t pid, struct error *err);

#endif
