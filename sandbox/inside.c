/* The cell's own two processes; see inside.h. The first is a copy of the supervisor in new
 * namespaces: root there, nobody outside. It reads nothing that an outsider wrote. */
#include "inside.h"

#include "clock.h"
#include "fd.h"
#include "view.h"

#include <fcntl.h>
#include <limits.h>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_MAX = CELL_MAX_REQUEST };

static void __attribute__((noreturn)) fail(const struct inside *in, const struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_error(&payload, err);
        frame_send(in->socket, INSIDE_FAILED, &payload, NULL, 0, NULL);
        _exit(1);
}

static void check(const struct inside *in, const char *step)
{
        struct error err;

        if (!step)
                return;
        error_errno(&err, CODE_INFRA_CELL, errno, "a cell cannot %s", step);
        fail(in, &err);
}

/* --- the command -------------------------------------------------------------------------- */

/* The command's name is looked up in its own PATH, as execvpe() does, but without the shell that
 * execvpe() starts for files that are no programs. Returns errno. */
static int execute(char **argv, char **envp)
{
        const char *path = "/usr/local/bin:/usr/bin:/bin";
        char candidate[4096];
        int reason = ENOENT;

        if (strchr(argv[0], '/')) {
                execve(argv[0], argv, envp);
                return errno;
        }
        for (char **e = envp; *e; e++)
                if (strncmp(*e, "PATH=", 5) == 0)
                        path = *e + 5;
        for (const char *at = path; *at;) {
                size_t len = strcspn(at, ":");

                snprintf(candidate, sizeof candidate, "%.*s/%s", (int)len, at, argv[0]);
                execve(candidate, argv, envp);
                if (errno != ENOENT && errno != ENOTDIR)
                        reason = errno;
                at += len + (at[len] == ':');
        }
        return reason;
}

/* Signals as a fresh login has them: nothing blocked, nothing ignored. */
static void reset_signals(void)
{
        sigset_t none;

        sigemptyset(&none);
        for (int sig = 1; sig < NSIG; sig++)
                signal(sig, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

static void done(struct inside *in, enum setup_step step)
{
        in->done_at[step] = clock_us();
}

static void __attribute__((noreturn)) command_main(struct inside *in)
{
        const struct cell_request *q = &in->request;
        struct error err;
        struct exec_news news = {.reason = EXEC_NEXT};

        done(in, SETUP_COMMAND);
        setsid();
        umask(022);
        personality(PER_LINUX);
        for (int i = 0; i < CELL_STDIO; i++)
                if (dup2(q->stdio[i], i) < 0)
                        check(in, "connect its standard input and output");
        ioctl(STDIN_FILENO, TIOCSCTTY, 0); /* where that is a terminal, and nobody's yet */
        if (fd_close_range(CELL_STDIO, UINT_MAX, true) < 0)
                check(in, "close its descriptors");
        if (chdir(q->workdir) < 0) {
                error_errno(&err, CODE_USAGE, errno, "the working directory %s", q->workdir);
                fail(in, &err);
        }
        check(in, confine_limits(in));
        reset_signals();
        done(in, SETUP_LIMITS);
        memcpy(news.done_at, in->done_at, sizeof news.done_at);
        if (write(in->started, &news, sizeof news) != (ssize_t)sizeof news)
                _exit(1);
        news.reason = execute(q->argv, q->envp);
        (void)!write(in->started, &news, sizeof news);
        _exit(127);
}

/* --- the first process -------------------------------------------------------------------- */

/* Wait for everything that ends, as pid 1 must, until the command does. */
static void wait_for_command(const struct inside *in, pid_t command)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        siginfo_t info = {0};

        do {
                if (waitid(P_ALL, 0, &info, WEXITED) < 0 && errno != EINTR)
                        _exit(1);
        } while (info.si_pid != command);
        put_u8(&payload, info.si_code == CLD_EXITED ? CELL_EXITED : CELL_SIGNALED);
        put_u32(&payload, (uint32_t)info.si_status);
        put_u64(&payload, clock_us());
        frame_send(in->socket, INSIDE_ENDED, &payload, NULL, 0, NULL);
}

/* The next command of a session. Meanwhile the kernel buries what ends. */
static void wait_for_next(struct inside *in)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct cell_request *q = &in->request;
        struct reader r;
        uint32_t count;

        signal(SIGCHLD, SIG_IGN);
        if (frame_receive(in->socket, &f, MESSAGE_MAX, CELL_STDIO + 1, NULL) <= 0 ||
                f.type != INSIDE_COMMAND || f.fd_count != CELL_STDIO + 1)
                _exit(0);
        r = reader_of(f.payload.data, f.payload.len);
        q->limits.value[LIMIT_CPU] = get_u64(&r);
        count = get_u32(&r);
        if (count > CELL_MAX_ARGUMENTS || !(q->argv = calloc(count + 1, sizeof *q->argv)))
                _exit(1);
        for (uint32_t i = 0; i < count && !r.bad; i++)
                q->argv[i] = get_new_text(&r, CELL_MAX_ARGUMENT);
        if (!reader_done(&r))
                _exit(1);
        for (int i = 0; i < CELL_STDIO; i++)
                q->stdio[i] = take_fd(&f.fds[i]);
        in->started = take_fd(&f.fds[CELL_STDIO]);
        signal(SIGCHLD, SIG_DFL);
}

