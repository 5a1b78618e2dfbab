/* Numbers of cells. Each cell that lives has one to itself, among all supervisors of the machine:
 * it names the cell's groups and, as root, decides which block of ids it has. */
#ifndef ASSAY_SLOT_H
#define ASSAY_SLOT_H

#include "cgroup.h"

/* Where supervisors that are root meet. */
#define SLOT_DIRECTORY "/run/assay"

/* Take a number that is free, and with it the one directory that must be there before the cell's
 * first process is, if there are groups. `ret_lock` (-EBADF: none is needed) holds the number as
 * long as it is open. */
int slot_take(bool root, const struct cgroup_root *groups, struct cgroup *ret, int *ret_lock,
        struct error *err);
/* It is not needed any more: the cell is gone, and its group. The supervisor's next cell has it
 * again, with what the supervisor keeps of its ids. Closes the lock, or keeps it. */
void slot_give_back(unsigned slot, int *lock);

#endif
