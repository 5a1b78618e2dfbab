/* What a process in a cell holds when it starts, and what it can make of that. Standard input is a
 * file of the host's that was given for reading, standard output one that was given for writing. */
#include "attempt.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>

static void each_descriptor(void)
{
        struct stat st;
        char name[64], target[256];

        for (int fd = 0; fd < 65536; fd++) {
                ssize_t len;

                if (fstat(fd, &st) < 0)
                        continue;
                snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
                len = readlink(name, target, sizeof target - 1);
                note(name, "%.*s", (int)(len > 0 ? len : 0), target);
                snprintf(name, sizeof name, "descriptor %d beyond the three", fd);
                escaped_if(name, fd > 2);
                snprintf(name, sizeof name, "descriptor %d a directory", fd);
                escaped_if(name, S_ISDIR(st.st_mode));
                refused("openat(fd, ..)", openat(fd, "..", O_RDONLY));
                refused("fchdir(fd)", fchdir(fd));
        }
}

static int receive_own(int fd)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr align;
        } control = {0};
        char byte = 0;
        struct iovec text = {&byte, 1};
        struct msghdr m = {.msg_iov = &text,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof control};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        int pair[2], got = -1;

        *c = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || sendmsg(pair[0], &m, 0) < 0 ||
                recvmsg(pair[1], &m, 0) < 0)
                return -1;
        memcpy(&got, CMSG_DATA(c), sizeof got);
        return got;
}

int main(void)
{
        char path[64];
        int passed;

        each_descriptor();
        closed("/proc/self/fd/0", O_WRONLY);
        closed("/dev/stdin", O_RDWR);
        closed("/proc/thread-self/fd/0", O_WRONLY | O_TRUNC);
        closed("/proc/self/fd/1", O_RDONLY);
        closed("/dev/fd/1", O_RDWR);
        passed = receive_own(0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", passed);
        closed(path, O_WRONLY);
        refused("truncate(standard input)", truncate("/proc/self/fd/0", 0));
        refused("ftruncate(standard input)", ftruncate(0, 0));
        refused("write(standard input)", write(0, "x", 1));
        refused("fchmod(standard input)", fchmod(0, 0666));
        refused("chmod(standard input)", chmod("/proc/self/fd/0", 0666));
        refused("fchown(standard input)", fchown(0, 1, 1));
        refused("futimens(standard input)", futimens(0, NULL));
        refused("read(standard output)", read(1, path, 1));
        refused("link(standard input)",
                linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, "/tmp/stolen", AT_SYMLINK_FOLLOW));
        refused("link(standard input, empty path)",
                linkat(0, "", AT_FDCWD, "/tmp/stolen", AT_EMPTY_PATH));
        return 0;
}