static void receive(const struct inside *in, enum inside_message type, struct frame *f)
{
        struct pollfd news[] = {
                {.fd = in->bell, .events = POLLIN}, {.fd = in->supervisor, .events = POLLIN}};
        eventfd_t once;

        /* A bell does not tell that nobody will ring it any more. */
        while (poll(news, sizeof news / sizeof *news, -1) < 0)
                if (errno != EINTR)
                        _exit(1);
        if (news[1].revents || eventfd_read(in->bell, &once) < 0 ||
                frame_receive(in->socket, f, MESSAGE_MAX, FRAME_MAX_FDS, NULL) <= 0 ||
                f->type != type)
                _exit(1);
}

/* Nobody else may open it: this process will not be dumpable. */
static void offer_network(const struct inside *in)
{
        _cleanup_fd_ int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        const struct buffer nothing = BUFFER_INIT;

        if (fd < 0 || frame_send(in->socket, INSIDE_NETWORK, &nothing, &fd, 1, NULL) < 0)
                check(in, "offer its network");
}

static void wait_for_request(struct inside *in)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err;

        receive(in, INSIDE_REQUEST, &f);
        if (request_decode(&f, &in->request, &err) < 0)
                fail(in, &err);
        if (in->request.flags & CELL_NETWORK)
                offer_network(in);
        if (!in->root)
                return;
        /* Trees come ready as mounts. */
        for (unsigned i = 0; i < in->request.mount_count; i++)
                in->request.mounts[i].tree = fd_close(in->request.mounts[i].tree);
        request_close_layers(&in->request);
}

static void wait_for_mounts(struct inside *in)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct mounts *m = &in->mounts;
        struct reader r;
        const bool image = in->request.layer_count > 0, result = *in->request.result_dir;
        unsigned trees, next;

        receive(in, INSIDE_MOUNTS, &f);
        r = reader_of(f.payload.data, f.payload.len);
        trees = get_u8(&r);
        if (trees > MOUNTS_MAX || f.fd_count != trees + 1U + image + result)
                _exit(1);
        for (unsigned i = 0; i < trees; i++) {
                get_text(&r, m->trees[i].place, CELL_MAX_PLACE);
                m->trees[i].mount = take_fd(&f.fds[i]);
        }
        m->tree_count = trees;
        next = trees;
        m->root = take_fd(&f.fds[next++]);
        if (image)
                m->image = take_fd(&f.fds[next++]);
        if (result)
                m->result = take_fd(&f.fds[next++]);
        if (!reader_done(&r))
                _exit(1);
}

static void enter_groups(struct inside *in)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        receive(in, INSIDE_DOORS, &f);
        if (cgroup_enter(f.fds, f.fd_count) < 0 || unshare(CLONE_NEWCGROUP) < 0)
                check(in, "enter its groups");
        done(in, SETUP_ENTER);
}

/* What assay-exec calls. An inode of the cell's own: nobody else has a path that leads to it. */
static void offer_calls(const struct inside *in)
{
        enum { WAITING = 128 };
        _cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = CALLS_SOCKET};
        const struct buffer nothing = BUFFER_INIT;

        if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 ||
                chmod(CALLS_SOCKET, 0666) < 0 || listen(fd, WAITING) < 0 ||
                frame_send(in->socket, INSIDE_SOCKET, &nothing, &fd, 1, NULL) < 0)
                check(in, "make the socket for calls");
}

static void wait_until_online(struct inside *in)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        receive(in, INSIDE_ONLINE, &f);
        done(in, SETUP_ONLINE);
}

/* Die with the supervisor. It may have died before we asked. Of that the socket does not tell: the
 * undertaker has the other end, too, and may outlive the supervisor a little. */
static void tie_to_supervisor(const struct inside *in)
{
        struct pollfd end = {.fd = in->supervisor, .events = POLLIN};

        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
                check(in, "tie itself to its supervisor");
        if (poll(&end, 1, 0) != 0)
                _exit(1);
}

static int loopback_up(void)
{
        _cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

        return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);
}

