/* One cell as the supervisor sees it; see cell.h. */
#include "cell.h"

#include "beneath.h"
#include "clock.h"
#include "fd.h"
#include "slot.h"
#include "undertaker.h"
#include "weak.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        LOOK_LEAST_US = 5000,
        LOOK_MOST_US = 100000,
        WEAK_LOOK_US = 10000,
        SETUP_MOST_US = 30000000, /* a layer on a file system that hangs */
        EMPTY_TRIES = 20000,      /* times 100 us; what is left then, the next start sweeps */
        MUCH = 64 << 10,          /* bytes of files */
};

bool cell_has_group(const struct cell *c)
{
        return c->machine->groups.version != 0;
}

static bool is_session(const struct cell *c)
{
        return c->request.flags & CELL_SESSION;
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
        for (int i = 0; i < EMPTY_TRIES && cell_has_group(c) && !cgroup_is_empty(&c->group); i++) {
                cgroup_kill(&c->group);
                usleep(100);
        }
        if (c->usage.cpu_us < microseconds(used.ru_utime) + microseconds(used.ru_stime))
                c->usage.cpu_us = microseconds(used.ru_utime) + microseconds(used.ru_stime);
}

/* Memory that first processes do not have: they have no use for it, and what is shared with them
 * would be copied, page by page, as soon as it is written to. */
static struct cell *spare;

struct cell *cell_new(void)
{
        struct cell *c = spare;

        spare = NULL;
        if (c)
                return memset(c, 0, sizeof *c);
        c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (c == MAP_FAILED)
                return NULL;
        madvise(c, sizeof *c, MADV_DONTFORK);
        return c;
}

static void give_back(struct cell *c)
{
        if (spare)
                munmap(c, sizeof *c);
        else
                spare = c;
}

struct cell *cell_free(struct cell *c)
{
        bool much;

        if (!c)
                return NULL;
        if (c->pid > 0) {
                cell_stop(c, CODE_INTERRUPTED);
                wait_until_empty(c);
        }
        network_stop(&c->network);
        fd_close(c->pidfd);
        fd_close(c->socket);
        fd_close(c->bell);
        fd_close(c->started);
        fd_close(c->listener);
        fd_close(c->calls);
        much = mounts_used(&c->mounts) > MUCH;
        mounts_free(&c->mounts);
        undertaker_close(&c->space, 1);
        /* The next cell may be given this one's memory: then it must be free. */
        if (much)
                undertaker_finish();
        request_free(&c->request);
        cgroup_remove(&c->group);
        slot_give_back(c->group.slot, &c->slot_lock);
        give_back(c);
        return NULL;
}

/* --- while it runs -------------------------------------------------------------------------- */

void cell_stop(struct cell *c, enum code reason)
{
        if (c->stopped == CODE_NONE)
                c->stopped = reason;
        if (cell_has_group(c))
                cgroup_kill(&c->group);
        if (c->pid > 0)
                kill(c->pid, SIGKILL); /* our child, not waited for yet: the number is its own */
}

