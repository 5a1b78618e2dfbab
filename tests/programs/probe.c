/* What can a process in a cell do? One line an attempt: "NAME: what happened". Everything that is
 * refused says so by its errno; the tests hold the list of what must be refused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGH 0xdeadbeef00000000UL /* garbage that the kernel does not look at */

static void say(const char *name, long result)
{
        printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

static void try_call(const char *name, long number, long a, long b, long c, long d)
{
        say(name, syscall(number, a, b, c, d, 0, 0));
}

/* A call that may kill runs in a child. */
static void try_child(const char *name, void (*attempt)(void))
{
        int status;

        fflush(stdout);
        if (fork() == 0) {
                attempt();
                _exit(0);
        }
        wait(&status);
        if (WIFSIGNALED(status))
                printf("%s: killed by %s\n", name, sigabbrev_np(WTERMSIG(status)));
        else
                printf("%s: lived\n", name);
}

static void call_i386(void)
{
        long r;

        __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
}

static void call_x32(void)
{
        syscall(0x40000000 + SYS_getpid);
}

static void namespaces(void)
{
        try_call("clone(NEWUSER)", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0);
        try_call("clone(NEWUSER, garbage above)", SYS_clone, (long)(HIGH | CLONE_NEWUSER | SIGCHLD),
                0, 0, 0);
        try_call("clone(NEWNET)", SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0);
        try_call("clone3", SYS_clone3, 0, 0, 0, 0);
        try_call("unshare(NEWUSER)", SYS_unshare, CLONE_NEWUSER, 0, 0, 0);
        try_call("setns", SYS_setns, 0, 0, 0, 0);
}

static void mounts(void)
{
        try_call("mount", SYS_mount, (long)"none", (long)"/tmp", (long)"tmpfs", 0);
        try_call("umount2", SYS_umount2, (long)"/proc", MNT_DETACH, 0, 0);
        try_call("pivot_root", SYS_pivot_root, (long)".", (long)".", 0, 0);
        try_call("chroot", SYS_chroot, (long)"/tmp", 0, 0, 0);
        try_call("open_tree", SYS_open_tree, AT_FDCWD, (long)"/", 1, 0);
        try_call("fsopen", SYS_fsopen, (long)"tmpfs", 0, 0, 0);
        say("mknod(device)", mknod("/tmp/disk", S_IFBLK | 0600, makedev(8, 0)));
}

static void kernel_doors(void)
{
        try_call("io_uring_setup", SYS_io_uring_setup, 1, 0, 0, 0);
        try_call("bpf", SYS_bpf, 0, 0, 0, 0);
        try_call("perf_event_open", SYS_perf_event_open, 0, 0, 0, 0);
        try_call("userfaultfd", SYS_userfaultfd, 0, 0, 0, 0);
        try_call("keyctl", SYS_keyctl, 0, 0, 0, 0);
        try_call("add_key", SYS_add_key, 0, 0, 0, 0);
        try_call("seccomp", SYS_seccomp, 0, 0, 0, 0);
        try_call("open_by_handle_at", SYS_open_by_handle_at, 0, 0, 0, 0);
        try_call("init_module", SYS_init_module, 0, 0, 0, 0);
        try_call("kexec_load", SYS_kexec_load, 0, 0, 0, 0);
        try_call("reboot", SYS_reboot, 0, 0, 0, 0);
        try_call("an unknown call", 1000, 0, 0, 0, 0);
        try_child("an i386 call", call_i386);
        try_child("an x32 call", call_x32);
}

static void sockets(void)
{
        say("socket(UNIX)", socket(AF_UNIX, SOCK_STREAM, 0));
        say("socket(INET)", socket(AF_INET, SOCK_STREAM, 0));
        say("socket(INET6)", socket(AF_INET6, SOCK_STREAM, 0));
        say("socket(NETLINK)", socket(AF_NETLINK, SOCK_RAW, 0));
        say("socket(PACKET)", socket(AF_PACKET, SOCK_RAW, 0));
        say("socket(VSOCK)", socket(AF_VSOCK, SOCK_STREAM, 0));
        say("socket(ALG)", socket(AF_ALG, SOCK_SEQPACKET, 0));
        try_call("socket(ALG, garbage above)", SYS_socket, (long)(HIGH | AF_ALG), SOCK_SEQPACKET, 0,
                0);
        try_call("ioctl(TIOCSTI)", SYS_ioctl, 0, TIOCSTI, (long)"x", 0);
        try_call("ioctl(TIOCSTI, garbage above)", SYS_ioctl, 0, (long)(HIGH | TIOCSTI), (long)"x",
                0);
        try_call("ioctl(TIOCLINUX)", SYS_ioctl, 0, TIOCLINUX, (long)"x", 0);
}

static void processes(void)
{
        char byte;
        struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};

        say("ptrace(1)", ptrace(PTRACE_ATTACH, 1, 0, 0));
        say("process_vm_readv(1)", process_vm_readv(1, &here, 1, &there, 1, 0));
        say("prlimit(1)", prlimit(1, RLIMIT_CPU, &(struct rlimit){1, 1}, NULL));
        say("open(/proc/1/mem)", open("/proc/1/mem", O_RDONLY));
        say("open(/proc/1/environ)", open("/proc/1/environ", O_RDONLY));
        say("open(/proc/1/exe)", open("/proc/1/exe", O_RDONLY));
        say("opendir(/proc/1/fd)", opendir("/proc/1/fd") ? 0 : -1);
        say("kill(1)", kill(1, SIGKILL));
        printf("own pid: %d\n", getpid());
}

