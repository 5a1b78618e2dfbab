/* One cell as the supervisor sees it; see cell.h. */
#include "cell.h"

#include "beneath.h"
#include "clock.h"
#include "fd.h"
#include "weak.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        LOOK_LEAST_US = 5000,
        LOOK_MOST_US = 100000,
        WEAK_LOOK_US = 10000,
        SETUP_MOST_US = 30000000, /* a layer on a file system that hangs */
        EMPTY_TRIES = 20000,      /* times 100 us; what is left then, the next start sweeps */
};

static bool has_group(const struct cell *c)
{
        return c->machine->groups.version != 0;
}

static uint64_t microseconds(struct timeval t)
{
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* Wait for the first process, with which the kernel ends all others, and until the group says so.
 * What it and those it waited for used is the least that the cell did. */
static void wait_until_empty(struct cell *c)
{
        struct rusage used = {0};

        wait4(c->pid, NULL, 0, &used);
        c->pid = 0;
        for (int i = 0; i < EMPTY_TRIES && has_group(c) && !cgroup_is_empty(&c->group); i++) {
                cgroup_kill(&c->group);
                usleep(100);
        }
        if (c->usage.cpu_us < microseconds(used.ru_utime) + microseconds(used.ru_stime))
                c->usage.cpu_us = microseconds(used.ru_utime) + microseconds(used.ru_stime);
}

struct cell *cell_free(struct cell *c)
{
        if (!c)
                return NULL;
        if (c->pid > 0) {
                cell_stop(c, CODE_INTERRUPTED);
                wait_until_empty(c);
        }
        fd_close(c->pidfd);
        fd_close(c->socket);
        fd_close(c->started);
        fd_close(c->listener);
        mounts_free(&c->mounts);
        request_free(&c->request);
        cgroup_remove(&c->group);
        free(c);
        return NULL;
}

static void done(struct cell *c, enum setup_step step)
{
        c->setup.done_at[step] = clock_us();
}

static void see_message(struct cell *c);

/* --- starting ------------------------------------------------------------------------------- */

/* A copy of this process in new namespaces (those that take long follow in inside.c), and where the
 * kernel can, born in the cell's group. Its stack and memory are copied on write: the supervisor is
 * small for this reason. */
static pid_t clone_first(struct cell *c)
{
        struct clone_args args = {
                .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD,
                .pidfd = (uintptr_t)&c->pidfd,
                .exit_signal = SIGCHLD,
        };
        long pid = -1;

        if (cgroup_birthplace(&c->group) >= 0) {
                args.flags |= CLONE_INTO_CGROUP;
                args.cgroup = (uint64_t)cgroup_birthplace(&c->group);
                pid = syscall(SYS_clone3, &args, sizeof args);
                c->in_group = pid > 0;
                args.flags &= ~(uint64_t)CLONE_INTO_CGROUP;
                args.cgroup = 0;
        }
        if (pid < 0)
                pid = syscall(SYS_clone3, &args, sizeof args);
        if (pid < 0 && errno == ENOSYS)
                pid = syscall(SYS_clone, args.flags | SIGCHLD, NULL, &c->pidfd, NULL, NULL);
        return (pid_t)pid;
}

static int make_first(struct cell *c, struct error *err)
{
        int sockets[2], pipes[2], r = 0;

        if (fd_socketpair(sockets, err) < 0)
                return -1;
        c->socket = sockets[0];
        if (fd_pipe(pipes, err) < 0) {
                fd_close(sockets[1]);
                return -1;
        }
        c->started = pipes[0];
        if (c->machine->root)
                ids_borrow(&c->ids, true);
        c->pid = clone_first(c);
        if (c->pid == 0) {
                struct inside in = {.root = c->machine->root,
                        .grouped = has_group(c),
                        .socket = sockets[1],
                        .started = pipes[1],
                        .mounts = MOUNTS_INIT};

                inside_main(&in);
        }
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
                see_message(c);
                said.fd = c->socket;
        }
        if (c->failed.code != CODE_NONE)
                *err = c->failed;
        else if (err->code == CODE_INTERNAL_FRAME)
                error_set(err, CODE_INFRA_CELL, "a cell's first process died");
}

struct cell *cell_prepare(const struct machine *machine, struct error *err)
{
        struct cell *c = calloc(1, sizeof *c);

