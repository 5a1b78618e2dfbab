/* The directory of one evaluation; see workspace.h. */
#include "workspace.h"

#include "beneath.h"
#include "fd.h"
#include "images/messages.h"
#include "privilege.h"

#include <dirent.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int workspace_new_id(char out[WORKSPACE_ID_SIZE], struct error *err)
{
        static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        unsigned char bytes[16];
        struct timespec now;
        uint64_t ms;

        clock_gettime(CLOCK_REALTIME, &now);
        ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        if (getrandom(bytes + 6, 10, 0) != 10)
                return error_errno(err, CODE_INFRA_STATE, errno, "no random numbers");
        for (int i = 0; i < 6; i++)
                bytes[i] = (unsigned char)(ms >> (8 * (5 - i)));
        /* 128 bits are 26 digits of 5; the first holds only 3. */
        for (int i = 0; i < 26; i++) {
                unsigned value = 0;

                for (int bit = 0; bit < 5; bit++) {
                        int at = i * 5 + bit - 2;

                        value = value << 1 | (at < 0 ? 0 : bytes[at / 8] >> (7 - at % 8) & 1);
                }
                out[i] = digits[value];
        }
        out[26] = '\0';
        return 0;
}

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

static int open_work(struct error *err)
{
        char path[PATH_MAX];
        uid_t uid;
        gid_t gid;
        int fd;

        if (state_path(path, sizeof path - sizeof "/evaluations", err) < 0)
                return -1;
        snprintf(path + strlen(path), sizeof "/evaluations", "/evaluations");
        if (make_path(path, err) < 0)
                return -1;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "%s", path);
        privilege_ids(&uid, &gid);
        if (geteuid() == 0 && fchown(fd, uid, gid) < 0) {
                fd_close(fd);
                return error_errno(err, CODE_INFRA_STATE, errno, "%s", path);
        }
        return fd;
}

/* A directory with a new id, locked. Another runner that sweeps may take it away between making and
 * locking; then there is another id to try. 0, or -1 with errno. */
static int make_locked(struct workspace *w, struct error *err)
{
        struct stat mine, there;

        if (workspace_new_id(w->id, err) < 0 || mkdirat(w->work, w->id, 0700) < 0)
                return -1;
        w->lock = openat(w->work, w->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (w->lock >= 0 && flock(w->lock, LOCK_EX | LOCK_NB) == 0 && fstat(w->lock, &mine) == 0 &&
                fstatat(w->work, w->id, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                mine.st_ino == there.st_ino)
                return 0;
        w->lock = fd_close(w->lock);
        return -1;
}

static int make_tree(struct workspace *w, bool root)
{
        uid_t uid;
        gid_t gid;

        if (mkdirat(w->lock, "tree", 0755) < 0)
                return -1;
        w->tree = openat(w->lock, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (w->tree < 0 || fchmod(w->tree, 0755) < 0)
                return -1;
        if (!root)
                return 0;
        privilege_ids(&uid, &gid);
        return fchown(w->tree, IDS_UNPACK, IDS_UNPACK) < 0 ? -1 : fchown(w->lock, uid, gid);
}

int workspace_make(struct workspace *w, struct error *err)
{
        enum { TRIES = 20 };
        int tries = 0;

        w->work = open_work(err);
        if (w->work < 0)
                return -1;
        while (make_locked(w, err) < 0)
                if ((errno != ENOENT && errno != EWOULDBLOCK) || ++tries == TRIES)
                        return error_errno(
                                err, CODE_INFRA_STATE, errno, "cannot make a work directory");
        if (make_tree(w, geteuid() == 0) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "cannot make a work directory");
        return 0;
}

/* The tree's content belongs to the unpacker's id, so the unpacker removes it. */
static int empty_tree(int tree, struct channel *c, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        _cleanup_fd_ int socket = -EBADF;
        const struct buffer nothing = BUFFER_INIT;
        struct error ended;
        int pair[2], r;
        uint32_t id;

        if (fd_socketpair(pair, err) < 0)
                return -1;
        socket = pair[0];
        id = channel_start_helper(
                c, HELPER_UNPACK, HELPER_PLAIN, (int[]){tree, pair[1], tree}, 3, err);
        fd_close(pair[1]);
        if (id == 0)
                return -1;
        r = frame_send(socket, UNPACK_REMOVE, &nothing, NULL, 0, err);
        if (r == 0)
                r = frame_receive(socket, &f, 4096, 0, err) == 1 && f.type == UNPACK_DONE ? 0 : -1;
        socket = fd_close(socket);
        return channel_helper_done(c, id, CODE_INFRA_STATE, &ended) < 0 ? -1 : r;
}

int workspace_remove(struct workspace *w, struct channel *c, struct error *err)
{
        int r = 0;

        if (w->tree >= 0)
                r = empty_tree(w->tree, c, err);
        w->tree = fd_close(w->tree);
        if (w->lock >= 0)
                unlinkat(w->lock, "tree", AT_REMOVEDIR);
        if (w->work >= 0 && *w->id)
                unlinkat(w->work, w->id, AT_REMOVEDIR);
        w->lock = fd_close(w->lock);
        w->work = fd_close(w->work);
        return r;
}

void workspace_sweep(const struct workspace *own, struct channel *c)
{
        int fd = openat(own->work, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir)
                return;
        for (struct dirent *entry; (entry = readdir(dir));) {
                struct workspace left = WORKSPACE_INIT;

                if (strlen(entry->d_name) != WORKSPACE_ID_SIZE - 1 ||
                        strcmp(entry->d_name, own->id) == 0)
                        continue;
                snprintf(left.id, sizeof left.id, "%s", entry->d_name);
                left.lock =
                        openat(own->work, left.id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (left.lock < 0 || flock(left.lock, LOCK_EX | LOCK_NB) < 0) {
                        fd_close(left.lock);
                        continue;
                }
                left.work = fcntl(own->work, F_DUPFD_CLOEXEC, 3);
                left.tree =
                        openat(left.lock, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                workspace_remove(&left, c, NULL);
        }
        closedir(dir);
}
