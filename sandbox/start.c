/* How a cell starts, as the supervisor sees it; see cell.h. What the first process does meanwhile
 * is in inside.c. */
#include "cell.h"

#include "clock.h"
#include "fd.h"
#include "slot.h"
#include "undertaker.h"
#include "view.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void done(struct cell *c, enum setup_step step)
{
        c->setup.done_at[step] = clock_us();
}

/* A copy of this process in new namespaces (those that take long follow in inside.c), and where the
 * kernel can, born in the cell's group. Its stack and memory are copied on write: the supervisor is
 * small for this reason. */
static pid_t clone_first(int birthplace, int *ret_pidfd, bool *ret_in_group)
{
        struct clone_args args = {
                .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD,
                .pidfd = (uintptr_t)ret_pidfd,
                .exit_signal = SIGCHLD,
        };
        long pid = -1;

        if (birthplace >= 0) {
                args.flags |= CLONE_INTO_CGROUP;
                args.cgroup = (uint64_t)birthplace;
                pid = syscall(SYS_clone3, &args, sizeof args);
                *ret_in_group = pid > 0;
                args.flags &= ~(uint64_t)CLONE_INTO_CGROUP;
                args.cgroup = 0;
        }
        if (pid < 0)
                pid = syscall(SYS_clone3, &args, sizeof args);
        if (pid < 0 && errno == ENOSYS)
                pid = syscall(SYS_clone, args.flags | SIGCHLD, NULL, ret_pidfd, NULL, NULL);
        return (pid_t)pid;
}

/* Of this process, for first processes to see its end. */
static int own_pidfd(void)
{
        static int own = -EBADF;

        if (own < 0)
                own = (int)syscall(SYS_pidfd_open, getpid(), 0);
        return own;
}

static int make_first(struct cell *c, struct error *err)
{
        const bool root = c->machine->root, grouped = cell_has_group(c);
        const int supervisor = own_pidfd();
        int sockets[2], pipes[2], bell, pidfd = -EBADF, r = 0;
        bool in_group = false;
        pid_t pid;

        if (fd_socketpair(sockets, err) < 0)
                return -1;
        c->socket = sockets[0];
        c->bell = bell = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
        if (c->bell < 0 || fd_pipe(pipes, err) < 0) {
                fd_close(sockets[1]);
                return c->bell < 0 ? error_errno(err, CODE_INFRA_IO, errno, "cannot make a bell")
                                   : -1;
        }
        c->started = pipes[0];
        if (c->machine->root)
                ids_borrow(&c->ids, true);
        pid = clone_first(cgroup_birthplace(&c->group), &pidfd, &in_group);
        if (pid == 0) {                  /* where there is no `c` (cell_new) */
                static struct inside in; /* most of it is never touched, so that no memory is */

                in.root = root;
                in.grouped = grouped;
                in.socket = sockets[1];
                in.bell = bell;
                in.started = pipes[1];
                in.supervisor = supervisor;
                mounts_init(&in.mounts);
                inside_main(&in);
        }
        c->pid = pid;
        c->pidfd = pidfd;
        c->in_group = in_group;
        if (c->pid < 0)
                r = error_errno(err, CODE_INFRA_CELL, errno, "cannot make namespaces");
        if (c->machine->root)
                ids_borrow(&c->ids, false);
        fd_close(sockets[1]);
        fd_close(pipes[1]);
        done(c, SETUP_NAMESPACES);
        return r;
}

/* When the first process broke off, what it said before tells more than what we then ran into. */
static void prefer_own_words(struct cell *c, struct error *err)
{
        struct pollfd said = {.fd = c->socket, .events = POLLIN};

        while (c->socket >= 0 && c->failed.code == CODE_NONE && poll(&said, 1, 0) > 0) {
                cell_hear(c);
                said.fd = c->socket;
        }
        if (c->failed.code != CODE_NONE)
                *err = c->failed;
        else if (err->code == CODE_INTERNAL_FRAME)
                error_set(err, CODE_INFRA_CELL, "a cell's first process died");
}

struct cell *cell_prepare(const struct machine *machine, struct error *err)
{
        struct cell *c;

        if (*machine->refused) {
                error_set(err, CODE_INFRA_CELL, "%s", machine->refused);
                return NULL;
        }
        c = cell_new();
        if (!c) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        c->machine = machine;
        request_init(&c->request);
        mounts_init(&c->mounts);
        c->group = (struct cgroup)CGROUP_INIT;
        c->network = (struct network)NETWORK_INIT;
        c->pidfd = c->socket = c->bell = c->started = c->listener = c->calls = c->slot_lock =
                c->space = -EBADF;
        if (slot_take(machine->root, &machine->groups, &c->group, &c->slot_lock, err) < 0)
                return cell_free(c);
        c->ids = ids_for(machine->ids, c->group.slot);
        if (make_first(c, err) < 0) {
                prefer_own_words(c, err);
                return cell_free(c);
        }
        return c;
}

bool cell_waits(const struct cell *c)
{
        struct pollfd end = {.fd = c->pidfd, .events = POLLIN};

        return poll(&end, 1, 0) == 0;
}

/* The out-of-memory killer should take a cell before anything else of the machine. */
static void offer_to_oom_killer(pid_t pid)
{
        char path[64];
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0)
                (void)!fd_write_all(fd, "500", 3);
}

