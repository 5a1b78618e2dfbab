/* Starting our own programs; see spawn.h. Called by the supervisor, and by the runner for the
 * supervisor itself. */
#include "spawn.h"

#include "beneath.h"
#include "fd.h"

#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ASSAY_LIBEXEC
#define ASSAY_LIBEXEC "../libexec/assay"
#endif

struct child {
        const struct spawn *spawn;
        pid_t parent;
        volatile int failed; /* errno of the step that failed; shared with the parent */
};

static int child_bound(uint64_t rights)
{
        for (unsigned long cap = 0; cap < 64; cap++)
                if (!(rights & 1ULL << cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 &&
                        errno != EINVAL)
                        return -1;
        return 0;
}

static int child_ids(const struct spawn *s, unsigned long securebits)
{
        if (prctl(PR_SET_SECUREBITS, securebits) < 0 || syscall(SYS_setgroups, 0, NULL) < 0 ||
                syscall(SYS_setresgid, s->gid, s->gid, s->gid) < 0 ||
                syscall(SYS_setresuid, s->uid, s->uid, s->uid) < 0)
                return -1;
        return 0;
}

static int child_root(const struct spawn *s)
{
        return s->root < 0 || (fchdir(s->root) == 0 && chroot(".") == 0) ? 0 : -1;
}

/* Into another user namespace, which takes our capabilities and gives all of its own. The kernel's
 * ids stay those that we have here, whatever they are called there; so what shall be kept must be
 * ambient. */
static int child_enter(const struct spawn *s)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        const uint32_t low = (uint32_t)s->rights, high = (uint32_t)(s->rights >> 32);
        const struct __user_cap_data_struct data[] = {{low, low, low}, {high, high, high}};

        if ((s->change_ids && child_ids(s, SECBIT_NO_SETUID_FIXUP) < 0) ||
                setns(s->namespace, CLONE_NEWUSER) < 0 || child_root(s) < 0 ||
                child_bound(s->rights) < 0 || syscall(SYS_capset, &header, data) < 0)
                return -1;
        for (unsigned long cap = 0; cap < 64; cap++)
                if (s->rights & 1ULL << cap &&
                        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
                        return -1;
        return 0;
}

static int child_rights(const struct spawn *s)
{
        if (s->rights)
                return child_enter(s);
        if (!s->change_ids)
                return 0;
        return child_bound(0) < 0 ? -1 : child_ids(s, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED);
}

static int move_away(int fd, unsigned places)
{
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)places);

        if (moved < 0 && errno == EINVAL) /* no such number is allowed */
                errno = EMFILE;
        return moved;
}

/* Put the descriptors in their places. All are first moved out of the way, so that no place is
 * overwritten before its own content was saved. */
static int child_fds(const struct spawn *s, int null, int *ret_program)
{
        int from[SPAWN_MAX_FDS];

        *ret_program = move_away(s->program, s->fd_count);
        if (*ret_program < 0)
                return -1;
        for (unsigned i = 0; i < s->fd_count; i++) {
                from[i] = move_away(s->fds[i] >= 0 ? s->fds[i] : null, s->fd_count);
                if (from[i] < 0)
                        return -1;
        }
        for (unsigned i = 0; i < s->fd_count; i++)
                if (dup2(from[i], (int)i) < 0)
                        return -1;
        if (fd_close_range(s->fd_count, UINT_MAX, true) < 0)
                return -1;
        return s->script ? fcntl(*ret_program, F_SETFD, 0) : 0;
}

static int child_main(void *arg)
{
        struct child *child = arg;
        const struct spawn *s = child->spawn;
        static const char *const no_environment[] = {NULL};
        int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* while it can be reached */
        sigset_t none;
        int program;

        sigemptyset(&none);
        for (int sig = 1; sig < NSIG; sig++)
                signal(sig, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        umask(022);
        syscall(SYS_setsid);
        syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
        if (null < 0 || (!s->rights && child_root(s) < 0) || child_fds(s, null, &program) < 0 ||
                child_rights(s) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
                child->failed = errno;
                _exit(127);
        }
        if (getppid() != child->parent) /* it died before we asked to die with it */
                _exit(127);
        syscall(SYS_execveat, program, "", s->argv, s->envp ? s->envp : no_environment,
                AT_EMPTY_PATH);
        child->failed = errno;
        _exit(127);
}

/* Is it the program that is at fault, or what this machine has left? */
static enum code why(int failed)
{
        return failed == EAGAIN || failed == ENOMEM ? CODE_INFRA_MEMORY : CODE_INFRA_HELPER;
}

/* A sanitizer's: the child leaves marks on the stack, where the next child's may come to lie. */
void __asan_unpoison_memory_region(const volatile void *at, size_t size) __attribute__((weak));

pid_t spawn_process(const struct spawn *s, int *ret_pidfd, struct error *err)
{
        enum { STACK_SIZE = 64 << 10 };
        struct child child = {.spawn = s, .parent = getpid()};
        /* Without privilege a new root takes a user namespace of the child's own. */
        int own_user = s->root >= 0 && !s->change_ids && !s->rights ? CLONE_NEWUSER : 0;
        int pidfd = -EBADF, dumpable = prctl(PR_GET_DUMPABLE);
        sigset_t all, saved;
        char *stack;
        pid_t pid;

        stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start %s", s->argv[0]);
        /* A signal handler of ours must not run in the child, on our memory. */
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, &saved);
        pid = clone(child_main, stack + STACK_SIZE,
                CLONE_VM | CLONE_VFORK | CLONE_PIDFD | own_user | SIGCHLD, &child, &pidfd);
        if (pid < 0)
                child.failed = errno;
        sigprocmask(SIG_SETMASK, &saved, NULL);
        /* On the shared memory the child's new rights made us undumpable: the /proc of cells that
         * we make later would be closed to us. */
        if (s->rights && dumpable == 1)
                prctl(PR_SET_DUMPABLE, 1);
        if (__asan_unpoison_memory_region)
                __asan_unpoison_memory_region(stack, STACK_SIZE);
        munmap(stack, STACK_SIZE);
        if (child.failed) {
                if (pid > 0)
                        waitpid(pid, NULL, 0);
                fd_close(pidfd);
                return error_errno(
                        err, why(child.failed), child.failed, "cannot start %s", s->argv[0]);
        }
        *ret_pidfd = pidfd;
        return pid;
}

int spawn_wait(int pidfd, struct error *err)
{
        siginfo_t info = {0};
        int r;

        do
                r = waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
        while (r < 0 && errno == EINTR);
        if (r < 0)
                return error_errno(err, CODE_INTERNAL_BUG, errno, "cannot wait for a program");
        return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

int spawn_find(const char *name, struct error *err)
{
        char path[PATH_MAX];
        ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
        char *slash;
        _cleanup_fd_ int dir = -EBADF;
        int fd;

        if (len <= 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "cannot find my own program");
        path[len] = '\0';
        slash = strrchr(path, '/');
        if (slash)
                *slash = '\0';
        dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "cannot open %s", path);
        fd = openat(dir, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT) {
                int libexec = openat(dir, ASSAY_LIBEXEC, O_PATH | O_DIRECTORY | O_CLOEXEC);

                fd = libexec < 0 ? -1 : openat(libexec, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
                fd_close(libexec);
        }
        if (fd < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno,
                        "%s is neither in %s nor in %s/%s", name, path, path, ASSAY_LIBEXEC);
        return fd;
}
