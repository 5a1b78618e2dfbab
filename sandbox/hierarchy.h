/* Where the control group hierarchies are mounted and which group is ours, from /proc. */
#ifndef ASSAY_HIERARCHY_H
#define ASSAY_HIERARCHY_H

#include <limits.h>
#include <stdbool.h>

/* The directories of this process's own groups: of each version 1 `controllers`, or of the version
 * 2 tree (NULL). A descriptor each in `ret`, or -1 where there is none. The kernel's two files are
 * long on some machines, so each is read once. */
void hierarchy_open_own(const char *const *controllers, unsigned count, int *ret);
/* The directory above `dir` that is still a group; -1 at the top. */
int hierarchy_open_parent(int dir);

/* The pure parts, for one line of each file, which they change. `controller` as above.
 *
 * A line of /proc/self/mountinfo that is the mount wanted: where it is, and the group that it shows
 * there. */
struct hierarchy_mount {
        char place[PATH_MAX], root[PATH_MAX];
};
bool hierarchy_match_mount(char *line, const char *controller, struct hierarchy_mount *ret);
/* The group that a line of /proc/self/cgroup names, inside `line`; NULL if it is another's. */
const char *hierarchy_match_group(char *line, const char *controller);
/* The path of `group` below a mount that shows `root`. */
const char *hierarchy_below(const char *group, const char *root);

#endif
