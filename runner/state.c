/* The state directory; see state.h. */
#include "state.h"

#include "fd.h"
#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int state_path(char *out, size_t size, struct error *err)
{
        const char *state = getenv("ASSAY_STATE"), *xdg = getenv("XDG_STATE_HOME"),
                   *home = getenv("HOME");
        int len;

        if (state && *state)
                len = snprintf(out, size, "%s", state);
        else if (geteuid() == 0)
                len = snprintf(out, size, "/var/lib/assay");
        else if (xdg && *xdg == '/')
                len = snprintf(out, size, "%s/assay", xdg);
        else if (home && *home == '/')
                len = snprintf(out, size, "%s/.local/state/assay", home);
        else
                return error_set(err, CODE_INFRA_STATE, "no state directory: HOME is not set");
        if (len < 0 || (size_t)len >= size)
                return error_set(err, CODE_INFRA_STATE, "the state directory's path is too long");
        return 0;
}

static int make_path(char *path, struct error *err)
{
        for (char *at = path + 1;; at++) {
                if (*at != '/' && *at != '\0')
                        continue;
                char end = *at;

                *at = '\0';
                if (mkdir(path, 0755) < 0 && errno != EEXIST)
                        return error_errno(err, CODE_INFRA_STATE, errno, "%s", path);
                *at = end;
                if (end == '\0')
                        return 0;
        }
}

/* Whoever could write to the directory could have us remove, or take for ours, what they put there.
 */
static int check_owner(int fd, uid_t runner, struct error *err)
{
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the state directory");
        if ((st.st_uid != geteuid() && st.st_uid != runner) || st.st_mode & 022)
                return error_set(
                        err, CODE_INFRA_STATE, "a part of the state directory is not ours alone");
        return 0;
}

int state_own(int fd, struct error *err)
{
        uid_t uid;
        gid_t gid;

        privilege_ids(&uid, &gid);
        if (check_owner(fd, geteuid() == 0 ? uid : geteuid(), err) < 0)
                return -1;
        if (geteuid() == 0 && fchown(fd, uid, gid) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the state directory");
        return 0;
}

static int open_part(const char *part, char path[PATH_MAX], struct error *err)
{
        size_t len;
        int fd;

        if (state_path(path, PATH_MAX - NAME_MAX - 1, err) < 0)
                return -1;
        len = strlen(path);
        snprintf(path + len, PATH_MAX - len, "/%s", part);
        if (make_path(path, err) < 0)
                return -1;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? error_errno(err, CODE_INFRA_STATE, errno, "%s", path) : fd;
}

static int open_private(const char *part, char path[PATH_MAX], struct error *err)
{
        int fd = open_part(part, path, err);
        _cleanup_fd_ int above = fd < 0 ? -1 : openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -1;
        if (check_owner(above, geteuid(), err) < 0 || check_owner(fd, geteuid(), err) < 0) {
                error_add(err, "%s", path);
                fd_close(fd);
                return -1;
        }
        return fd;
}

int state_open_private(const char *part, struct error *err)
{
        char path[PATH_MAX];

        return open_private(part, path, err);
}

int state_file(const char *part, const char *name, char ret[PATH_MAX], struct error *err)
{
        char path[PATH_MAX];
        _cleanup_fd_ int fd = open_private(part, path, err);

        if (fd < 0)
                return -1;
        return (size_t)snprintf(ret, PATH_MAX, "%s/%s", path, name) < PATH_MAX
                       ? 0
                       : error_set(err, CODE_INFRA_STATE, "the state directory's path is too long");
}

int state_open(const char *part, struct error *err)
{
        char path[PATH_MAX];
        int fd = open_part(part, path, err);

        if (fd < 0)
                return -1;
        if (state_own(fd, err) < 0) {
                error_add(err, "%s", path);
                fd_close(fd);
                return -1;
        }
        return fd;
}
