/* The image `host`: parts of this machine's own directories; see mounts.h. */
#include "mounts_parts.h"

#include "beneath.h"
#include "fd.h"
#include "kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A view of one of the host's directories. As root it is made as anyone: although the files seem to
 * be the cell's own, what only the host's root may read stays closed. */
static int make_host_view(const struct mounts_for *who, struct mounts *m, int tree)
{
        static const struct stat root_owns = {.st_uid = 0};

        return mounts_make_view(
                who, m, tree, &root_owns, who->root ? OVERLAY_ANYONE : OVERLAY_VIEW);
}

static uint64_t mount_of(const char *path)
{
        struct statx st = {0};

        if (sys_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0)
                return 0;
        return st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
}

/* One view of the host's whole root, of which the cell gets parts: each overlay costs a tenth of a
 * millisecond, and its end a wait for every processor. None where that cannot be made, as by an
 * ordinary user. */
static void begin_host(const struct mounts_for *who, struct mounts *m)
{
        _cleanup_fd_ int root = -EBADF;
        int view;

        if (!who->root)
                return;
        root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        view = root < 0 ? -1 : make_host_view(who, m, root);
        if (view < 0 || mounts_keep_layer(m, view) < 0)
                return;
        m->host = view;
        m->host_mount = mount_of("/");
}

/* A part of the whole view; a view of its own if the directory is on another mount than the root,
 * or behind a link. */
static int show_host(const struct mounts_for *who, struct mounts *m, const char *path)
{
        _cleanup_fd_ int part = -EBADF, tree = -EBADF;

        /* A link on the way would lead to where this process is, not below the view. */
        if (m->host >= 0 && m->host_mount != 0 && mount_of(path) == m->host_mount)
                part = beneath_open(m->host, path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        if (part >= 0)
                return sys_open_tree(part, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
        tree = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return tree < 0 ? -1 : make_host_view(who, m, tree);
}

/* What the cell may change for itself lies over a view that is only read. (The overlay that is
 * written to cannot be made without the right to pass modes.) Where it cannot be made, for one as
 * the host's own root is an overlay, the view stays read-only. */
static int make_writable(const struct mounts_for *who, struct mounts *m, int below)
{
        char path[64];
        int mount;

        if (mounts_keep_layer(m, below) < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", below);
        mount = mounts_overlay(who, m, path, OVERLAY_WRITABLE);
        return mount >= 0 ? mount
                          : sys_open_tree(
                                    below, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

/* Parts of the host that the image `host` is made of: a symlink stays one, a directory is shown, as
 * root so that the cell may change it for itself, and what is not there is left out. */
static const struct {
        const char *name;
        bool writable;
} host_trees[] = {
        {"usr", true},
        {"bin", true},
        {"sbin", true},
        {"lib", true},
        {"lib32", false},
        {"lib64", false},
        {"libx32", false},
        {"etc/alternatives", false},
};

static int add_host_tree(const struct mounts_for *who, struct mounts *m, const char *name,
        bool writable, struct error *err)
{
        char path[64], target[256];
        struct stat st;
        int mount;

        snprintf(path, sizeof path, "/%s", name);
        if (lstat(path, &st) < 0)
                return 0;
        if (S_ISLNK(st.st_mode)) {
                ssize_t len = readlink(path, target, sizeof target - 1);

                if (len <= 0)
                        return 0;
                target[len] = '\0';
                if (symlinkat(target, m->root, name) < 0)
                        return error_errno(
                                err, CODE_INFRA_CELL, errno, "cannot make %s of a cell", path);
                return 0;
        }
        if (!S_ISDIR(st.st_mode))
                return 0;
        mount = show_host(who, m, path);
        /* A submission has a tree of its own to write to. */
        if (mount >= 0 && writable && who->root && who->request->profile != PROFILE_SUBMISSION)
                mount = make_writable(who, m, mount);
        if (mount < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot show %s to a cell", path);
        mounts_add_tree(m, name, mount);
        return 0;
}

/* Settings of Java lie in /etc, in a directory that is named after its version, as its home is:
 * java-17-openjdk of java-17-openjdk-amd64. */
static int add_java_settings(const struct mounts_for *who, struct mounts *m, struct error *err)
{
        static const char java[] = "java-", openjdk[] = "-openjdk";
        DIR *homes = opendir("/usr/lib/jvm");
        int r = 0;

        for (struct dirent *home; r == 0 && homes && (home = readdir(homes));) {
                const char *number = home->d_name + sizeof java - 1;
                size_t digits;
                char place[64];

                if (strncmp(home->d_name, java, sizeof java - 1) != 0)
                        continue;
                digits = strspn(number, "0123456789");
                if (digits == 0 || digits > 3 ||
                        strncmp(number + digits, openjdk, sizeof openjdk - 1) != 0)
                        continue;
                snprintf(place, sizeof place, "etc/%s%.*s%s", java, (int)digits, number, openjdk);
                if (!mounts_has_tree(m, place) && m->tree_count < MOUNTS_MAX - CELL_MAX_MOUNTS)
                        r = add_host_tree(who, m, place, false, err);
        }
        if (homes)
                closedir(homes);
        return r;
}

int mounts_add_host(const struct mounts_for *who, struct mounts *m, struct error *err)
{
        begin_host(who, m);
        for (size_t i = 0; i < sizeof host_trees / sizeof *host_trees; i++)
                if (add_host_tree(who, m, host_trees[i].name, host_trees[i].writable, err) < 0)
                        return -1;
        return add_java_settings(who, m, err);
}