        if (!c) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        *c = (struct cell){
                .request = REQUEST_INIT,
                .machine = machine,
                .mounts = MOUNTS_INIT,
                .group = CGROUP_INIT,
                .pidfd = -EBADF,
                .socket = -EBADF,
                .started = -EBADF,
                .listener = -EBADF,
        };
        if (has_group(c) && cgroup_claim(&machine->groups, &c->group, err) < 0)
                return cell_free(c);
        if (!has_group(c))
                c->group.slot = slot_random();
        c->ids = ids_for(machine->root, c->group.slot);
        if (make_first(c, err) < 0 || ids_map(&c->ids, c->pid, err) < 0) {
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

/* What the first process waits for, one after the other; each is made while it does something else:
 * its network namespace, the filling of its root, its view. */
static int give_request(struct cell *c, const struct buffer *payload, struct error *err)
{
        const struct cell_request *q = &c->request;
        int fds[CELL_STDIO + CELL_MAX_MOUNTS];

        for (unsigned i = 0; i < CELL_STDIO; i++)
                fds[i] = q->stdio[i];
        for (unsigned i = 0; i < q->mount_count; i++)
                fds[CELL_STDIO + i] = q->mounts[i].tree;
        return frame_send(
                c->socket, INSIDE_REQUEST, payload, fds, CELL_STDIO + q->mount_count, err);
}

static int give_root(struct cell *c, const struct mounts_for *who, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        int fds[2];

        if (mounts_begin(&c->mounts, who, err) < 0)
                return -1;
        fds[0] = c->mounts.root;
        fds[1] = c->mounts.result;
        return frame_send(c->socket, INSIDE_ROOT, &nothing, fds, fds[1] >= 0 ? 2 : 1, err);
}

static int give_mounts(struct cell *c, const struct mounts_for *who, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct mounts *m = &c->mounts;
        int fds[MOUNTS_MAX + 1];

        if (mounts_make(m, who, err) < 0)
                return -1;
        put_u8(&payload, (uint8_t)m->tree_count);
        for (unsigned i = 0; i < m->tree_count; i++) {
                put_text(&payload, m->trees[i].place);
                fds[i] = m->trees[i].mount;
        }
        fds[m->tree_count] = m->root;
        return frame_send(c->socket, INSIDE_MOUNTS, &payload, fds, m->tree_count + 1, err);
}

static int give_groups(struct cell *c, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        int fds[HIERARCHY_COUNT];
        unsigned count = 0;

        if (has_group(c) && cgroup_make(&c->group, &c->request.limits, c->in_group, err) < 0)
                return -1;
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                if (c->group.doors[i] >= 0)
                        fds[count++] = c->group.doors[i];
        return frame_send(c->socket, INSIDE_DOORS, &nothing, fds, count, err);
}

static int give_all(struct cell *c, const struct buffer *payload, struct error *err)
{
        const struct mounts_for who = {&c->request, c->ids, true, c->pid};
        int r = give_request(c, payload, err);

        if (r == 0 && c->machine->root) {
                ids_borrow(&c->ids, true);
                r = give_root(c, &who, err);
                if (r == 0)
                        r = give_mounts(c, &who, err);
                ids_borrow(&c->ids, false);
                done(c, SETUP_MOUNTS);
        }
        if (r == 0)
                r = give_groups(c, err);
        done(c, SETUP_GROUP);
        if (r == 0)
                offer_to_oom_killer(c->pid);
        return r;
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
                error_set(err, CODE_INFRA_CELL, "the cell has no id %u: it has %u",
                        (unsigned)(c->request.uid ? c->request.uid : c->request.gid),
                        (unsigned)c->ids.count);
                return cell_free(c);
        }
        if (give_all(c, payload, err) < 0) {
                prefer_own_words(c, err);
                return cell_free(c);
        }
        /* What only the cell needs from here on. */
        for (int i = 0; i < CELL_STDIO; i++)
                c->request.stdio[i] = fd_close(c->request.stdio[i]);
        cgroup_close_doors(&c->group);
        mounts_close_trees(&c->mounts);
        return c;
}

/* --- while it runs -------------------------------------------------------------------------- */

void cell_stop(struct cell *c, enum code reason)
{
        if (c->stopped == CODE_NONE)
                c->stopped = reason;
        if (has_group(c))
                cgroup_kill(&c->group);
        if (c->pid > 0)
                kill(c->pid, SIGKILL); /* our child, not waited for yet: the number is its own */
}

void cell_watch(const struct cell *c, struct pollfd *fds, uint64_t *wake_at)
{
        fds[0] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = c->socket, .events = POLLIN};
        fds[2] = (struct pollfd){.fd = c->started, .events = POLLIN};
        fds[3] = (struct pollfd){.fd = c->stopped ? -1 : c->group.pids_events, .events = POLLPRI};
        fds[4] = (struct pollfd){.fd = c->listener, .events = POLLIN};
        if (!c->started_at && !c->stopped && !c->ended &&
                c->setup.requested_at + SETUP_MOST_US < *wake_at)
                *wake_at = c->setup.requested_at + SETUP_MOST_US;
        if (c->started_at && !c->stopped && !c->ended) {
                uint64_t deadline = c->started_at + c->request.limits.value[LIMIT_WALL];

                if (deadline < *wake_at)
                        *wake_at = deadline;
                if (c->look_at < *wake_at)
                        *wake_at = c->look_at;
        }
}

