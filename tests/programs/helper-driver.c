/* Starts a helper by hand, as the supervisor does: helper-driver PROGRAM NAME INPUT TREE [MODE]. It
 * gets INPUT, a socket, /dev/null and the directory TREE, which is also its root. NAME is its
 * argv[0]: the hook of a helper that was taken over reads there what to attempt. What it answers
 * goes to standard output. The exit status is the helper's, or 128 + its signal. */
#include "fd.h"
#include "spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        const char *const for_scorer[] = {argc == 5 ? argv[2] : "", "result", NULL};
        const char *const with_mode[] = {argc == 6 ? argv[2] : "", argc == 6 ? argv[5] : "", NULL};
        struct spawn spawn = SPAWN_INIT;
        struct error err = {0};
        int pair[2], pidfd;
        char chunk[4096];
        ssize_t n;

        if ((argc != 5 && argc != 6) || fd_socketpair(pair, &err) < 0)
                return 2;
        spawn.program = open(argv[1], O_PATH | O_CLOEXEC);
        spawn.argv = argc == 6 ? with_mode : for_scorer;
        spawn.fds[0] = open(argv[3], O_RDONLY | O_CLOEXEC);
        spawn.fds[1] = pair[1];
        spawn.fds[2] = -EBADF;
        spawn.fds[3] = spawn.root = open(argv[4], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        spawn.fd_count = 4;
        if (spawn_process(&spawn, &pidfd, &err) < 0) {
                fprintf(stderr, "helper-driver: %s\n", err.text);
                return 3;
        }
        close(pair[1]);
        while ((n = read(pair[0], chunk, sizeof chunk)) > 0)
                fwrite(chunk, 1, (size_t)n, stdout);
        return spawn_wait(pidfd, &err);
}
