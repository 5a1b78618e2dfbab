/* Watching over a task; see watcher.h. */
#include "watcher.h"

#include "fd.h"
#include "frame.h"
#include "interrupt.h"
#include "task_digest.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- in its own process --------------------------------------------------------------------- */

static void look_again(const struct task *t, struct watched *ret)
{
        struct task_state now;
        struct error err = {0};

        if (task_look(t->directory, &now, &err) < 0)
                snprintf(ret->changed, sizeof ret->changed, "%s", err.text);
        else if (strcmp(now.digest, t->state.digest) != 0)
                snprintf(ret->changed, sizeof ret->changed, "%s", now.newest);
}

static void watch(const struct task *t, int socket)
{
        _cleanup_frame_ struct frame asked = FRAME_INIT;
        struct watched found = {0};
        struct error err = {0};

        if (task_digest(t, socket, found.sha256, &err) < 0) {
                *found.sha256 = '\0';
                snprintf(found.unread, sizeof found.unread, "%s", err.text);
        }
        if (frame_receive(socket, &asked, 0, 0, NULL) <= 0)
                return;
        look_again(t, &found);
        watcher_tell(socket, &found, NULL);
}

_Noreturn static void child(const struct task *t, int socket)
{
        int kept[] = {socket, t->directory};

        /* Nothing of the runner's stays open here: who waits for the end of one must not wait for
         * two. */
        fd_keep_only(kept, 2);
        watch(t, socket);
        _exit(0);
}

/* --- in the runner -------------------------------------------------------------------------- */

int watcher_start(struct watcher *w, const struct task *t, struct error *err)
{
        int pair[2];

        if (fd_socketpair(pair, err) < 0)
                return -1;
        fflush(NULL);
        w->pid = fork();
        if (w->pid == 0)
                child(t, pair[1]);
        fd_close(pair[1]);
        w->socket = pair[0];
        return w->pid > 0 ? 0
                          : error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start a process");
}

void watcher_adopt(struct watcher *w, int socket)
{
        *w = (struct watcher){socket, 0};
}

int watcher_tell(int socket, const struct watched *found, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_text(&payload, found->sha256);
        put_text(&payload, found->changed);
        put_text(&payload, found->unread);
        return frame_send(socket, WATCHER_FOUND, &payload, NULL, 0, err);
}

static bool take(struct watched *ret, struct frame *f)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        get_text(&r, ret->sha256, sizeof ret->sha256);
        get_text(&r, ret->changed, sizeof ret->changed);
        get_text(&r, ret->unread, sizeof ret->unread);
        return f->type == WATCHER_FOUND && reader_done(&r);
}

int watcher_ask(struct watcher *w, struct watched *ret, struct error *err)
{
        _cleanup_frame_ struct frame frame = FRAME_INIT;
        const struct buffer nothing = BUFFER_INIT;
        struct pollfd ready = {.fd = w->socket, .events = POLLIN};
        int r = 0;

        if (frame_send(w->socket, WATCHER_ASK, &nothing, NULL, 0, NULL) == 0) {
                interrupt_poll(&ready, 1, -1);
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                r = frame_receive(w->socket, &frame, FRAME_MAX_PAYLOAD, 0, err);
        }
        if (r < 0)
                return -1;
        if (r == 0 || !take(ret, &frame))
                return error_set(
                        err, CODE_INTERNAL_HELPER, "the process that watches over the task ended");
        while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        return 0;
}

void watcher_close(struct watcher *w)
{
        if (w->pid > 0)
                fd_close(w->socket);
        w->socket = -EBADF;
}