void cell_watch(const struct cell *c, struct pollfd *fds, uint64_t *wake_at)
{
        fds[0] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
        /* Once the command runs, the last message comes shortly before the end, which wakes us
         * anyway; and of the exec pipe only the end matters. Who wakes us is held up by it. */
        fds[1] = (struct pollfd){
                .fd = c->started_at && !is_session(c) ? -1 : c->socket, .events = POLLIN};
        fds[2] = (struct pollfd){.fd = c->started};
        fds[3] = (struct pollfd){
                .fd = c->stopped ? -1 : c->group.files[CGROUP_PIDS_EVENTS], .events = POLLPRI};
        fds[4] = (struct pollfd){.fd = c->listener, .events = POLLIN};
        fds[5] = (struct pollfd){.fd = c->network.ready, .events = POLLIN};
        /* No command runs, but others do: where the kernel does not hold them, we look at them. */
        if (c->paused && !cell_has_group(c) && !c->stopped && c->look_at < *wake_at)
                *wake_at = c->look_at;
        if (c->paused)
                return;
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
static void look_later(struct cell *c, uint64_t now)
{
        uint64_t left = c->request.limits.value[LIMIT_CPU] - (c->usage.cpu_us - c->cpu_before);
        uint64_t wait = left / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

        wait = wait < LOOK_LEAST_US ? LOOK_LEAST_US : wait > LOOK_MOST_US ? LOOK_MOST_US : wait;
        c->look_at = now + wait;
}

static void look_at_group(struct cell *c, uint64_t now)
{
        uint64_t limit = c->request.limits.value[LIMIT_CPU];

        uint64_t used;

        c->usage.cpu_us = cgroup_cpu_us(&c->group);
        used = c->usage.cpu_us - c->cpu_before;
        if (used > limit || cgroup_pids_refused(&c->group))
                cell_stop(c, used > limit ? CODE_LIMIT_CPU : CODE_LIMIT_PIDS);
        else
                look_later(c, now);
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
        else if (!c->paused && u.cpu_us > limit[LIMIT_CPU] + c->cpu_before)
                cell_stop(c, CODE_LIMIT_CPU);
        c->look_at = now + WEAK_LOOK_US;
}

/* What the first process has said so far. */
static void hear_all(struct cell *c)
{
        struct pollfd more = {.fd = c->socket, .events = POLLIN};

        while (more.fd >= 0 && poll(&more, 1, 0) > 0) {
                cell_hear(c);
                more.fd = c->socket;
        }
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
        if (n == (ssize_t)sizeof news && is_session(c)) {
                c->exec_error = news.reason; /* its end is still to come */
        } else if (n == (ssize_t)sizeof news) {
                c->ended = true;
                c->end = CELL_EXEC_FAILED;
                c->status = (uint32_t)news.reason;
        } else if (c->exec_next) {
                /* What the command does counts from its own exec, not from when we heard of it. */
                c->started_at = c->setup.done_at[SETUP_LIMITS];
                c->setup.done_at[SETUP_EXEC] = clock_us();
                c->look_at = c->started_at + LOOK_LEAST_US;
                if (cell_has_group(c))
                        look_later(c, c->started_at);
                mounts_close_trees(&c->mounts);
                hear_all(c); /* what it said before: from here on nobody listens */
        }
}

/* What it cannot be made without is missing. */
static void break_off(struct cell *c, const struct error *err)
{
        if (c->failed.code == CODE_NONE)
                c->failed = *err;
        cell_stop(c, err->code);
}

static void see_network(struct cell *c)
{
        const struct buffer nothing = BUFFER_INIT;
        struct error err;

        if (network_ready(&c->network, &err) < 0 ||
                cell_tell(c, INSIDE_ONLINE, &nothing, NULL, 0, &err) < 0)
                break_off(c, &err);
}

/* A command of a session has ended: what a last reading would have found is found now. A session
 * that is over a limit ends like any other cell. */
static void pause_session(struct cell *c)
{
        const uint64_t *limit = c->request.limits.value;
        uint64_t oom_before = c->usage.oom_kills, wall = c->usage.wall_us;

        if (c->exec_error != 0) {
                c->end = CELL_EXEC_FAILED;
                c->status = (uint32_t)c->exec_error;
        }
        if (cell_has_group(c))
                cgroup_usage(&c->group, &c->usage);
        c->usage.wall_us = wall;
        if (c->stopped != CODE_NONE)
                return;
        if (c->usage.oom_kills > oom_before && c->end == CELL_SIGNALED && c->status == SIGKILL)
                cell_stop(c, CODE_LIMIT_MEMORY);
        else if (cell_has_group(c) && cgroup_pids_refused(&c->group))
                cell_stop(c, CODE_LIMIT_PIDS);
        else if (c->usage.cpu_us - c->cpu_before > limit[LIMIT_CPU])
                cell_stop(c, CODE_LIMIT_CPU);
        else if (wall > limit[LIMIT_WALL])
                cell_stop(c, CODE_LIMIT_WALL);
        else
                c->paused = c->tell_pause = true;
}

int cell_command(struct cell *c, uint64_t wall_us, uint64_t cpu_us, const struct buffer *command,
        const int stdio[CELL_STDIO], struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int pipes[2], fds[CELL_STDIO + 1], r;

        if (fd_pipe(pipes, err) < 0)
                return -1;
        put_u64(&payload, cpu_us);
        buffer_add(&payload, command->data, command->len);
        memcpy(fds, stdio, CELL_STDIO * sizeof *fds);
        fds[CELL_STDIO] = pipes[1];
        r = frame_send(c->socket, INSIDE_COMMAND, &payload, fds, CELL_STDIO + 1, err);
        fd_close(pipes[1]);
        if (r < 0) {
                fd_close(pipes[0]);
                return -1;
        }
        c->started = pipes[0];
        c->request.limits.value[LIMIT_WALL] = wall_us;
        c->request.limits.value[LIMIT_CPU] = cpu_us;
        c->paused = c->ended = c->exec_next = false;
        c->exec_error = 0;
        c->cpu_before = c->usage.cpu_us;
        c->usage.wall_us = 0;
        /* Other processes of the session may keep it from its exec: that is its time, too. */
        c->started_at = c->setup.requested_at = clock_us();
        return 0;
}

void cell_hear(struct cell *c)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;
        struct error err;
        uint64_t ended_at;

        if (frame_receive(c->socket, &f, 4096, 3, NULL) <= 0) {
                c->socket = fd_close(c->socket);
                return;
        }
        r = reader_of(f.payload.data, f.payload.len);
        switch (f.type) {
        case INSIDE_MADE:
                if (c->mounts.root < 0 && f.fd_count > 0)
                        c->mounts.root = take_fd(&f.fds[0]);
                if (c->mounts.result < 0 && *c->request.result_dir && f.fd_count > 1)
                        c->mounts.result = take_fd(&f.fds[1]);
                if (c->mounts.kept < 0 && c->request.flags & CELL_KEEP && f.fd_count > 0)
                        c->mounts.kept = take_fd(&f.fds[f.fd_count - 1]);
                break;
        case INSIDE_NETWORK:
                if (f.fd_count == 1 && c->request.flags & CELL_NETWORK &&
                        network_start(&c->network, f.fds[0], &c->ids, &err) < 0)
                        break_off(c, &err);
                break;
        case INSIDE_LISTENER:
                if (f.fd_count == 1 && c->listener < 0)
                        c->listener = take_fd(&f.fds[0]);
                break;
        case INSIDE_SOCKET:
                if (f.fd_count == 1 && c->request.flags & CELL_CALLS && c->calls < 0)
                        c->calls = take_fd(&f.fds[0]);
                break;
        case INSIDE_FAILED:
                get_error(&r, &err);
                /* Once a command ran, what fails is the doing of what is in the cell. */
                if (reader_done(&r) && c->failed.code == CODE_NONE && !c->started_at)
                        c->failed = err;
                break;
        case INSIDE_ENDED:
                if (c->ended)
                        break;
                c->end = get_u8(&r) == CELL_EXITED ? CELL_EXITED : CELL_SIGNALED;
                c->status = get_u32(&r);
                ended_at = get_u64(&r);
                c->ended = reader_done(&r);
                /* The command is gone, so the exec pipe is at its end, whichever came first. */
                while (c->started >= 0)
                        see_exec(c);
                if (c->started_at)
                        c->usage.wall_us = ended_at > c->started_at ? ended_at - c->started_at : 1;
                if (is_session(c) && c->ended)
                        pause_session(c);
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

        /* It ended in time, and only its processes took longer to go. */
        if (c->stopped == CODE_LIMIT_WALL && c->ended && c->usage.wall_us <= limit[LIMIT_WALL])
                c->stopped = CODE_NONE;
        if (c->stopped != CODE_NONE || !c->started_at)
                return;
        if (c->usage.oom_kills > 0 &&
                (!c->ended || (c->end == CELL_SIGNALED && c->status == SIGKILL)))
                c->stopped = CODE_LIMIT_MEMORY;
        else if (cell_has_group(c) && cgroup_pids_refused(&c->group))
                c->stopped = CODE_LIMIT_PIDS;
        else if (c->usage.cpu_us - c->cpu_before > limit[LIMIT_CPU])
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
        hear_all(c);
        while (c->started >= 0)
                see_exec(c);
        wait_until_empty(c);
        if (cell_has_group(c))
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

        while (fds[2].revents && c->started >= 0)
                see_exec(c);
        /* What was there to read may have been read just now: a read would wait for ever. */
        if (fds[1].revents)
                hear_all(c);
        if (fds[5].revents)
                see_network(c);
        if (fds[4].revents & POLLIN)
                trace_answer(&c->trace, c->listener);
        else if (fds[4].revents)
                c->listener = fd_close(c->listener);
        if (fds[0].revents) {
                finish(c);
                return true;
        }
        now = clock_us();
        if (c->paused && !c->stopped && !cell_has_group(c) && now >= c->look_at)
                look_weakly(c, now);
        if (fds[3].revents && c->started_at && !c->stopped && cgroup_pids_refused(&c->group))
                cell_stop(c, CODE_LIMIT_PIDS);
        if (c->paused)
                return false;
        if (!c->started_at && !c->ended && !c->stopped &&
                now >= c->setup.requested_at + SETUP_MOST_US) {
                struct error err;

                error_set(&err, CODE_INFRA_CELL, "a cell was not made within %d s",
                        (int)(SETUP_MOST_US / 1000000));
                break_off(c, &err);
        }
        if (!c->started_at || c->ended || c->stopped)
                return false;
        if (now >= c->started_at + c->request.limits.value[LIMIT_WALL])
                cell_stop(c, CODE_LIMIT_WALL);
        else if (now >= c->look_at && cell_has_group(c))
                look_at_group(c, now);
        else if (now >= c->look_at)
                look_weakly(c, now);
        return false;
}

/* The file behind the O_PATH descriptor `path`, whatever its mode: root may read it anyway, and as
 * a user it is our own. */
static int open_result(const struct cell *c, const char *name, int path)
{
        const int flags = O_RDONLY | O_NOFOLLOW;
        int fd = beneath_open(c->mounts.result, name, flags, 0);
        char link[64];

        if (fd >= 0 || errno != EACCES)
                return fd;
        snprintf(link, sizeof link, "/proc/self/fd/%d", path);
        if (chmod(link, 0600) < 0)
                return -1;
        return beneath_open(c->mounts.result, name, flags, 0);
}

enum result_state cell_result(const struct cell *c, unsigned which, int *ret_fd, uint64_t *ret_size)
{
        const char *name = c->request.results[which];
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        *ret_size = 0;
        fd = beneath_open(c->mounts.result, name, O_PATH | O_NOFOLLOW, 0);
        if (fd < 0)
                return errno == ENOENT ? RESULT_MISSING : RESULT_NOT_FILE;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
                return RESULT_NOT_FILE;
        *ret_size = (uint64_t)st.st_size;
        if (*ret_size > c->request.limits.value[LIMIT_RESULT])
                return RESULT_TOO_LARGE;
        /* Nothing of the cell lives: the file cannot be exchanged between the two openings. */
        *ret_fd = open_result(c, name, fd);
        return *ret_fd < 0 ? RESULT_UNREADABLE : RESULT_FILE;
}
