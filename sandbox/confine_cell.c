/* How a process in a cell loses its last rights. The order is forced: each step needs something
 * that a later one takes. Runs in the command's process, and in the cell's first process once the
 * view is built. */
#include "inside.h"

#include "confine.h"
#include "fd.h"
#include "filter_sandbox.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Lower a resource limit; raising one would need a privilege, so the caller's stays if lower. */
static int lower(int resource, uint64_t value)
{
        struct rlimit now, want;

        if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
                return -1;
        if (value > now.rlim_max)
                value = now.rlim_max;
        want = (struct rlimit){value, value};
        return setrlimit((__rlimit_resource_t)resource, &want);
}

const char *confine_limits(const struct inside *in)
{
        const uint64_t *limit = in->request->limits.value;
        /* A second of grace: the supervisor's own count of all processes should speak first. */
        uint64_t cpu_seconds = limit[LIMIT_CPU] / 1000000 + 2;

        if (lower(RLIMIT_CPU, cpu_seconds) < 0 || lower(RLIMIT_NOFILE, limit[LIMIT_FILES]) < 0 ||
                lower(RLIMIT_CORE, 0) < 0 || lower(RLIMIT_FSIZE, limit[LIMIT_DISK]) < 0 ||
                lower(RLIMIT_MSGQUEUE, 65536) < 0 || lower(RLIMIT_STACK, 8 << 20) < 0 ||
                lower(RLIMIT_MEMLOCK, 65536) < 0 || lower(RLIMIT_SIGPENDING, 4096) < 0 ||
                lower(RLIMIT_RTPRIO, 0) < 0 || lower(RLIMIT_NICE, 0) < 0)
                return "set its resource limits";
        if (in->pids_rlimit && lower(RLIMIT_NPROC, in->pids_rlimit) < 0)
                return "limit its processes";
        if (in->weak_memory && lower(RLIMIT_DATA, 2 * limit[LIMIT_MEMORY]) < 0)
                return "limit its memory";
        return NULL;
}

static int drop_capabilities(void)
{
        const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
        cap_t none;
        int r;

        if (prctl(PR_SET_SECUREBITS, bits) < 0 ||
                prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
                return -1;
        for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
                if (cap_drop_bound(cap) < 0)
                        return -1;
        none = cap_init();
        if (!none)
                return -1;
        r = cap_set_proc(none);
        cap_free(none);
        return r;
}

/* The second fence: whatever is not below the cell's own root cannot be opened, even through a
 * descriptor that came from the host (/proc/self/fd). */
static int fence_off_host(void)
{
        _cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        return root < 0 ? -1 : confine_landlock(root, UINT64_MAX, true);
}

const char *confine_cell(void)
{
        static const struct sock_fprog program = {
                .len = sizeof filter_sandbox / sizeof *filter_sandbox,
                .filter = (struct sock_filter *)(uintptr_t)filter_sandbox,
        };

        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
                return "leave the caller's keyring";
        if (drop_capabilities() < 0)
                return "drop its capabilities";
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return "refuse new privileges";
        if (fence_off_host() < 0)
                return "fence off the host with landlock";
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                return "load its system call filter";
        return NULL;
}
