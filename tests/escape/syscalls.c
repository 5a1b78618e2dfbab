/* Every system call number by the doors of the other architectures, and doors into the kernel that
 * the probe (tests/programs/probe.c) knocks at only once. */
#include "attempt.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { MOST_CALLS = 600, X32 = 0x40000000 };

#define HIGH 0xdeadbeef00000000UL

static void call_i386(void *number)
{
        long r;

        __asm__ volatile("int $0x80" : "=a"(r) : "a"(*(long *)number), "b"(0), "c"(0) : "memory");
}

static void call_x32(void *number)
{
        syscall(X32 + *(long *)number, 0, 0, 0, 0, 0, 0);
}

static void every_number(const char *name, void (*call)(void *))
{
        long lived = 0;

        for (long number = 0; number < MOST_CALLS; number++)
                lived += killed_by(call, &number) != SIGSYS;
        note(name, "%ld of %d numbers lived", lived, MOST_CALLS);
        escaped_if(name, lived != 0);
}

static void namespaces(void)
{
        static const long flags[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWTIME};
        int self = open("/proc/self/ns/user", O_RDONLY), pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
                refused("unshare(one)", unshare((int)flags[i]));
                if (flags[i] != CLONE_NEWTIME) /* to clone() this is part of the signal's number */
                        refused("clone(one)", syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0));
                refused("setns(pidfd of pid 1)", setns(pidfd, (int)flags[i]));
        }
        refused("setns(own)", setns(self, 0));
        refused("mount(bind)", mount("/", "/tmp", NULL, MS_BIND | MS_REC, NULL));
        refused("mount(remount /usr)", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
        refused("mount(shared)", mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL));
        refused("mount(move /proc)", mount("/proc", "/tmp", NULL, MS_MOVE, NULL));
        refused("mount(cgroup2)", mount("none", "/tmp", "cgroup2", 0, NULL));
        refused("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, 0, 0));
        refused("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, "/tmp", 0));
        refused("umount(/proc)", umount2("/proc", MNT_DETACH));
}

static void kernel_doors(void)
{
        struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
        struct sock_fprog program = {1, &allow};
        char handle[256] = {0};

        refused("seccomp listener", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                            SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
        refused("seccomp listener, garbage above",
                syscall(SYS_seccomp, HIGH | SECCOMP_SET_MODE_FILTER,
                        HIGH | SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
        refused("userfaultfd(user only)", syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
        closed("/dev/userfaultfd", O_RDWR);
        refused("name_to_handle_at",
                syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &(int){0}, 0));
        for (long n = 425; n <= 427; n++)
                refused("io_uring", syscall(n, 1, handle, 0, 0, 0, 0));
        for (long n = SYS_add_key; n <= SYS_keyctl; n++)
                refused("a keyring", syscall(n, HIGH, 0, 0, 0, 0));
        for (int family = 0; family < 64; family++)
                if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
                        refused("another socket family", socket(family, SOCK_RAW, 0));
        refused("socket(INET, RAW)", socket(AF_INET, SOCK_RAW, 1));
        refused("socket(INET6, RAW)", socket(AF_INET6, SOCK_RAW, 58));
        refused("SO_MARK",
                setsockopt(socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, SO_MARK, &(int){1}, 4));
        refused("SO_RCVBUFFORCE", setsockopt(socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET,
                                          SO_RCVBUFFORCE, &(int){1 << 30}, 4));
        refused("process_vm_writev(1)", process_vm_writev(1, NULL, 0, NULL, 0, 0));
        /* Last: it is for good. A filter of our own may be added, and answers for nobody else. */
        allow.k = SECCOMP_RET_ALLOW;
        note("prctl(PR_SET_SECCOMP)", "%d", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
        refused("io_uring under a filter that allows all", syscall(SYS_io_uring_setup, 1, handle));
}

/* Typing into a terminal: the caller's, if there is one, and one of the cell's own. */
static void terminals(void)
{
        int own = open("/dev/ptmx", O_RDWR | O_NOCTTY);

        for (int fd = 0; fd < 3; fd++) {
                refused("TIOCSTI", ioctl(fd, TIOCSTI, "x"));
                refused("TIOCSCTTY", ioctl(fd, TIOCSCTTY, 1));
        }
        refused("TIOCSTI, own terminal", ioctl(own, TIOCSTI, "x"));
        refused("TIOCSTI, garbage above", syscall(SYS_ioctl, own, HIGH | TIOCSTI, "x"));
        refused("TIOCLINUX", ioctl(own, TIOCLINUX, "\3"));
        refused("TIOCCONS", ioctl(own, TIOCCONS));
}

int main(void)
{
        every_number("i386", call_i386);
        every_number("x32", call_x32);
        namespaces();
        terminals();
        kernel_doors();
        return 0;
}