/* Look again when the cell could have used up its cpu time at the earliest, but often enough for
 * refused processes: version 1 does not say when that happens, version 2 does (fds[3]). */
static void look_at_group(struct cell *c, uint64_t now)
{
        uint64_t limit = c->request.limits.value[LIMIT_CPU], wait;

        c->usage.cpu_us = cgroup_cpu_us(&c->group);
        if (c->usage.cpu_us > limit || cgroup_pids_refused(&c->group)) {
                cell_stop(c, c->usage.cpu_us > limit ? CODE_LIMIT_CPU : CODE_LIMIT_PIDS);
                return;
        }
        wait = (limit - c->usage.cpu_us) / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
        wait = wait < LOOK_LEAST_US ? LOOK_LEAST_US : wait > LOOK_MOST_US ? LOOK_MOST_US : wait;
        c->look_at = now + wait;
}

static void look_weakly(struct cell *c, uint64_t now)
{
        const uint64_t *limit = c->request.limits.value;
        struct weak_usage u;

        weak_look(c->pid, &u);
        if (u.cpu_us > c->usage.cpu_us)
                c->usage.cpu_us = u.cpu_us;
        if (u.memory > c->usage.memory_peak)
                c->usage.memory_peak = u.memory;
        if (u.processes > c->usage.pids_peak)
                c->usage.pids_peak = u.processes;
        if (u.memory > limit[LIMIT_MEMORY])
                cell_stop(c, CODE_LIMIT_MEMORY);
        else if (u.processes > limit[LIMIT_PIDS])
                cell_stop(c, CODE_LIMIT_PIDS);
        else if (u.cpu_us > limit[LIMIT_CPU])
                cell_stop(c, CODE_LIMIT_CPU);
        c->look_at = now + WEAK_LOOK_US;
}

/* The exec pipe: a mark when everything was given up and the command comes next, then either its
 * end (the command runs) or the errno of the exec. An end without the mark is a set-up that died.
 */
static void see_exec(struct cell *c)
{
        struct exec_news news = {0};
        ssize_t n = read(c->started, &news, sizeof news);

        if (n == (ssize_t)sizeof news && news.reason == EXEC_NEXT) {
                c->exec_next = true;
                for (unsigned i = 0; i < SETUP_EXEC; i++)
                        if (news.done_at[i])
                                c->setup.done_at[i] = news.done_at[i];
                return;
        }
        c->started = fd_close(c->started);
        if (n == (ssize_t)sizeof news) {
                c->ended = true;
                c->end = CELL_EXEC_FAILED;
                c->status = (uint32_t)news.reason;
        } else if (c->exec_next) {
                c->started_at = clock_us();
                done(c, SETUP_EXEC);
                c->look_at = c->started_at + LOOK_LEAST_US;
                if (has_group(c))
                        look_at_group(c, c->started_at);
        }
}

static void see_message(struct cell *c)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;
        struct error err;

        if (frame_receive(c->socket, &f, 4096, 2, NULL) <= 0) {
                c->socket = fd_close(c->socket);
                return;
        }
        r = reader_of(f.payload.data, f.payload.len);
        switch (f.type) {
        case INSIDE_MADE:
                if (c->mounts.root < 0 && f.fd_count > 0)
                        c->mounts.root = take_fd(&f.fds[0]);
                if (c->mounts.result < 0 && f.fd_count > 1)
                        c->mounts.result = take_fd(&f.fds[1]);
                break;
        case INSIDE_LISTENER:
                if (f.fd_count == 1 && c->listener < 0)
                        c->listener = take_fd(&f.fds[0]);
                break;
        case INSIDE_FAILED:
                get_error(&r, &err);
                if (reader_done(&r) && c->failed.code == CODE_NONE)
                        c->failed = err;
                break;
        case INSIDE_ENDED:
                if (c->ended)
                        break;
                c->end = get_u8(&r) == CELL_EXITED ? CELL_EXITED : CELL_SIGNALED;
                c->status = get_u32(&r);
                c->ended = reader_done(&r);
                /* The command is gone, so the exec pipe is at its end, whichever came first. */
                while (c->started >= 0)
                        see_exec(c);
                if (c->started_at)
                        c->usage.wall_us = clock_us() - c->started_at;
                break;
        default:
                c->socket = fd_close(c->socket);
        }
}

/* --- the end -------------------------------------------------------------------------------- */

/* The kernel's own acts, seen afterwards. What ended in time but had used too much is over its
 * limit all the same: whether we looked in time must not decide. */
