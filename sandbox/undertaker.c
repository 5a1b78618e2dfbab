/* Closing descriptors beside the supervisor; see undertaker.h. */
#include "undertaker.h"

#include "fd.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/capability.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FINISH_TRIES = 20000 }; /* times 100 us: for one tmpfs, however large */

/* What both processes see. Whoever takes a number out of its place closes it: so each is closed
 * once, whatever becomes of the other process, and before its number can be somebody else's. */
struct graves {
        atomic_int open[UNDERTAKER_MOST]; /* 1 + a descriptor; 0: none */
        atomic_bool busy;                 /* the undertaker may have one in hand */
};

static bool works;
static int bell = -EBADF; /* an eventfd, never closed: its number must stay its own */
static pid_t undertaker;
static pid_t owner; /* the supervisor: cells begin as copies of it */
static struct graves *graves;

static void close_all(void)
{
        for (unsigned i = 0; i < UNDERTAKER_MOST; i++) {
                int taken =
                        atomic_load(&graves->open[i]) ? atomic_exchange(&graves->open[i], 0) : 0;

                if (taken > 0)
                        close(taken - 1);
        }
}

_Noreturn static void work(void)
{
        cap_t none = cap_init();
        eventfd_t rung;

        if (none)
                cap_set_proc(none);
        while (eventfd_read(bell, &rung) == 0 || errno == EINTR) {
                atomic_store(&graves->busy, true);
                close_all();
                atomic_store(&graves->busy, false);
        }
        _exit(0);
}

void undertaker_start(void)
{
        if (owner == getpid())
                return;
        owner = getpid();
        graves = mmap(
                NULL, sizeof *graves, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        bell = graves == MAP_FAILED ? -EBADF : eventfd(0, EFD_CLOEXEC);
        if (bell < 0)
                return;
        /* As fork(), but with one table of descriptors. */
        undertaker = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
        if (undertaker == 0) {
                if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != owner)
                        _exit(0);
                work();
        }
        works = undertaker > 0;
}

bool undertaker_works(void)
{
        return works;
}

static bool put(int fd)
{
        for (unsigned i = 0; i < UNDERTAKER_MOST; i++)
                if (atomic_load(&graves->open[i]) == 0) {
                        atomic_store(&graves->open[i], 1 + fd); /* only we fill them */
                        return true;
                }
        return false;
}

static bool hand_over(int fd)
{
        if (!works || owner != getpid())
                return false;
        if (put(fd))
                return true;
        undertaker_finish();
        return works && put(fd);
}

void undertaker_close(const int *fds, unsigned count)
{
        bool given = false;

        for (unsigned i = 0; i < count; i++)
                if (fds[i] >= 0 && hand_over(fds[i]))
                        given = true;
                else
                        fd_close(fds[i]);
        if (given)
                (void)!eventfd_write(bell, 1);
}

void undertaker_finish(void)
{
        if (!works || owner != getpid())
                return;
        close_all();
        for (int i = 0; i < FINISH_TRIES && atomic_load(&graves->busy); i++)
                usleep(100);
        if (!atomic_load(&graves->busy))
                return;
        /* It was stopped or killed with one in hand: we go on without it. */
        kill(undertaker, SIGKILL); /* our child, not waited for: the number is its own */
        works = false;
}
