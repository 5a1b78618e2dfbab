/* Plays a helper that was taken over: linked into assay-unpack and assay-score for the tests, and
 * called right after they locked themselves in. argv[0] names one attempt to get out; the answer
 * says whether the call was refused. Most attempts end by the kernel's hand before that. */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static long open_at(int dir, const char *path, int flags)
{
        struct open_how how = {.flags = (unsigned)flags, .mode = flags & O_CREAT ? 0600 : 0};

        return syscall(SYS_openat2, dir, path, &how, sizeof how);
}

static long open_host(void)
{
        return open_at(AT_FDCWD, "/etc/passwd", O_RDONLY);
}

static long write_host(void)
{
        return open_at(AT_FDCWD, "/tmp/assay-takeover", O_WRONLY | O_CREAT);
}

static long list_host(void)
{
        return open_at(AT_FDCWD, "/etc", O_RDONLY | O_DIRECTORY);
}

static long connect_out(void)
{
        const struct sockaddr_un address = {AF_UNIX, "/run/assay-takeover"};

        return connect(1, (const struct sockaddr *)&address, sizeof address);
}

static long make_socket(void)
{
        return socket(AF_INET, SOCK_STREAM, 0);
}

static long execute(void)
{
        char *const argv[] = {(char[]){"/bin/true"}, NULL};

        return execve(argv[0], argv, argv + 1);
}

static long make_process(void)
{
        return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long signal_parent(void)
{
        return kill(getppid(), 0);
}

static long trace_parent(void)
{
        return ptrace(PTRACE_ATTACH, getppid(), 0, 0);
}

static long read_parent(void)
{
        char byte;
        struct iovec here = {&byte, 1}, there = {&byte, 1};

        return process_vm_readv(getppid(), &here, 1, &there, 1, 0);
}

static long make_mount(void)
{
        return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static long make_namespace(void)
{
        return unshare(CLONE_NEWUSER);
}

static long io_uring(void)
{
        return syscall(SYS_io_uring_setup, 1, NULL);
}

static long exec_memory(void)
{
        return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0) == MAP_FAILED
                       ? -1
                       : 0;
}

static long chmod_host(void)
{
        return fchmodat(AT_FDCWD, "/etc/passwd", 0644, 0);
}

static long link_host(void)
{
        return symlinkat("x", AT_FDCWD, "/tmp/assay-takeover");
}

static long make_device(void)
{
        return mknodat(3, "assay-takeover", S_IFCHR, (dev_t)1 << 8 | 3);
}

static long make_block_device(void)
{
        return mknodat(3, "assay-takeover", S_IFBLK, 0);
}

static long make_whiteout(void)
{
        return mknodat(3, "whiteout", S_IFCHR, 0);
}

static long set_id(void)
{
        return fchmod(3, 06755);
}

static long set_id_by_name(void)
{
        return fchmodat(3, ".", 04755, 0);
}

static long hard_link_host(void)
{
        return linkat(AT_FDCWD, "/etc/passwd", 3, "assay-takeover", 0);
}

static long touch_host(void)
{
        return utimensat(AT_FDCWD, "/etc/passwd", NULL, 0);
}

static long open_tree_file(void)
{
        return open_at(3, "planted", O_WRONLY | O_CREAT);
}

static long leave_tree(void)
{
        return open_at(3, "../assay-takeover", O_WRONLY | O_CREAT);
}

static long speak(void)
{
        return 0;
}

static const struct {
        const char *name;
        long (*attempt)(void);
} attempts[] = {
        {"open-host", open_host},
        {"write-host", write_host},
        {"list-host", list_host},
        {"connect", connect_out},
        {"socket", make_socket},
        {"exec", execute},
        {"fork", make_process},
        {"signal-parent", signal_parent},
        {"trace-parent", trace_parent},
        {"read-parent-memory", read_parent},
        {"mount", make_mount},
        {"namespace", make_namespace},
        {"io-uring", io_uring},
        {"exec-memory", exec_memory},
        {"chmod-host", chmod_host},
        {"link-host", link_host},
        {"make-device", make_device},
        {"make-block-device", make_block_device},
        {"make-whiteout", make_whiteout},
        {"set-id", set_id},
        {"set-id-by-name", set_id_by_name},
        {"hard-link-host", hard_link_host},
        {"touch-host", touch_host},
        {"open-tree", open_tree_file},
        {"leave-tree", leave_tree},
        {"speak", speak},
};

void takeover_hook(void)
{
        const char *wanted = program_invocation_name;
        char line[64];

        for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
                long r;

                if (strcmp(attempts[i].name, wanted) != 0)
                        continue;
                r = attempts[i].attempt();
                snprintf(line, sizeof line, "%s: %s\n", wanted, r < 0 ? "refused" : "done");
                if (write(1, line, strlen(line)) < 0)
                        _exit(1);
                _exit(0);
        }
}