static void judge_limits(struct cell *c)
{
        const uint64_t *limit = c->request.limits.value;

        if (c->stopped != CODE_NONE || !c->started_at)
                return;
        if (c->usage.oom_kills > 0 &&
                (!c->ended || (c->end == CELL_SIGNALED && c->status == SIGKILL)))
                c->stopped = CODE_LIMIT_MEMORY;
        else if (has_group(c) && cgroup_pids_refused(&c->group))
                c->stopped = CODE_LIMIT_PIDS;
        else if (c->usage.cpu_us > limit[LIMIT_CPU])
                c->stopped = CODE_LIMIT_CPU;
        else if (c->usage.wall_us > limit[LIMIT_WALL])
                c->stopped = CODE_LIMIT_WALL;
        /* A full disk stops nobody; who failed on it has that for a reason. */
        else if (c->disk_full && (c->end != CELL_EXITED || c->status != 0))
                c->stopped = CODE_LIMIT_DISK;
}

static void finish(struct cell *c)
{
        /* Messages and the exec pipe first: they were sent before the process ended. */
        while (c->socket >= 0) {
                struct pollfd more = {.fd = c->socket, .events = POLLIN};

                if (poll(&more, 1, 0) <= 0)
                        break;
                see_message(c);
        }
        while (c->started >= 0)
                see_exec(c);
        wait_until_empty(c);
        if (has_group(c))
                cgroup_usage(&c->group, &c->usage);
        if (!c->usage.wall_us && c->started_at)
                c->usage.wall_us = clock_us() - c->started_at;
        /* Once the command runs, only something in the cell can have brought its first process
         * down: that is how the command ended, and no fault of the machine. */
        if (!c->ended && c->started_at) {
                c->ended = true;
                c->end = CELL_SIGNALED;
                c->status = SIGKILL;
        }
        c->disk_full = mounts_full(&c->mounts);
        judge_limits(c);
        if (!c->ended && c->stopped == CODE_NONE && c->failed.code == CODE_NONE)
                error_set(&c->failed, CODE_INFRA_CELL, "a cell's first process died");
}

bool cell_step(struct cell *c, const struct pollfd *fds)
{
        uint64_t now;

        if (fds[2].revents && c->started >= 0)
                see_exec(c);
        if (fds[1].revents && c->socket >= 0)
                see_message(c);
        if (fds[4].revents & POLLIN)
                trace_answer(&c->trace, c->listener);
        else if (fds[4].revents)
                c->listener = fd_close(c->listener);
        if (fds[0].revents) {
                finish(c);
                return true;
        }
        now = clock_us();
        if (!c->started_at && !c->ended && !c->stopped &&
                now >= c->setup.requested_at + SETUP_MOST_US) {
                error_set(&c->failed, CODE_INFRA_CELL, "a cell was not made within %d s",
                        (int)(SETUP_MOST_US / 1000000));
                cell_stop(c, CODE_INFRA_CELL);
        }
        if (!c->started_at || c->ended || c->stopped)
                return false;
        if (fds[3].revents && cgroup_pids_refused(&c->group))
                cell_stop(c, CODE_LIMIT_PIDS);
        if (now >= c->started_at + c->request.limits.value[LIMIT_WALL])
                cell_stop(c, CODE_LIMIT_WALL);
        else if (now >= c->look_at && has_group(c))
                look_at_group(c, now);
        else if (now >= c->look_at)
                look_weakly(c, now);
        return false;
}

/* The file behind the O_PATH descriptor `path`, whatever its mode: root may read it anyway, and as
 * a user it is our own. */
static int open_result(const struct cell *c, int path)
{
        const int flags = O_RDONLY | O_NOFOLLOW;
        int fd = beneath_open(c->mounts.result, c->request.result_file, flags, 0);
        char link[64];

        if (fd >= 0 || errno != EACCES)
                return fd;
        snprintf(link, sizeof link, "/proc/self/fd/%d", path);
        if (chmod(link, 0600) < 0)
                return -1;
        return beneath_open(c->mounts.result, c->request.result_file, flags, 0);
}

enum result_state cell_result(const struct cell *c, int *ret_fd, uint64_t *ret_size)
{
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        if (c->mounts.result < 0 || !*c->request.result_file)
                return RESULT_NONE;
        fd = beneath_open(c->mounts.result, c->request.result_file, O_PATH | O_NOFOLLOW, 0);
        if (fd < 0)
                return errno == ENOENT ? RESULT_MISSING : RESULT_NOT_FILE;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
                return RESULT_NOT_FILE;
        *ret_size = (uint64_t)st.st_size;
        if (*ret_size > c->request.limits.value[LIMIT_RESULT])
                return RESULT_TOO_LARGE;
        /* Nothing of the cell lives: the file cannot be exchanged between the two openings. */
        *ret_fd = open_result(c, fd);
        return *ret_fd < 0 ? RESULT_UNREADABLE : RESULT_FILE;
}
