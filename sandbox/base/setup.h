/* The steps in which a cell is made. Some run at the same time: the first process does its part
 * while the supervisor does another. */
#ifndef ASSAY_SETUP_H
#define ASSAY_SETUP_H

enum setup_step {
        SETUP_NAMESPACES, /* clone3 */
        SETUP_NETWORK,    /* inside: the namespaces that take long */
        SETUP_MOUNTS,     /* as root, meanwhile: detached mounts, in the host's namespace */
        SETUP_VIEW,       /* inside: they are fitted together */
        SETUP_LEAVE,      /* the host's root left behind */
        SETUP_GROUP,      /* meanwhile: groups and their limits */
        SETUP_ENTER,      /* inside: it is in its groups */
        SETUP_ONLINE,     /* (with a network) it leads out */
        SETUP_RIGHTS,     /* capabilities and the like, landlock, system call filter */
        SETUP_COMMAND,    /* the command's own process */
        SETUP_LIMITS,
        SETUP_EXEC,
        SETUP_COUNT,
};

const char *setup_step_name(enum setup_step step);

#endif
