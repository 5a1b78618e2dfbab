/* Where the control group hierarchies are mounted and which group is ours, from /proc. */
#ifndef ASSAY_HIERARCHY_H
#define ASSAY_HIERARCHY_H

#include <stdbool.h>

/* The directory of this process's own group in the version 1 hierarchy of `controller`, or in the
 * version 2 tree (NULL). Returns a descriptor, or -1 where there is none. */
int hierarchy_open_own(const char *controller);
/* The directory above `dir` that is still a group; -1 at the top. */
int hierarchy_open_parent(int dir);

#endif
