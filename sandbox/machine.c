/* What this machine lets the supervisor do: decided from what is there, before the first cell. */
#include "cell.h"

#include "confine.h"

#include <sys/capability.h>
#include <unistd.h>

/* Root of the host, and not only of a namespace that gives it little. */
static bool is_root(void)
{
        cap_t caps = geteuid() == 0 ? cap_get_proc() : NULL;
        cap_flag_value_t mount = CAP_CLEAR, ids = CAP_CLEAR;

        if (caps) {
                cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &mount);
                cap_get_flag(caps, CAP_SETUID, CAP_EFFECTIVE, &ids);
                cap_free(caps);
        }
        return mount == CAP_SET && ids == CAP_SET;
}

void machine_find(struct machine *ret)
{
        static const uint8_t by_cgroup[] = {
                ENFORCED_POLLING, ENFORCED_CGROUP_V1, ENFORCED_CGROUP_V2};
        uint8_t *by = ret->enforcers;
        unsigned version;

        *ret = (struct machine){.root = is_root()};
        ret->ids = ids_find(ret->root);
        cgroup_find(&ret->groups);
        ret->landlock = (uint8_t)confine_landlock_abi();
        version = (unsigned)ret->groups.version;
        by[LIMIT_WALL] = ENFORCED_CLOCK;
        by[LIMIT_CPU] = by[LIMIT_MEMORY] = by_cgroup[version];
        if (version && !cgroup_counts_cpu(&ret->groups))
                by[LIMIT_CPU] = ENFORCED_NOTHING;
        by[LIMIT_CPUS] = ret->groups.parents[HIERARCHY_CPU] >= 0 && version ? by_cgroup[version]
                                                                            : ENFORCED_NOTHING;
        by[LIMIT_PIDS] = version ? by_cgroup[version] : ENFORCED_RLIMIT;
        by[LIMIT_DISK] = by[LIMIT_INODES] = ENFORCED_TMPFS;
        by[LIMIT_FILES] = ENFORCED_RLIMIT;
        by[LIMIT_OUTPUT] = ENFORCED_RUNNER;
        by[LIMIT_RESULT] = ENFORCED_SUPERVISOR;
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                if (by[i] == ENFORCED_POLLING || by[i] == ENFORCED_NOTHING)
                        ret->weak |= 1ULL << i;
}
