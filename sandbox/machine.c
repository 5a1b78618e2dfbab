/* What this machine lets the supervisor do: decided from what is there, before the first cell. */
#include "cell.h"

#include "confine.h"

#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What making cells as root takes; everything else that root may do is given up. */
static const struct {
        cap_value_t right;
        const char *name;
        bool spare; /* it goes without, a little worse */
} needed[] = {
        {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", false},
        {CAP_SETUID, "CAP_SETUID", false},
        {CAP_SETGID, "CAP_SETGID", false},
        {CAP_SETPCAP, "CAP_SETPCAP", false},
        {CAP_SETFCAP, "CAP_SETFCAP", false},
        {CAP_CHOWN, "CAP_CHOWN", false},
        {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", false},
        {CAP_FOWNER, "CAP_FOWNER", false},
        {CAP_MKNOD, "CAP_MKNOD", false},
        {CAP_KILL, "CAP_KILL", false},
        {CAP_SYS_CHROOT, "CAP_SYS_CHROOT", false},
        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", true},
        {CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", true},
};

static bool has(cap_t caps, cap_value_t right)
{
        cap_flag_value_t value;

        return cap_get_flag(caps, right, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

/* May this process make cells as root? If not, `ret_lacking` is the right that it lacks. */
static bool may_be_root(const char **ret_lacking)
{
        cap_t caps = cap_get_proc();
        bool all = caps != NULL;

        for (size_t i = 0; all && i < sizeof needed / sizeof *needed; i++) {
                *ret_lacking = needed[i].name;
                all = needed[i].spare || has(caps, needed[i].right);
        }
        if (caps)
                cap_free(caps);
        return all;
}

/* In a user namespace of somebody else, 0 is an ordinary user of the host. The host's own has a
 * number that the kernel never changes. */
static bool is_host_namespace(void)
{
        const ino_t initial = 0xEFFFFFFDU; /* PROC_USER_INIT_INO */
        struct stat st;

        return stat("/proc/self/ns/user", &st) < 0 || st.st_ino == initial;
}

/* Root that lacks a right is a user, but not the host's root: its id must not be a cell's. */
static void find_root(struct machine *ret)
{
        const char *lacking = "rights";

        if (geteuid() != 0 || !is_host_namespace())
                return;
        ret->root = may_be_root(&lacking);
        if (ret->root)
                return;
        snprintf(ret->refused, sizeof ret->refused,
                "root lacks %s: give it that, or start assay as another user", lacking);
}

/* To go on with more than meant would be worse than to end. */
void machine_keep_rights(void)
{
        cap_t now = cap_get_proc(), keep = cap_init();

        for (size_t i = 0; now && keep && i < sizeof needed / sizeof *needed; i++) {
                const cap_value_t *right = &needed[i].right;

                if (has(now, *right) &&
                        (cap_set_flag(keep, CAP_PERMITTED, 1, right, CAP_SET) < 0 ||
                                cap_set_flag(keep, CAP_EFFECTIVE, 1, right, CAP_SET) < 0))
                        abort();
        }
        if (!now || !keep || cap_set_proc(keep) < 0)
                abort();
        cap_free(now);
        cap_free(keep);
        /* Taking on a cell's id for a moment (ids_borrow) must not take capabilities away. */
        if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0)
                abort();
}

void machine_find(struct machine *ret)
{
        static const uint8_t by_cgroup[] = {
                ENFORCED_POLLING, ENFORCED_CGROUP_V1, ENFORCED_CGROUP_V2};
        uint8_t *by = ret->enforcers;
        unsigned version;

        *ret = (struct machine){0};
        find_root(ret);
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
