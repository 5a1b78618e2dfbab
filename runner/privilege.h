/* Giving up root: everything that needs it was opened before. */
#ifndef ASSAY_PRIVILEGE_H
#define ASSAY_PRIVILEGE_H

#include "error.h"

#include <sys/types.h>

/* The ids that the runner goes on with when started as root: those of the system user `assay`,
 * else of a range that no system allocates from (sandbox/messages.h). */
void privilege_ids(uid_t *ret_uid, gid_t *ret_gid);
/* As root: become them, for ever, without groups and capabilities. As anyone else: nothing. */
int privilege_drop(struct error *err);

#endif
