/* Removing a tree that someone else shaped: any depth, any width, folders of mode 000.
 *
 * A walk with one open directory. A subdirectory that is not empty is entered; when nothing is
 * left in it, ".." leads back, to a directory that must be the one we came from. For each level
 * above there is only its identity and the place to go on reading, so that a wide directory is
 * not read again from the start for each of its children. Where a file system shifts such places
 * when entries go, some may be missed: then the directory cannot be removed from the level
 * above, and is entered and read once more. */
#include "images/remove.h"

#include "fd.h"
#include "images/listing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct level {
        dev_t device;
        ino_t inode;
        off_t resume; /* before the entry of the directory we went into */
};

struct walk {
        int dir;           /* the current directory */
        struct level here; /* who it is, and where its reading began last */
        struct buffer up;  /* of struct level: the directories above, the root first */
        uint64_t removed;
};

static int failure(const char *name, struct error *err)
{
        return error_errno(err, CODE_INFRA_IO, errno, "%.300s: cannot be removed", name);
}

/* Take a directory as the current one and make sure that we may list and change it. */
static int walk_to(struct walk *w, int dir, off_t resume, struct error *err)
{
        struct stat st;

        if (dir < 0)
                return failure("a folder", err);
        fd_close(w->dir);
        w->dir = dir;
        if (fstat(dir, &st) < 0)
                return failure("a folder", err);
        if ((st.st_mode & 0700) != 0700 && fchmod(dir, 0700) < 0)
                return failure("a folder", err);
        w->here = (struct level){st.st_dev, st.st_ino, resume};
        return resume == 0 || lseek(dir, resume, SEEK_SET) >= 0 ? 0 : failure("a folder", err);
}

/* A folder that its owner may not read has to be changed by name; it is no link, since opening
 * it as a folder without following was refused for want of permission and nothing else. */
static int open_folder(int dir, const char *name)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int fd = openat(dir, name, flags);

        if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
                fd = openat(dir, name, flags);
        return fd;
}

static int descend(struct walk *w, const char *name, off_t resume, struct error *err)
{
        int child = open_folder(w->dir, name);

        if (child < 0)
                return failure(name, err);
        w->here.resume = resume;
        buffer_add(&w->up, &w->here, sizeof w->here);
        if (!buffer_ok(&w->up)) {
                fd_close(child);
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        return walk_to(w, child, 0, err);
}

static int ascend(struct walk *w, struct error *err)
{
        struct level above;

        w->up.len -= sizeof above;
        memcpy(&above, w->up.data + w->up.len, sizeof above);
        if (walk_to(w, openat(w->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC), above.resume,
                    err) < 0)
                return -1;
        if (w->here.device != above.device || w->here.inode != above.inode)
                return error_set(err, CODE_INFRA_IO, "the tree changed while it was removed");
        return 0;
}

/* 1: gone; 0: a folder that is not empty; -1. */
static int remove_one(struct walk *w, const struct dirent64 *e, struct error *err)
{
        bool folder = e->d_type == DT_DIR;

        if (!folder && unlinkat(w->dir, e->d_name, 0) == 0)
                return 1;
        if (!folder && errno != EISDIR) /* what a folder gives where types are not told */
                return failure(e->d_name, err);
        if (unlinkat(w->dir, e->d_name, AT_REMOVEDIR) == 0)
                return 1;
        return errno == ENOTEMPTY || errno == EEXIST ? 0 : failure(e->d_name, err);
}

/* Remove what can be removed here. 1: went into a subdirectory; 0: read to the end; -1. */
static int clear_directory(struct walk *w, struct error *err)
{
        off_t before = w->here.resume;
        const struct dirent64 *e;
        struct listing names;

        listing_begin(&names, w->dir);
        for (; (e = listing_next(&names)); before = e->d_off) {
                int r = remove_one(w, e, err);

                if (r <= 0)
                        return r < 0 ? -1 : descend(w, e->d_name, before, err) < 0 ? -1 : 1;
                w->removed++;
        }
        return names.failed ? failure("a folder", err) : 0;
}

/* The root has no level above that would notice what a shifted reading missed: it is read until
 * a whole reading from the start finds nothing. */
static int walk(struct walk *w, struct error *err)
{
        for (;;) {
                uint64_t before = w->removed;
                off_t began = w->here.resume;
                int r = clear_directory(w, err);

                if (r < 0)
                        return -1;
                if (r > 0)
                        continue;
                if (w->up.len > 0) {
                        if (ascend(w, err) < 0)
                                return -1;
                        continue;
                }
                if (began == 0 && w->removed == before)
                        return 0;
                w->here.resume = 0;
                if (lseek(w->dir, 0, SEEK_SET) < 0)
                        return failure("a folder", err);
        }
}

int remove_below(int root, uint64_t *ret_removed, struct error *err)
{
        struct walk w = {.dir = -EBADF, .up = BUFFER_INIT};
        int r = walk_to(&w, openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, err);

        if (r == 0)
                r = walk(&w, err);
        fd_close(w.dir);
        buffer_free(&w.up);
        *ret_removed = w.removed;
        return r;
}