/* What a kernel may or may not have must be covered with /dev/null where it is. */
static void say_hidden(const char *name, int fd)
{
        struct stat st;
        int hidden = fd < 0 || (fstat(fd, &st) == 0 && st.st_rdev == makedev(1, 3));

        printf("%s: %s\n", name, hidden ? "hidden" : "there");
}

static void files(void)
{
        say("write(/proc/sys)", open("/proc/sys/kernel/hostname", O_WRONLY));
        say_hidden("write(/proc/sysrq-trigger)", open("/proc/sysrq-trigger", O_WRONLY));
        say_hidden("read(/proc/kcore)", open("/proc/kcore", O_RDONLY));
        say("write(/usr)", open("/usr/probe", O_WRONLY | O_CREAT, 0600));
        say("opendir(/sys)", opendir("/sys") ? 0 : -1);
        say("open(/etc/shadow)", open("/etc/shadow", O_RDONLY));
        say("posix_fadvise(DONTNEED)",
                syscall(SYS_fadvise64, open("/usr/bin/env", O_RDONLY), 0, 0, POSIX_FADV_DONTNEED));
        say("write(/tmp)", open("/tmp/probe", O_WRONLY | O_CREAT, 0600));
        say("write(/dev/shm)", open("/dev/shm/probe", O_WRONLY | O_CREAT, 0600));
        say("write(/dev/null)", open("/dev/null", O_WRONLY));
}

static void rights(void)
{
        int caps = 0;

        for (int cap = 0; cap < 64; cap++)
                caps += prctl(PR_CAPBSET_READ, cap) > 0;
        printf("uid: %d, capabilities in the bounding set: %d, no_new_privs: %d\n", getuid(), caps,
                prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
        say("setuid(1000)", setuid(1000));
        say("setgroups", (long)syscall(SYS_setgroups, 1, &(int){5}));
}

static void leaks(char **environment)
{
        int open_fds = 0;

        for (int fd = 0; fd < 4096; fd++)
                open_fds += fcntl(fd, F_GETFD) >= 0;
        printf("descriptors: %d\n", open_fds);
        for (char **e = environment; *e; e++)
                if (strncmp(*e, "CALLER_", 7) == 0)
                        printf("leaked: %s\n", *e);
        printf("umask: %04o\n", (unsigned)umask(0));
        printf("controlling terminal: %s\n", open("/dev/tty", O_RDWR) >= 0 ? "there" : "none");
        printf("SIGPIPE: %s\n", signal(SIGPIPE, SIG_DFL) == SIG_IGN ? "ignored" : "default");
}

int main(int argc, char **argv, char **environment)
{
        (void)argc;
        (void)argv;
        leaks(environment); /* first, before the others open anything */
        rights();
        namespaces();
        mounts();
        kernel_doors();
        sockets();
        processes();
        files();
        return 0;
}
