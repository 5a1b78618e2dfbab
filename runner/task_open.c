/* Opening what a task consists of, with the caller's rights, and telling later whether that is
 * still what it was; see task.h. */
#include "task.h"

#include "beneath.h"
#include "fd.h"
#include "images/digest.h"
#include "privilege.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREE_MAX_DEPTH = 64, TREE_MAX_ENTRIES = 200000 };

const char *const task_parts[] = {"tests", "truth", "tools", NULL};

struct walk {
        struct task_state *state;
        struct sha256_ctx seen;
        unsigned entries;
        char path[TASK_MAX_PATH]; /* of the entry at hand */
};

/* "Symbolic link loop" would mislead: one link is enough. */
static int failure(const char *path, struct error *err)
{
        return errno == ELOOP ? error_set(err, CODE_TASK_UNSAFE, "%s: is a symbolic link", path)
                              : error_errno(err, CODE_TASK_UNSAFE, errno, "%s", path);
}

/* Whoever writes to a file, or puts another in its place, changes one of these. */
static void see(struct walk *w, const struct stat *st)
{
        const int64_t facts[] = {(int64_t)st->st_dev, (int64_t)st->st_ino, st->st_mode, st->st_size,
                st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec, st->st_ctim.tv_nsec};
        const struct timespec *last = &w->state->changed;

        sha256_update(&w->seen, strlen(w->path) + 1, (const unsigned char *)w->path);
        sha256_update(&w->seen, sizeof facts, (const unsigned char *)facts);
        if (S_ISREG(st->st_mode) &&
                __builtin_add_overflow(w->state->bytes, (uint64_t)st->st_size, &w->state->bytes))
                w->state->bytes = UINT64_MAX;
        if (st->st_ctim.tv_sec < last->tv_sec ||
                (st->st_ctim.tv_sec == last->tv_sec && st->st_ctim.tv_nsec < last->tv_nsec))
                return;
        w->state->changed = st->st_ctim;
        snprintf(w->state->newest, sizeof w->state->newest, "%s", w->path);
}

/* Does a link leave the tree? Its target may climb as far as the link lies deep, at its start. */
static bool link_leaves(int dir, const char *name, unsigned depth)
{
        char target[4096];
        ssize_t len = readlinkat(dir, name, target, sizeof target - 1);
        const char *at = target;
        unsigned climbed = 0;

        if (len <= 0 || len == (ssize_t)sizeof target - 1)
                return true;
        target[len] = '\0';
        if (*at == '/')
                return true;
        while (strncmp(at, "../", 3) == 0 || strcmp(at, "..") == 0) {
                climbed++;
                at += at[2] ? 3 : 2;
        }
        if (climbed > depth)
                return true;
        for (; *at; at += strcspn(at, "/"), at += *at == '/')
                if (strncmp(at, "../", 3) == 0 || strcmp(at, "..") == 0)
                        return true;
        return false;
}

static int check_tree(int dir, unsigned depth, struct walk *w, struct error *err);

static int check_entry(int dir, const char *name, unsigned depth, struct walk *w, struct error *err)
{
        struct stat st;
        int sub;

        if (++w->entries > TREE_MAX_ENTRIES)
                return error_set(
                        err, CODE_TASK_UNSAFE, "%s: more than %d files", w->path, TREE_MAX_ENTRIES);
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return failure(w->path, err);
        see(w, &st);
        if (S_ISLNK(st.st_mode) && link_leaves(dir, name, depth))
                return error_set(
                        err, CODE_TASK_UNSAFE, "%s: is a link that leaves its directory", w->path);
        if (!S_ISDIR(st.st_mode))
                return 0;
        sub = beneath_open(dir, name, O_RDONLY | O_DIRECTORY, 0);
        if (sub < 0)
                return failure(w->path, err);
        return check_tree(sub, depth + 1, w, err); /* which takes `sub` over */
}

static int check_tree(int dir, unsigned depth, struct walk *w, struct error *err)
{
        size_t len = strlen(w->path);
        DIR *list = NULL;
        int r = 0;

        if (depth == TREE_MAX_DEPTH)
                r = error_set(err, CODE_TASK_UNSAFE, "%s: is more than %d folders deep", w->path,
                        TREE_MAX_DEPTH);
        else if (!(list = fdopendir(dir)))
                r = failure(w->path, err);
        if (!list) {
                fd_close(dir);
                return r;
        }
        for (struct dirent *entry; r == 0 && (entry = readdir(list));) {
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                snprintf(w->path + len, sizeof w->path - len, "/%s", entry->d_name);
                r = check_entry(dirfd(list), entry->d_name, depth, w, err);
                w->path[len] = '\0';
        }
        closedir(list);
        return r;
}

