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

#define LENGTH(list) (sizeof(list) / sizeof *(list))

enum { MOST_INSTRUCTIONS = 1024 };

/* The count includes the first process; one more than the limit may start, so that a look can tell
 * a cell beyond its limit from one that is just there. */
enum { OWN_PIDS = 2 };

const char *confine_limits(const struct inside *in)
{
        const uint64_t *limit = in->request.limits.value;
        const struct {
                int resource;
                uint64_t value;
        } rows[] = {
                /* Later than the supervisor's own count of all processes, which should speak first.
                 */
                {RLIMIT_CPU, limit[LIMIT_CPU] / 1000000 + 2},
                {RLIMIT_NOFILE, limit[LIMIT_FILES]},
                {RLIMIT_STACK, 8 << 20},
                {RLIMIT_AS, UINT64_MAX}, /* the caller's, as far as it can be lifted */
                {RLIMIT_FSIZE, UINT64_MAX},
                {RLIMIT_CORE, 0},
                /* Kernel memory and rights that no group counts. */
                {RLIMIT_MSGQUEUE, 64 << 10},
                {RLIMIT_MEMLOCK, 64 << 10},
                {RLIMIT_SIGPENDING, 4096},
                {RLIMIT_RTPRIO, 0},
                {RLIMIT_NICE, 0},
                /* Where no group counts processes and memory. */
                {RLIMIT_NPROC, in->grouped ? UINT64_MAX : limit[LIMIT_PIDS] + OWN_PIDS},
                {RLIMIT_DATA, in->grouped ? UINT64_MAX : 2 * limit[LIMIT_MEMORY]},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (confine_limit(rows[i].resource, rows[i].value) < 0)
                        return "set its resource limits";
        return NULL;
}

/* The ids that the command shall have. With NO_SETUID_FIXUP the capabilities stay until they are
 * dropped. */
static int take_user(uint32_t uid, uint32_t gid)
{
        const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

        if (prctl(PR_SET_SECUREBITS, bits) < 0 || syscall(SYS_setresgid, gid, gid, gid) < 0)
                return -1;
        return (int)syscall(SYS_setresuid, uid, uid, uid);
}

const char *confine_bound(void)
{
        for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
                if (cap_drop_bound(cap) < 0)
                        return "drop its capabilities";
        return NULL;
}

/* The second fence: whatever is not below the cell's own root cannot be opened, even through a
 * descriptor that came from the host (/proc/self/fd). */
static int fence_off_host(void)
{
        _cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        const struct confine_tree all = {root, UINT64_MAX};

        return root < 0 ? -1 : confine_landlock(&all, 1, true);
}

/* Instead of denying, ask: the supervisor writes down what it is asked, and denies (trace.c). Sends
 * it the descriptor to be asked through. */
static int load_asking(const struct inside *in, const struct sock_filter *filter, size_t length)
{
        const struct buffer nothing = BUFFER_INIT;
        struct sock_filter asking[MOST_INSTRUCTIONS];
        struct sock_fprog program = {(unsigned short)length, asking};
        int listener;

        if (length > MOST_INSTRUCTIONS)
                return -1;
        memcpy(asking, filter, length * sizeof *filter);
        for (size_t i = 0; i < length; i++)
                if (BPF_CLASS(asking[i].code) == BPF_RET &&
                        (asking[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
                        asking[i].k = SECCOMP_RET_USER_NOTIF;
        listener = (int)syscall(
                SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
        return listener < 0 ? -1
                            : frame_send(in->socket, INSIDE_LISTENER, &nothing, &listener, 1, NULL);
}

static int load_filter(const struct inside *in)
{
        static const struct {
                const struct sock_filter *program;
                size_t length;
        } filters[PROFILE_COUNT] = {
                [PROFILE_SUITE] = {filter_sandbox_suite, LENGTH(filter_sandbox_suite)},
                [PROFILE_SUBMISSION] = {filter_sandbox_submission,
                        LENGTH(filter_sandbox_submission)},
                [PROFILE_DEBUG] = {filter_sandbox_debug, LENGTH(filter_sandbox_debug)},
        };
        const unsigned profile = in->request.profile;

        if (in->request.flags & CELL_TRACE_DENIED)
                return load_asking(in, filters[profile].program, filters[profile].length);
        return confine_filter(filters[profile].program, filters[profile].length);
}

const char *confine_cell(const struct inside *in)
{
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
                return "leave the caller's keyring";
        if (take_user(in->request.uid, in->request.gid) < 0)
                return "take the ids of its user";
        if (confine_capabilities(0) < 0)
                return "drop its capabilities";
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return "refuse new privileges";
        if (fence_off_host() < 0)
                return "fence off the host with landlock";
        if (load_filter(in) < 0)
                return "load its system call filter";
        return NULL;
}
