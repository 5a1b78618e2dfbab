/* Files for the caller; see output.h. Who writes one may have given up root meanwhile, and could
 * not rename it where only root may: so a process is made before, which does that and nothing else.
 * It also removes what is left when the other one dies. */
#include "output.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without the library's name for it, which not every one has. */
static int rename_to(const char *from, const char *to, bool force)
{
        return (int)syscall(
                SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, force ? 0 : RENAME_NOREPLACE);
}

/* The other process: a byte says that the file is complete, the end of the socket that it will not
 * be. The answer is an errno. */
_Noreturn static void keep(int socket, const char *new, const char *path, bool force)
{
        int result = 0;
        char word;

        if (read(socket, &word, 1) != 1 || rename_to(new, path, force) < 0) {
                result = errno;
                unlink(new);
        }
        (void)!write(socket, &result, sizeof result);
        _exit(0);
}

static int start_keeper(
        struct output *o, const char *new, const char *path, bool force, struct error *err)
{
        int pair[2];

        if (fd_socketpair(pair, err) < 0)
                return -1;
        o->pid = fork();
        if (o->pid == 0) {
                fd_close(pair[0]);
                if (dup2(pair[1], STDIN_FILENO) < 0 || fd_close_range(1, UINT_MAX, false) < 0)
                        _exit(1);
                keep(STDIN_FILENO, new, path, force);
        }
        fd_close(pair[1]);
        if (o->pid < 0) {
                fd_close(pair[0]);
                return error_errno(err, CODE_INFRA_MEMORY, errno, "%s", path);
        }
        o->keeper = pair[0];
        return 0;
}

int output_open(struct output *o, const char *path, bool force, struct error *err)
{
        char new[PATH_MAX];
        struct stat st;

        *o = (struct output)OUTPUT_INIT;
        if (strcmp(path, "-") == 0) {
                o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
                return o->fd < 0 ? error_errno(err, CODE_INFRA_IO, errno, "standard output") : 0;
        }
        if (lstat(path, &st) == 0 && (!force || !S_ISREG(st.st_mode)))
                return error_set(err, CODE_USAGE, "%s: is there already; %s", path,
                        S_ISREG(st.st_mode) ? "remove it, or replace it with --force"
                                            : "only regular files are replaced (- is standard "
                                              "output)");
        if ((size_t)snprintf(new, sizeof new, "%s.new", path) >= sizeof new)
                return error_set(err, CODE_USAGE, "%.100s…: too long", path);
        o->fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (o->fd < 0)
                return error_errno(err, CODE_USAGE, errno, "%s: cannot be made", new);
        if (start_keeper(o, new, path, force, err) == 0)
                return 0;
        unlink(new);
        return -1;
}

int output_keep(struct output *o, struct error *err)
{
        int result = EIO;

        if (o->keeper < 0)
                return 0;
        if (fsync(o->fd) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "the file cannot be written");
        if (write(o->keeper, "", 1) != 1 ||
                read(o->keeper, &result, sizeof result) != sizeof result || result != 0)
                return error_errno(err, CODE_INFRA_IO, result, "the file cannot be given its name");
        return 0;
}

void output_close(struct output *o)
{
        o->fd = fd_close(o->fd);
        if (o->keeper >= 0) {
                o->keeper = fd_close(o->keeper);
                while (waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
                        continue;
        }
}
