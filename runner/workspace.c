/* The directory of one evaluation; see workspace.h. */
#include "workspace.h"

#include "beneath.h"
#include "fd.h"
#include "helper.h"
#include "images/messages.h"
#include "privilege.h"
#include "state.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const trees[] = {"tree", "built"};

static bool is_id(const char *name)
{
        return ulid_is(name);
}

/* Open and lock what an evaluation that no longer lives left behind, if that is what it is. */
static bool open_left(int work, const char *name, uid_t owner, struct workspace *ret)
{
        struct stat st;

        if (!is_id(name))
                return false;
        *ret = (struct workspace)WORKSPACE_INIT;
        snprintf(ret->id, sizeof ret->id, "%s", name);
        ret->lock = openat(work, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ret->lock < 0 || fstat(ret->lock, &st) < 0 || st.st_uid != owner ||
                (st.st_mode & 0777) != 0700 || flock(ret->lock, LOCK_EX | LOCK_NB) < 0) {
                fd_close(ret->lock);
                return false;
        }
        return true;
}

/* As root: a runner that was killed before its directory became the runner's left an empty one. */
static void sweep_unfinished(int work)
{
        int fd = openat(work, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        struct workspace left;

        if (!dir)
                return;
        for (struct dirent *entry; (entry = readdir(dir));)
                if (open_left(work, entry->d_name, 0, &left)) {
                        for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
                                unlinkat(left.lock, trees[i], AT_REMOVEDIR);
                        unlinkat(work, left.id, AT_REMOVEDIR);
                        fd_close(left.lock);
                }
        closedir(dir);
}

/* A directory with a new id, locked. Another runner that sweeps may take it away between making and
 * locking; then there is another id to try. 0, or -1 with errno. */
static int make_locked(struct workspace *w, const char *id, struct error *err)
{
        struct stat mine, there;

        if (id)
                snprintf(w->id, sizeof w->id, "%s", id);
        if ((!id && ulid_new(w->id, err) < 0) || mkdirat(w->work, w->id, 0700) < 0)
                return -1;
        w->lock = openat(w->work, w->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (w->lock >= 0 && flock(w->lock, LOCK_EX | LOCK_NB) == 0 && fstat(w->lock, &mine) == 0 &&
                fstatat(w->work, w->id, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                mine.st_ino == there.st_ino)
                return 0;
        if (w->lock >= 0 && errno != EWOULDBLOCK)
                errno = ENOENT; /* it is there, but another one */
        w->lock = fd_close(w->lock);
        return -1;
}

static int make_tree(const struct workspace *w, const char *name, bool root, int *ret)
{
        if (mkdirat(w->lock, name, 0755) < 0)
                return -1;
        *ret = openat(w->lock, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (*ret < 0 || fchmod(*ret, 0755) < 0)
                return -1;
        return root ? fchown(*ret, IDS_UNPACK, IDS_UNPACK) : 0;
}

static int make_trees(struct workspace *w, bool root)
{
        uid_t uid;
        gid_t gid;

        if (make_tree(w, trees[0], root, &w->tree) < 0 ||
                make_tree(w, trees[1], root, &w->built) < 0)
                return -1;
        if (!root)
                return 0;
        privilege_ids(&uid, &gid);
        return fchown(w->lock, uid, gid);
}

int workspace_make(struct workspace *w, const char *id, struct error *err)
{
        enum { TRIES = 20 };
        int tries = 0;

        w->work = state_open("evaluations", err);
        if (w->work < 0)
                return -1;
        if (geteuid() == 0)
                sweep_unfinished(w->work);
        while (make_locked(w, id, err) < 0)
                if ((errno != ENOENT && errno != EWOULDBLOCK) || ++tries == TRIES)
                        return error_errno(
                                err, CODE_INFRA_STATE, errno, "cannot make a work directory");
        if (make_trees(w, geteuid() == 0) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "cannot make a work directory");
        return 0;
}

static int take_removed(void *to, unsigned type, struct reader *r, struct error *err)
{
        (void)to;
        if (type != UNPACK_DONE)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        *r = reader_of(NULL, 0); /* what it counted does not matter */
        return 1;
}

int workspace_empty(int tree, enum helper_mode mode, struct channel *c, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        const struct helper_question q = {
                .which = HELPER_UNPACK,
                .mode = mode,
                .input = tree,
                .tree = tree,
                .request = UNPACK_REMOVE,
                .payload = &nothing,
                .error_type = UNPACK_ERROR,
                .blamed = 1U << CLASS_INFRA,
                .too_slow = CODE_INFRA_STATE,
                .patience = 600,
                .must_finish = true,
                .take = take_removed,
        };

        return helper_ask(c, &q, err);
}

/* One that is empty needs no help. */
static int remove_tree(const struct workspace *w, const char *name, int *tree, struct channel *c,
        struct error *err)
{
        int r = 0;

        if (*tree >= 0 && unlinkat(w->lock, name, AT_REMOVEDIR) < 0)
                r = workspace_empty(*tree, HELPER_PLAIN, c, err);
        *tree = fd_close(*tree);
        if (w->lock >= 0)
                unlinkat(w->lock, name, AT_REMOVEDIR);
        return r;
}

/* What was put beside the trees to be kept, before that failed: files, and folders of files. */
static void remove_files(int dir, unsigned depth)
{
        int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *list = fd < 0 ? NULL : fdopendir(fd);

        if (!list) {
                fd_close(fd);
                return;
        }
        for (struct dirent *entry; (entry = readdir(list));) {
                const char *name = entry->d_name;
                _cleanup_fd_ int sub = -EBADF;

                if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                        unlinkat(dir, name, 0) == 0 || depth == 0)
                        continue;
                sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub >= 0)
                        remove_files(sub, depth - 1);
                unlinkat(dir, name, AT_REMOVEDIR);
        }
        closedir(list);
}

int workspace_remove(struct workspace *w, struct channel *c, struct error *err)
{
        int *const fds[] = {&w->tree, &w->built};
        int r = 0;

        for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
                if (remove_tree(w, trees[i], fds[i], c, err) < 0)
                        r = -1;
        if (w->work >= 0 && *w->id && unlinkat(w->work, w->id, AT_REMOVEDIR) < 0 &&
                errno == ENOTEMPTY && w->lock >= 0) {
                remove_files(w->lock, 1);
                unlinkat(w->work, w->id, AT_REMOVEDIR);
        }
        w->lock = fd_close(w->lock);
        w->work = fd_close(w->work);
        return r;
}

static int open_tree(const struct workspace *w, const char *name)
{
        return openat(w->lock, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void workspace_sweep(const struct workspace *own, struct channel *c)
{
        int fd = openat(own->work, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir)
                return;
        for (struct dirent *entry; (entry = readdir(dir));) {
                struct workspace left;

                if (strcmp(entry->d_name, own->id) == 0 ||
                        !open_left(own->work, entry->d_name, geteuid(), &left))
                        continue;
                left.work = fcntl(own->work, F_DUPFD_CLOEXEC, 3);
                left.tree = open_tree(&left, trees[0]);
                left.built = open_tree(&left, trees[1]);
                workspace_remove(&left, c, NULL);
        }
        closedir(dir);
}
