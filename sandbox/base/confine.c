/* Self-confinement of a helper; what it means is in confine.h. The order matters: each step needs
 * a right that a later one takes away. */
#include "confine.h"

#include "fd.h"

#include <limits.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not by getrlimit() and setrlimit(), which name the type of a resource differently in each libc.
 */
int confine_limit(int resource, uint64_t value)
{
        /* At the soft limit comes SIGXCPU, which says what happened; SIGKILL would not. */
        struct rlimit want = {value, resource == RLIMIT_CPU ? value + 1 : value};

        if (prlimit(0, resource, &want, NULL) == 0)
                return 0;
        /* More than the caller has would need a privilege. */
        if (errno != EPERM || prlimit(0, resource, NULL, &want) < 0)
                return -1;
        if (value < want.rlim_max)
                want.rlim_max = value;
        want.rlim_cur = want.rlim_max;
        return prlimit(0, resource, &want, NULL);
}

/* Of `from`, those of the mask. */
static int keep(cap_t from, cap_t to, uint64_t kept)
{
        static const cap_flag_t flags[] = {CAP_PERMITTED, CAP_EFFECTIVE};

        for (cap_value_t cap = 0; cap < 64; cap++) {
                cap_flag_value_t has;

                if (!(kept & 1ULL << cap))
                        continue;
                if (cap_get_flag(from, cap, CAP_PERMITTED, &has) < 0)
                        return -1;
                for (unsigned i = 0; has == CAP_SET && i < 2; i++)
                        if (cap_set_flag(to, flags[i], 1, &cap, CAP_SET) < 0)
                                return -1;
        }
        return 0;
}

int confine_capabilities(uint64_t kept)
{
        cap_t now = cap_get_proc(), then = cap_init();
        int r = now && then ? keep(now, then, kept) : -1;

        if (r == 0)
                r = cap_set_proc(then);
        cap_free(now);
        cap_free(then);
        if (r == 0)
                r = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        return r;
}

int confine_filter(const struct sock_filter *filter, size_t length)
{
        struct sock_fprog program = {
                .len = (unsigned short)length,
                .filter = (struct sock_filter *)(uintptr_t)filter,
        };

        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int confine_landlock_abi(void)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

        return abi > 0 ? (int)abi : 0;
}

int confine_landlock(const struct confine_tree *trees, unsigned count, bool network)
{
        /* Bits by ABI version; the newer ones are not in every system's header. */
        static const uint64_t known[] = {0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff};
        struct {
                uint64_t fs, net, scope;
        } rules = {0};
        int abi = confine_landlock_abi();
        size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
        _cleanup_fd_ int ruleset = -EBADF;

        if (abi <= 0)
                return 0;
        rules.fs = known[abi < 5 ? abi : 5];
        rules.net = abi >= 4 && !network ? 3 : 0;
        rules.scope = abi >= 6 ? 3 : 0;
        ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
        if (ruleset < 0)
                return -1;
        for (; count > 0; trees++, count--) {
                struct landlock_path_beneath_attr beneath = {
                        .parent_fd = trees->tree, .allowed_access = trees->allowed & rules.fs};

                if (trees->tree >= 0 && syscall(SYS_landlock_add_rule, ruleset,
                                                LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0)
                        return -1;
        }
        return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

#ifndef ASSAY_UNCONFINED
/* What a helper may do below its tree: make, write, read and remove. */
static const uint64_t below_tree = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                                   LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;

static const uint64_t below_readable = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

static int limits(const struct confinement *c)
{
        if (confine_limit(RLIMIT_CPU, c->cpu_seconds) < 0 ||
                confine_limit(RLIMIT_AS, c->memory) < 0 ||
                confine_limit(RLIMIT_FSIZE, c->file_size) < 0 ||
                confine_limit(RLIMIT_NOFILE, c->open_files) < 0 ||
                confine_limit(RLIMIT_NPROC, 0) < 0 || confine_limit(RLIMIT_CORE, 0) < 0 ||
                confine_limit(RLIMIT_MEMLOCK, 0) < 0 || confine_limit(RLIMIT_MSGQUEUE, 0) < 0)
                return -1;
        return 0;
}

#ifdef __GLIBC__
static int no_order(const void *left, const void *right)
{
        (void)left;
        (void)right;
        return 0;
}

/* The first qsort() of more than a kilobyte asks how much memory the machine has. */
static void sort_once(void)
{
        int enough[1024] = {0};

        qsort(enough, sizeof enough / sizeof *enough, sizeof *enough, no_order);
}
#else
static void sort_once(void)
{
}
#endif

int confine_self(const struct confinement *c, struct error *err)
{
        const struct confine_tree trees[] = {
                {c->tree, below_tree | c->also_below}, {c->readable, below_readable}};
        const char *step = NULL;

        sort_once();

        if (prctl(PR_SET_DUMPABLE, 0) < 0)
                step = "dumpable";
        else if (fd_close_range(c->keep_fds, UINT_MAX, false) < 0)
                step = "descriptors";
        else if (confine_capabilities(c->rights) < 0)
                step = "capabilities";
        else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                step = "no_new_privs";
        else if (confine_landlock(trees, 2, false) < 0)
                step = "landlock";
        else if (limits(c) < 0)
                step = "limits";
        else if (confine_filter(c->filter, c->filter_length) < 0)
                step = "seccomp";
        if (step)
                return error_errno(err, CODE_INFRA_HELPER, errno, "%s cannot lock itself in (%s)",
                        c->name, step);
        return 0;
}
#else
int confine_self(const struct confinement *c, struct error *err)
{
        (void)c;
        (void)err;
        return 0;
}
#endif
