/* Keeping a supervisor; see keeper.h. */
#include "keeper.h"

#include "channel.h"
#include "fd.h"
#include "spawn.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static int introduce(const struct keeper *k, int runner, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        return frame_send(k->socket, SUPERVISOR_RUNNER, &nothing, &runner, 1, err);
}

int keeper_lend(struct keeper *k, int *ret_socket, struct error *err)
{
        _cleanup_fd_ int ours = -EBADF, theirs = -EBADF;
        int pair[2];

        if (fd_socketpair(pair, err) < 0)
                return -1;
        ours = pair[0];
        theirs = pair[1];
        /* One that was killed is replaced. */
        if (k->socket < 0 || introduce(k, theirs, NULL) < 0) {
                keeper_end(k);
                if (channel_start_supervisor("keep", &k->socket, &k->pidfd, err) < 0 ||
                        introduce(k, theirs, err) < 0)
                        return -1;
        }
        *ret_socket = take_fd(&ours);
        return 0;
}

void keeper_end(struct keeper *k)
{
        struct pollfd over = {.fd = k->pidfd, .events = POLLIN};

        k->socket = fd_close(k->socket);
        if (k->pidfd >= 0) {
                syscall(SYS_pidfd_send_signal, k->pidfd, SIGTERM, NULL, 0);
                if (poll(&over, 1, PATIENCE_MS) <= 0)
                        syscall(SYS_pidfd_send_signal, k->pidfd, SIGKILL, NULL, 0);
                spawn_wait(k->pidfd, NULL);
        }
        k->pidfd = fd_close(k->pidfd);
}
