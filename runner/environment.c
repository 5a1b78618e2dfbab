/* The environment of a command in a cell; see environment.h. Pure. */
#include "environment.h"

#include <stdbool.h>

static const char *const standard[ENVIRONMENT_STANDARD] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/root",
        "TZ=UTC",
        "LANG=C.UTF-8",
        "PYTHONHASHSEED=0",
        "SOURCE_DATE_EPOCH=0",
};

static bool same_name(const char *a, const char *b)
{
        size_t len = strcspn(a, "=");

        return strncmp(a, b, len + 1) == 0;
}

void environment_fill(const char *const *added, unsigned count, const char **ret_env)
{
        unsigned filled = 0;

        for (unsigned i = 0; i < ENVIRONMENT_STANDARD; i++)
                ret_env[filled++] = standard[i];
        for (unsigned i = 0; i < count; i++) {
                unsigned at = 0;

                while (at < filled && !same_name(added[i], ret_env[at]))
                        at++;
                ret_env[at] = added[i];
                filled += at == filled;
        }
        ret_env[filled] = NULL;
}
