/* Id maps of cells; called by the supervisor. */
#include "ids.h"

#include "fd.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct ids ids_for(bool root, unsigned slot)
{
        uint32_t first = IDS_FIRST + (slot + 1) * IDS_BLOCK_SIZE;

        if (root)
                return (struct ids){IDS_BLOCK, first, first, IDS_BLOCK_SIZE};
        return (struct ids){IDS_SINGLE, getuid(), getgid(), 1};
}

static int write_map(pid_t pid, const char *file, const char *text, struct error *err)
{
        char path[64];
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "cannot write the %s of a cell", file);
        return 0;
}

int ids_map(const struct ids *ids, pid_t pid, struct error *err)
{
        char uids[64], gids[64];

        snprintf(uids, sizeof uids, "0 %u %u", (unsigned)ids->uid, ids->count);
        snprintf(gids, sizeof gids, "0 %u %u", (unsigned)ids->gid, ids->count);
        /* The kernel lets an ordinary user map a group only after giving up setgroups. */
        if (ids->kind == IDS_SINGLE && write_map(pid, "setgroups", "deny", err) < 0)
                return -1;
        if (write_map(pid, "uid_map", uids, err) < 0)
                return -1;
        return write_map(pid, "gid_map", gids, err);
}

static void take_effective(uid_t uid, gid_t gid)
{
        int signal_of_parent = 0;

        /* A change of ids takes away what was asked for with PDEATHSIG: nothing, when we are the
         * caller's own `assay exec`. */
        prctl(PR_GET_PDEATHSIG, &signal_of_parent);
        if (syscall(SYS_setresgid, -1, gid, -1) < 0 || syscall(SYS_setresuid, -1, uid, -1) < 0)
                abort(); /* to go on under the wrong id would be worse */
        prctl(PR_SET_PDEATHSIG, signal_of_parent);
}

void ids_borrow(const struct ids *ids, bool borrow)
{
        take_effective(borrow ? ids->uid : 0, borrow ? ids->gid : 0);
}

int ids_be_anyone(const struct ids *ids, bool anyone)
{
        static const cap_value_t modes[] = {CAP_DAC_OVERRIDE};
        cap_t caps = cap_get_proc();
        int r = -1;

        if (caps && cap_set_flag(caps, CAP_EFFECTIVE, 1, modes, anyone ? CAP_CLEAR : CAP_SET) == 0)
                r = cap_set_proc(caps);
        cap_free(caps);
        ids_borrow(ids, !anyone);
        return r;
}

int ids_open_namespace(pid_t pid)
{
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
        return open(path, O_RDONLY | O_CLOEXEC);
}

static int wait_to_be_killed(void *unused)
{
        (void)unused;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (pause() < 0)
                continue;
        return 0;
}

/* A user namespace needs a process to be made; it may end when the descriptor is there. */
int ids_make_namespace(uid_t owner, gid_t group, const struct ids *ids)
{
        char stack[16384] __attribute__((aligned(16)));
        char uids[64], gids[64];
        int fd = -1;
        pid_t pid = clone(
                wait_to_be_killed, stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, NULL);

        if (pid < 0)
                return -1;
        snprintf(uids, sizeof uids, "%u %u 1", (unsigned)owner, (unsigned)ids->uid);
        snprintf(gids, sizeof gids, "%u %u 1", (unsigned)group, (unsigned)ids->gid);
        if (write_map(pid, "uid_map", uids, NULL) == 0 &&
                write_map(pid, "gid_map", gids, NULL) == 0)
                fd = ids_open_namespace(pid);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return fd;
}