/* A directory that need not be there. */
static int open_part(int directory, const char *name, struct walk *w, int *ret, struct error *err)
{
        struct stat st;
        int list;

        snprintf(w->path, sizeof w->path, "%s", name);
        w->entries = 0;
        *ret = beneath_open(directory, name, O_PATH | O_DIRECTORY, 0);
        if (*ret < 0 && errno == ENOENT)
                return 0;
        if (*ret < 0 || fstat(*ret, &st) < 0)
                return failure(name, err);
        see(w, &st);
        list = beneath_open(*ret, ".", O_RDONLY | O_DIRECTORY, 0);
        if (list < 0)
                return failure(name, err);
        return check_tree(list, 0, w, err);
}

static int open_file(int directory, struct walk *w, int *ret, struct error *err)
{
        struct stat st;

        snprintf(w->path, sizeof w->path, "task.json");
        *ret = beneath_open(directory, w->path, O_RDONLY | O_NONBLOCK, 0);
        if (*ret < 0)
                return errno == ENOENT ? error_errno(err, CODE_TASK_MISSING, errno, "task.json")
                                       : failure("task.json", err);
        if (fstat(*ret, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(err, CODE_TASK_UNSAFE, "task.json: not a regular file");
        see(w, &st);
        return 0;
}

static int open_all(
        int directory, struct task_state *state, int *file, int *const to[], struct error *err)
{
        struct walk w = {.state = state};

        *state = (struct task_state){0};
        sha256_init(&w.seen);
        if (open_file(directory, &w, file, err) < 0)
                return -1;
        for (size_t i = 0; task_parts[i]; i++)
                if (open_part(directory, task_parts[i], &w, to[i], err) < 0)
                        return -1;
        digest_text(&w.seen, state->digest);
        return 0;
}

int task_open(struct task *t, const char *path, struct error *err)
{
        int *const to[TASK_PARTS] = {&t->tests, &t->truth, &t->tools};

        t->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (t->directory < 0)
                return error_errno(err, CODE_TASK_MISSING, errno, "%s", path);
        return open_all(t->directory, &t->state, &t->file, to, err) < 0 ? error_add(err, "%s", path)
                                                                        : 0;
}

int task_look(int directory, struct task_state *ret, struct error *err)
{
        int file = -EBADF, parts[TASK_PARTS] = {-EBADF, -EBADF, -EBADF};
        int *const to[TASK_PARTS] = {&parts[TASK_TESTS], &parts[TASK_TRUTH], &parts[TASK_TOOLS]};
        int r = open_all(directory, ret, &file, to, err);

        fd_close(file);
        for (unsigned i = 0; i < TASK_PARTS; i++)
                fd_close(parts[i]);
        return r;
}

static int part_of(const struct task *t, enum task_part part)
{
        const int parts[TASK_PARTS] = {t->tests, t->truth, t->tools};

        return parts[part];
}

int task_trust(const struct task *t, struct channel *c, struct error *err)
{
        uid_t uid;
        gid_t gid;

        for (unsigned i = 0; i < TASK_PARTS; i++)
                if (part_of(t, i) >= 0 && channel_trust_tree(c, part_of(t, i), err) < 0)
                        return -1;
        if (geteuid() != 0)
                return 0;
        privilege_ids(&uid, &gid);
        return channel_name_owner(c, uid, err);
}

int task_show(struct task *t, struct channel *c, struct error *err)
{
        if (channel_ready(c, err) < 0)
                return -1;
        for (unsigned i = 0; c->facts.root && i < TASK_PARTS; i++)
                if (part_of(t, i) >= 0 && t->shown[i] < 0 &&
                        channel_show_tree(c, part_of(t, i), &t->shown[i], err) < 0 &&
                        err->code != CODE_INFRA_CELL)
                        return -1;
        *err = (struct error){0};
        return 0;
}

int task_readable(const struct task *t, enum task_part part)
{
        return t->shown[part] >= 0 ? t->shown[part] : part_of(t, part);
}