/* A process that a message wakes is put behind its sender, on the same processor; one that a bell
 * wakes, onto a processor that is free. So it rings first. */
int cell_tell(struct cell *c, enum inside_message type, const struct buffer *payload,
        const int *fds, unsigned count, struct error *err)
{
        if (eventfd_write(c->bell, 1) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot call a cell");
        return frame_send(c->socket, type, payload, fds, count, err);
}

/* What the first process waits for, one after the other; each is made while it does something else:
 * its network namespace, its view. */
static int give_request(struct cell *c, const struct buffer *payload, struct error *err)
{
        /* A long request waits until the first process reads; not for ever. */
        const struct timeval patience = {.tv_sec = 30};
        const struct cell_request *q = &c->request;
        unsigned count = 0;
        int fds[FRAME_MAX_FDS];

        setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        for (unsigned i = 0; i < CELL_STDIO; i++)
                fds[count++] = q->stdio[i];
        for (unsigned i = 0; i < q->mount_count; i++)
                fds[count++] = q->mounts[i].tree;
        for (unsigned i = 0; i < q->layer_count; i++)
                fds[count++] = q->layers[i];
        return cell_tell(c, INSIDE_REQUEST, payload, fds, count, err);
}

static int give_mounts(struct cell *c, const struct mounts_for *who, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct mounts *m = &c->mounts;
        int fds[MOUNTS_MAX + 3];
        unsigned count;

        if (view_begin(m, who, err) < 0 || mounts_make(m, who, err) < 0)
                return -1;
        put_u8(&payload, (uint8_t)m->tree_count);
        for (unsigned i = 0; i < m->tree_count; i++) {
                put_text(&payload, m->trees[i].place);
                fds[i] = m->trees[i].mount;
        }
        count = m->tree_count;
        fds[count++] = m->root;
        if (m->image >= 0)
                fds[count++] = m->image;
        if (m->result >= 0)
                fds[count++] = m->result;
        return cell_tell(c, INSIDE_MOUNTS, &payload, fds, count, err);
}

static int give_groups(struct cell *c, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        int fds[HIERARCHY_COUNT];
        unsigned count = 0;

        if (cell_has_group(c) && cgroup_make(&c->group, &c->request.limits, c->in_group, err) < 0)
                return -1;
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                if (c->group.doors[i] >= 0)
                        fds[count++] = c->group.doors[i];
        return cell_tell(c, INSIDE_DOORS, &nothing, fds, count, err);
}

static int give_all(struct cell *c, const struct buffer *payload, struct error *err)
{
        const struct mounts_for who = {&c->request, c->ids, true, c->pid};
        /* Files of images have owners of their own. */
        bool others = c->request.uid != 0 || c->request.gid != 0 || c->request.layer_count > 0;
        int r = ids_map(&c->ids, c->pid, others, err);

        /* While it still may be written to by an ordinary user, and before there is a command. */
        offer_to_oom_killer(c->pid);
        if (r == 0)
                r = give_request(c, payload, err);
        if (r == 0 && c->machine->root) {
                ids_borrow(&c->ids, true);
                r = give_mounts(c, &who, err);
                ids_borrow(&c->ids, false);
                done(c, SETUP_MOUNTS);
        }
        if (r == 0)
                r = give_groups(c, err);
        done(c, SETUP_GROUP);
        if (r == 0 && cell_has_group(c))
                r = cgroup_watch(&c->group, err);
        return r;
}

/* Or the first process, when it ends, would wait for every processor before anybody is told. */
static void hold_space(struct cell *c)
{
        char path[64];

        if (!undertaker_works())
                return;
        snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)c->pid);
        c->space = open(path, O_RDONLY | O_CLOEXEC);
}

static int refuse_weak(const struct cell *c, struct error *err)
{
        char names[128];

        if (!c->machine->weak || c->request.flags & CELL_ALLOW_WEAK)
                return 0;
        limits_names(c->machine->weak, names, sizeof names);
        return error_set(err, CODE_INFRA_LIMITS,
                "this machine cannot hold a cell to its limits (%s): %s", names,
                *c->machine->groups.why_not ? c->machine->groups.why_not : "no cpu group");
}

struct cell *cell_start(struct cell *c, struct cell_request *request, const struct buffer *payload,
        struct error *err)
{
        c->request = *request;
        if (refuse_weak(c, err) < 0)
                return cell_free(c);
        if (c->request.uid >= c->ids.count || c->request.gid >= c->ids.count) {
                error_set(err, CODE_INFRA_CELL,
                        "the cell has no id %u, only the first %u: run as root inside (--user 0), "
                        "or give this "
                        "user sub-ids (/etc/subuid, and apt-get install uidmap)",
                        (unsigned)(c->request.uid ? c->request.uid : c->request.gid),
                        (unsigned)c->ids.count);
                return cell_free(c);
        }
        if (give_all(c, payload, err) < 0) {
                prefer_own_words(c, err);
                return cell_free(c);
        }
        hold_space(c);
        /* What only the cell needs from here on. */
        for (int i = 0; i < CELL_STDIO; i++)
                c->request.stdio[i] = fd_close(c->request.stdio[i]);
        for (unsigned i = 0; i < c->request.mount_count; i++)
                c->request.mounts[i].tree = fd_close(c->request.mounts[i].tree);
        request_close_layers(&c->request);
        cgroup_close_doors(&c->group);
        return c;
}
