/* A child that answers with one frame; see beside.h. */
#include "beside.h"

#include "fd.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 0 }; /* error; what the work answers has another type */

_Noreturn static void child(beside_work work, void *to, int socket)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct error err = {0};
        int type = work(to, &payload, &err);

        if (type < 0) {
                buffer_clear(&payload);
                put_error(&payload, &err);
                type = FAILED;
        }
        frame_send(socket, (uint16_t)type, &payload, NULL, 0, NULL);
        _exit(0);
}

static int take(struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        if (f->type != FAILED)
                return 0;
        get_error(&r, err);
        return reader_done(&r) ? -1 : error_set(err, CODE_INTERNAL_FRAME, "a malformed error came");
}

/* Without a time it has as long as it takes, and our descriptors. */
static int ask(beside_work work, void *to, unsigned seconds, struct frame *ret, struct error *err)
{
        const struct timeval patience = {.tv_sec = seconds};
        const pid_t self = getpid();
        int pair[2], r;
        pid_t pid;

        if (fd_socketpair(pair, err) < 0)
                return -1;
        fflush(NULL);
        pid = fork();
        if (pid == 0) {
                int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, pair[1]};

                if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != self)
                        _exit(0);
                fd_close(pair[0]);
                if (seconds > 0)
                        fd_keep_only(kept, sizeof kept / sizeof *kept);
                child(work, to, pair[1]);
        }
        fd_close(pair[1]);
        if (pid < 0) {
                fd_close(pair[0]);
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start a process");
        }
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ret->patience_us = seconds * 1000000ULL;
        r = frame_receive(pair[0], ret, FRAME_MAX_PAYLOAD, 0, err);
        fd_close(pair[0]);
        if (seconds > 0)
                kill(pid, SIGKILL); /* it has answered, or is not waited for */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        if (r == 0)
                return error_set(err, CODE_INTERNAL_HELPER, "a process of our own said nothing");
        return r < 0 ? -1 : take(ret, err);
}

int beside_ask(beside_work work, void *to, struct frame *ret, struct error *err)
{
        return ask(work, to, 0, ret, err);
}

int beside_ask_alone(
        beside_work work, void *to, unsigned seconds, struct frame *ret, struct error *err)
{
        return ask(work, to, seconds, ret, err);
}
