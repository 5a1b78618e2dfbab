/* Closing descriptors beside the supervisor; see undertaker.h. */
#include "undertaker.h"

#include "fd.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_WAITING = 256, AT_ONCE = 64 };

static int orders = -EBADF; /* the writing end of a pipe of descriptors; -EBADF: there is none */
static pid_t owner;         /* the supervisor: cells begin as copies of it */
static unsigned given;
static atomic_uint *closed; /* of them; shared */

_Noreturn static void work(int from)
{
        cap_t none = cap_init();
        int fds[AT_ONCE];
        ssize_t n;

        if (none)
                cap_set_proc(none);
        while ((n = read(from, fds, sizeof fds)) > 0)
                for (size_t i = 0; i < (size_t)n / sizeof *fds; i++) {
                        close(fds[i]);
                        atomic_fetch_add(closed, 1);
                }
        _exit(0);
}

void undertaker_start(void)
{
        int pipes[2];
        long pid;

        if (owner == getpid())
                return;
        owner = getpid();
        closed = mmap(
                NULL, sizeof *closed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (closed == MAP_FAILED || fd_pipe(pipes, NULL) < 0)
                return;
        /* As fork(), but with one table of descriptors. */
        pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != owner)
                        _exit(0);
                work(pipes[0]);
        }
        if (pid > 0)
                orders = pipes[1];
        else {
                fd_close(pipes[0]);
                fd_close(pipes[1]);
        }
}

bool undertaker_works(void)
{
        return orders >= 0;
}

static bool hand_over(const int *fds, unsigned count)
{
        const size_t size = count * sizeof *fds;

        if (orders < 0 || owner != getpid() || count > AT_ONCE ||
                given + count - atomic_load(closed) > MOST_WAITING ||
                write(orders, fds, size) != (ssize_t)size)
                return false;
        given += count;
        return true;
}

void undertaker_close(const int *fds, unsigned count)
{
        int open[AT_ONCE];
        unsigned opened = 0;

        for (unsigned i = 0; i < count; i++)
                if (fds[i] >= 0 && opened < AT_ONCE)
                        open[opened++] = fds[i];
                else
                        fd_close(fds[i]);
        if (opened > 0 && !hand_over(open, opened))
                while (opened > 0)
                        fd_close(open[--opened]);
}
