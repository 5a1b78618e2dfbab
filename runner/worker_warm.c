/* Images before their jobs; see worker.h. A job fetches by itself what is not here yet, and says
 * why where that fails. */
#include "worker.h"

#include "aside_child.h"
#include "clock.h"
#include "fd.h"
#include "task_facts.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_AGAIN_US = 5000000, AFTER_FAULT_US = 30000000, MOST_TASKS = 64 };

_Noreturn static void child(const char *task, const char *policy, pid_t parent)
{
        int open[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
        struct error unsaid;
        sigset_t none;

        fd_keep_only(open, sizeof open / sizeof *open);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        aside_die_with(parent);
        _exit(task_pull(task, policy, &unsaid) < 0);
}

static int begin(struct worker *w, const char *task, struct error *err)
{
        const pid_t self = getpid();

        w->warming.pid = fork();
        if (w->warming.pid == 0)
                child(task, w->options->evaluation.policy, self);
        if (w->warming.pid > 0)
                w->warming.pidfd = (int)syscall(SYS_pidfd_open, w->warming.pid, 0);
        if (w->warming.pidfd >= 0)
                return 0;
        worker_warm_end(w);
        return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start a process");
}

/* Its job fetches them. */
static bool runs(const struct worker *w, const char *sha256)
{
        for (unsigned i = 0; i < w->options->jobs; i++)
                if (w->works[i].aside.socket >= 0 && strcmp(w->works[i].task_sha256, sha256) == 0)
                        return true;
        return false;
}

/* The first whose images are not known to be here. What is wrong with a task its job says. */
static int choose(struct worker *w, char *const *tasks, struct error *err)
{
        for (; *tasks; tasks++) {
                struct known_task *known;
                struct error unsaid;
                char path[PATH_MAX];

                if (strcmp(*tasks, w->warming.sha256) == 0 || runs(w, *tasks) ||
                        known_task_find(&w->tasks, *tasks, queue_fetch, &w->queue, path, &known,
                                &unsaid) < 0 ||
                        known->pulled)
                        continue;
                snprintf(w->warming.sha256, sizeof w->warming.sha256, "%s", *tasks);
                return begin(w, path, err);
        }
        return 0;
}

int worker_warm(struct worker *w, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;
        char **tasks;
        int result;

        if (!w->options->pull || w->draining || w->warming.pid > 0 ||
                clock_us() < w->warming.look_us)
                return 0;
        w->warming.look_us = clock_us() + LOOK_AGAIN_US;
        if (queue_ask(&w->queue, STORE_UPCOMING, &nothing, NULL, 0, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        tasks = texts_take(&r, MOST_TASKS);
        result = f.type == STORE_ANSWER && reader_done(&r) && tasks ? choose(w, tasks, err)
                                                                    : store_channel_malformed(err);
        texts_free(tasks);
        return result;
}

void worker_warmed(struct worker *w)
{
        int status = -1;

        while (waitpid(w->warming.pid, &status, 0) < 0 && errno == EINTR)
                continue;
        w->warming.pid = 0;
        w->warming.pidfd = fd_close(w->warming.pidfd);
        w->warming.look_us = clock_us() + (status == 0 ? 0 : AFTER_FAULT_US);
        if (status != 0)
                return;
        known_task_pulled(&w->tasks, w->warming.sha256);
        *w->warming.sha256 = '\0';
}

void worker_warm_end(struct worker *w)
{
        if (w->warming.pid <= 0)
                return;
        kill(w->warming.pid, SIGTERM);
        worker_warmed(w);
}
