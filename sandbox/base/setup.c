/* Names of the steps in which a cell is made; pure. */
#include "setup.h"

const char *setup_step_name(enum setup_step step)
{
        static const char *const names[SETUP_COUNT] = {
                [SETUP_NAMESPACES] = "namespaces",
                [SETUP_NETWORK] = "network",
                [SETUP_MOUNTS] = "mounts",
                [SETUP_VIEW] = "view",
                [SETUP_LEAVE] = "leave_host",
                [SETUP_GROUP] = "group",
                [SETUP_ENTER] = "enter",
                [SETUP_ONLINE] = "online",
                [SETUP_RIGHTS] = "rights",
                [SETUP_COMMAND] = "command",
                [SETUP_LIMITS] = "limits",
                [SETUP_EXEC] = "exec",
        };

        return names[step];
}
