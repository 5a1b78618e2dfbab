/* Running other programs; see program.h. Called for `assay image pull` alone. */
#include "image/program.h"

#include "fd.h"
#include "interrupt.h"
#include "spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096, ERRORS_MAX = 4096, PATIENCE_MS = 5000 };

struct running {
        pid_t pid;
        int pidfd, output, errors; /* the last two to read from */
};

bool program_find(const char *name, char ret_path[PATH_MAX])
{
        const char *path = getenv("PATH");

        if (!path)
                path = "/usr/local/bin:/usr/bin:/bin";
        for (size_t len; *path; path += len + (path[len] == ':')) {
                struct stat st;

                len = strcspn(path, ":");
                if (*path == '/' &&
                        snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)len, path, name) < PATH_MAX &&
                        stat(ret_path, &st) == 0 && S_ISREG(st.st_mode) &&
                        access(ret_path, X_OK) == 0)
                        return true;
        }
        return false;
}

/* --- the child ------------------------------------------------------------------------------ */

static _Noreturn void child(const struct program *p, pid_t parent, int output, int errors)
{
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        if (output < 0)
                output = p->quiet ? null : STDERR_FILENO;
        if (null >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                dup2(errors, STDERR_FILENO) >= 0 && fd_close_range(3, UINT_MAX, true) == 0)
                execv(p->path, (char **)(uintptr_t)p->argv);
        dprintf(errors, "cannot be started: %s\n", strerror(errno));
        _exit(127);
}

static int start(const struct program *p, struct running *ret, struct error *err)
{
        int output[2] = {-EBADF, -EBADF}, errors[2] = {-EBADF, -EBADF};
        pid_t parent = getpid();

        *ret = (struct running){.pidfd = -EBADF, .output = -EBADF, .errors = -EBADF};
        if ((p->output && fd_pipe(output, err) < 0) || fd_pipe(errors, err) < 0) {
                fd_close(output[0]);
                fd_close(output[1]);
                return -1;
        }
        ret->output = output[0];
        ret->errors = errors[0];
        ret->pid = fork();
        if (ret->pid == 0)
                child(p, parent, output[1], errors[1]);
        if (ret->pid > 0)
                ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
        if (ret->pidfd < 0) {
                error_errno(err, CODE_INFRA_CELL, errno, "cannot start %s", p->path);
                if (ret->pid > 0 && kill(ret->pid, SIGKILL) == 0)
                        waitpid(ret->pid, NULL, 0);
        }
        fd_close(output[1]);
        fd_close(errors[1]);
        return ret->pidfd < 0 ? -1 : 0;
}

/* --- what it says --------------------------------------------------------------------------- */

/* What can be read now goes to `out`; at the end the descriptor is closed. */
static int take(const struct pollfd *ready, int *fd, struct buffer *out, struct error *err)
{
        unsigned char *to;
        ssize_t n;

        if (ready->revents == 0)
                return 0;
        to = buffer_reserve(out, CHUNK);
        if (!to)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        n = read(*fd, to, CHUNK);
        if (n > 0)
                buffer_advance(out, (size_t)n);
        else if (n == 0 || errno != EINTR)
                *fd = fd_close(*fd);
        return 0;
}

static void keep_end(struct buffer *b)
{
        if (b->len <= ERRORS_MAX)
                return;
        memmove(b->data, b->data + b->len - ERRORS_MAX, ERRORS_MAX + 1);
        b->len = ERRORS_MAX;
}

/* Until it has ended and what it said is read. What it left running may keep the pipes open. */
static int listen_to(
        struct running *r, const struct program *p, struct buffer *errors, struct error *err)
{
        struct pollfd ready[3];

        do {
                ready[0] = (struct pollfd){.fd = r->output, .events = POLLIN};
                ready[1] = (struct pollfd){.fd = r->errors, .events = POLLIN};
                ready[2] = (struct pollfd){.fd = r->pidfd, .events = POLLIN};
                if (interrupt_poll(ready, 3, -1) < 0 && errno != EINTR)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot wait");
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (take(&ready[0], &r->output, p->output, err) < 0 ||
                        take(&ready[1], &r->errors, errors, err) < 0)
                        return -1;
                keep_end(errors);
                if (p->output && p->output->len > p->output_max)
                        return error_set(err, CODE_IMAGE_INVALID, "%s: prints more than %zu bytes",
                                p->path, p->output_max);
        } while (ready[2].revents == 0 || ready[0].revents != 0 || ready[1].revents != 0);
        return 0;
}

static void end(const struct running *r)
{
        struct pollfd ended = {.fd = r->pidfd, .events = POLLIN};

        kill(r->pid, SIGTERM);
        if (poll(&ended, 1, PATIENCE_MS) <= 0)
                kill(r->pid, SIGKILL);
}

int program_run(const struct program *p, struct buffer *ret_errors, struct error *err)
{
        struct running r;
        int result = start(p, &r, err);

        if (result == 0) {
                result = listen_to(&r, p, ret_errors, err);
                if (result < 0)
                        end(&r);
        }
        if (r.pidfd >= 0) {
                int status = spawn_wait(r.pidfd, result < 0 ? NULL : err);

                result = result < 0 ? -1 : status;
        }
        fd_close(r.pidfd);
        fd_close(r.output);
        fd_close(r.errors);
        return result;
}