/* Of what the supervisor had open at the moment, only what is its own: it may wait for long, and
 * must not hold what belongs to other cells. */
static void keep_own_descriptors(const struct inside *in)
{
        const unsigned own[] = {(unsigned)in->socket, (unsigned)in->bell, (unsigned)in->started,
                (unsigned)in->supervisor};
        unsigned from =
                CELL_STDIO; /* 0 to 2 stay taken: nothing must land there on its way there */
        unsigned next;

        do {
                next = UINT_MAX;
                for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                        if (own[i] >= from && own[i] < next)
                                next = own[i];
                if (next > from &&
                        fd_close_range(from, next < UINT_MAX ? next - 1 : next, false) < 0)
                        check(in, "close its descriptors");
                from = next + 1;
        } while (next < UINT_MAX);
}

/* What needs neither ids nor mounts, while the supervisor makes those. */
static void make_slow_namespaces(struct inside *in)
{
        struct error err;

        if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
                check(in, "make its namespaces");
        /* What the host mounts later must not appear in mounts of its that the cell keeps. */
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                check(in, "part its mounts from the host's");
        if (sethostname("cell", 4) < 0)
                check(in, "name itself");
        if (loopback_up() < 0)
                check(in, "bring its loopback up");
        done(in, SETUP_NETWORK);
        if (view_begin_inside(&in->mounts, &err) < 0)
                fail(in, &err);
        check(in, confine_bound());
}

/* Also the effective id that the supervisor borrowed: all three are 0 inside. */
static void become_root(const struct inside *in)
{
        const struct cell_request *q = &in->request;
        /* A single id comes without the right to leave groups. */
        bool several = in->root || q->uid != 0 || q->gid != 0;

        if ((several && syscall(SYS_setgroups, 0, NULL) < 0) ||
                syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0)
                check(in, "take its ids");
}

/* As root the supervisor has made the mounts, else they are made here. */
static void make_mounts(struct inside *in)
{
        const struct mounts_for who = {&in->request, {IDS_SINGLE, 0, 0, 1, 0, 0}, false, 0};
        const struct buffer nothing = BUFFER_INIT;
        struct mounts *m = &in->mounts;
        struct error err;
        unsigned count = 0;
        int fds[3];

        if (in->root) {
                wait_for_mounts(in);
                return;
        }
        if (view_begin(m, &who, &err) < 0 || mounts_make(m, &who, &err) < 0)
                fail(in, &err);
        fds[count++] = m->root;
        if (m->result >= 0)
                fds[count++] = m->result;
        if (m->kept >= 0)
                fds[count++] = m->kept;
        if (frame_send(in->socket, INSIDE_MADE, &nothing, fds, count, &err) < 0)
                fail(in, &err);
}

static void build_view(struct inside *in)
{
        struct error err;

        if (view_fit(&in->mounts, &in->request, in->root, &err) < 0)
                fail(in, &err);
        done(in, SETUP_VIEW);
        if (view_leave_host(&in->mounts, in->root, &err) < 0)
                fail(in, &err);
        done(in, SETUP_LEAVE);
}

/* The command shares this process's memory until it executes, as after vfork(): that spares a copy
 * of the page tables. All rights are gone by then, for both. */
static int command_entry(void *in)
{
        command_main(in);
}

void inside_main(struct inside *in)
{
        static char stack[64 << 10] __attribute__((aligned(16)));
        pid_t command;

        keep_own_descriptors(in);
        tie_to_supervisor(in);
        make_slow_namespaces(in);
        wait_for_request(in);
        prctl(PR_SET_DUMPABLE, 0); /* not earlier: an ordinary user could not write our id maps */
        /* Files that this process makes for the cell must not depend on the caller's umask. */
        umask(022);
        make_mounts(in);
        become_root(in);
        build_view(in);
        if (in->request.flags & CELL_CALLS)
                offer_calls(in);
        enter_groups(in);
        if (in->request.flags & CELL_NETWORK)
                wait_until_online(in);
        check(in, confine_cell(in));
        /* Again: changes of ids have undone both. */
        tie_to_supervisor(in);
        prctl(PR_SET_DUMPABLE, 0);
        done(in, SETUP_RIGHTS);
        for (;;) {
                command = clone(
                        command_entry, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, in);
                if (command < 0)
                        check(in, "start its command");
                /* Everything but the socket goes, the exec pipe among it: its end means exec. */
                if (dup2(in->socket, 0) < 0 || fd_close_range(1, UINT_MAX, false) < 0)
                        _exit(1);
                in->socket = 0;
                wait_for_command(in, command);
                if (!(in->request.flags & CELL_SESSION))
                        _exit(0); /* the kernel kills what is left when pid 1 ends */
                wait_for_next(in);
        }
}
