/* Which ids of the host a cell's processes have. */
#ifndef ASSAY_IDS_H
#define ASSAY_IDS_H

#include "error.h"
#include "messages.h"

#include <stdbool.h>

struct ids {
        enum id_map kind;
        uid_t uid; /* of the host, for 0 inside */
        gid_t gid;
        uint32_t count;
        uid_t sub_uid; /* of IDS_RANGE: 1 inside, and those that follow */
        gid_t sub_gid;
};

/* What this user may give to cells: as root a block each, else the caller's one id, and sub-ids
 * where /etc/subuid and /etc/subgid have some and newuidmap is there to use them. */
enum id_map ids_find(bool root);
/* The ids for the cell with that slot. */
struct ids ids_for(enum id_map kind, unsigned slot);
/* A user namespace in which `count` ids from `owner` and `group` on stand for a cell's from its
 * root on, for a mount that shows them so (MOUNT_ATTR_IDMAP). Returns its descriptor, or -1 with
 * errno. */
int ids_make_namespace(uid_t owner, gid_t group, uint32_t count, const struct ids *ids);
/* A user namespace as a cell's with these ids has: 0 and those that follow stand for them. */
int ids_make_own_namespace(const struct ids *ids);
/* The user namespace of a process. */
int ids_open_namespace(pid_t pid);
/* As root: go on as the cell's root for what is made for it, with this process's capabilities, and
 * come back. The kernel counts inotify instances, pending signals and pipe pages of a user
 * namespace with its maker as well: made under the cell's own first id, a cell has those counts to
 * itself. */
void ids_borrow(const struct ids *ids, bool borrow);
/* While the cell's ids are borrowed: be root again, but without the right to pass file modes. To
 * files that are shown as the cell's own, that is anyone. */
void ids_be_anyone(const struct ids *ids, bool anyone);
/* Write the maps of the new user namespace that process `pid` is in; of a range only the first id,
 * unless `all`, which takes two further programs. */
int ids_map(const struct ids *ids, pid_t pid, bool all, struct error *err);

#endif
