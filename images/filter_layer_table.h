/* The system calls that assay-unpack has left while it reads a layer of an image: those for
 * submissions (filter_table.h), and what a layer has beside files and folders. */
#include <sys/stat.h>

#define FILTER_ROWS                                                                                \
        UNPACK_ROWS                                                                                \
        ALLOW_ZERO(fchmod, 1, 06000, "modes; no set-id")                                           \
        ALLOW_ZERO(fchmodat, 2, 06000, "modes of folders, set when they are full; no set-id")      \
        ALLOW(utimensat, "times")                                                                  \
        ALLOW(fsetxattr, "attributes of users; all others need rights that we gave away")          \
        ALLOW(fchown, "owners, of the ids that its user namespace has")                            \
        ALLOW(fchownat, "the same of links and pipes")                                             \
        ALLOW(linkat, "hard links")                                                                \
        ALLOW_VALUES(mknodat, 2, "pipes; whiteouts", S_IFIFO, S_IFCHR)                             \
        ALLOW_VALUES(mknodat, 3, "whiteouts, which are the device 0:0; no other device", 0)

#include "images/filter_table.h"
