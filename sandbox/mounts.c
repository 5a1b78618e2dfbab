/* The file system of a cell; the two steps are explained in mounts.h. */
#include "mounts.h"

#include "beneath.h"
#include "fd.h"
#include "kernel.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* What a program of an ordinary machine expects of /dev. */
static const struct {
        const char *name;
        unsigned major, minor;
} devices[] = {
        {"null", 1, 3},
        {"zero", 1, 5},
        {"full", 1, 7},
        {"random", 1, 8},
        {"urandom", 1, 9},
        {"tty", 5, 0},
};

static const struct {
        const char *path, *target;
} dev_links[] = {
        {"dev/fd", "/proc/self/fd"},
        {"dev/stdin", "/proc/self/fd/0"},
        {"dev/stdout", "/proc/self/fd/1"},
        {"dev/stderr", "/proc/self/fd/2"},
};

static const struct {
        const char *path;
        mode_t mode;
} directories[] = {
        {"dev", 0755},
        {"dev/shm", 01777},
        {"etc", 0755},
        {"home", 0755},
        {"proc", 0555},
        {"root", 0700},
        {"run", 0755},
        {"tmp", 01777},
        {"var", 0755},
        {"var/tmp", 01777},
};

/* Parts of the host that the image `host` is made of: a symlink stays one, a directory is shared
 * read-only, what is not there is left out. */
static const char *const host_trees[] = {
        "usr",
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "etc/alternatives",
};

static const struct {
        const char *path, *text;
} etc_files[] = {
        {"etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
                       "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
        {"etc/group", "root:x:0:\nnogroup:x:65534:\n"},
        {"etc/hostname", "cell\n"},
        {"etc/hosts", "127.0.0.1 localhost cell\n::1 localhost\n"},
        {"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
        {"etc/resolv.conf", ""},
};

/* Parts of /proc that say or do more than a cell needs, though the kernel already refuses most to
 * its ids: made read-only, or covered with /dev/null. */
static const struct {
        const char *path;
        bool hidden;
} proc_masks[] = {
        {"proc/sys", false},
        {"proc/sysrq-trigger", true},
        {"proc/kcore", true},
        {"proc/keys", true},
};

void mounts_free(struct mounts *m)
{
        m->root = fd_close(m->root);
        m->result = fd_close(m->result);
        while (m->tree_count > 0)
                fd_close(m->trees[--m->tree_count].mount);
}

static int set_number(int fs, const char *key, uint64_t value)
{
        char text[32];

        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
        return sys_fsconfig(fs, FSCONFIG_SET_STRING, key, text, 0);
}

/* A detached tmpfs that belongs to the cell's root. */
static int make_tmpfs(const struct ids *ids, uint64_t bytes, uint64_t inodes, unsigned attributes,
        const char *mode, struct error *err)
{
        _cleanup_fd_ int fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);
        int mount = -1;

        if (fs >= 0 && set_number(fs, "size", bytes) == 0 &&
                set_number(fs, "nr_inodes", inodes) == 0 && set_number(fs, "uid", ids->uid) == 0 &&
                set_number(fs, "gid", ids->gid) == 0 &&
                sys_fsconfig(fs, FSCONFIG_SET_STRING, "mode", mode, 0) == 0 &&
                sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                mount = sys_fsmount(fs, FSMOUNT_CLOEXEC, attributes);
        if (mount < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot make a tmpfs");
        return mount;
}

/* Mount the overlay of two read-only layers; -1 with errno. */
static int mount_overlay(const char *lower, int empty, unsigned attributes, bool root)
{
        _cleanup_fd_ int fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
        char layers[PATH_MAX + 64];

        snprintf(layers, sizeof layers, "%s:/proc/self/fd/%d", lower, empty);
        if (fs < 0 || sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", layers, 0) < 0 ||
                (!root && sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0) ||
                sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -1;
        return sys_fsmount(fs, FSMOUNT_CLOEXEC, attributes);
}

/* The empty second layer. As root on kernels before 6.15 it cannot lie in the cell's own root,
 * which is not attached yet: then it is a directory of the host, found out once. */
static int open_empty(const struct mounts *m, bool attached)
{
        const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

        if (!attached)
                return openat(m->root, "empty", flags);
        mkdir("/run/assay", 0755);
        mkdir("/run/assay/empty", 0755);
        return open("/run/assay/empty", flags);
}

/* A read-only view of the host directory `path` (or /proc/self/fd/N). It is an overlay and not a
 * bind, so that its inodes are this cell's alone: locks, leases and inotify on a shared inode
 * would let cells talk. The kernel wants two layers; the second is empty. */
static int make_tree(const char *path, const struct mounts *m, bool root, struct error *err)
{
        static bool attached;
        const unsigned attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
        int mount;

        for (;;) {
                _cleanup_fd_ int empty = open_empty(m, attached);

                mount = empty < 0 ? -1 : mount_overlay(path, empty, attributes, root);
                if (mount >= 0 || errno != EINVAL || attached || !root)
                        break;
                attached = true;
        }
        if (mount < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot show %s to a cell", path);
        return mount;
}

static int add_tree(
        struct mounts *m, const char *place, const char *path, bool root, struct error *err)
{
        int mount = make_tree(path, m, root, err);

        if (mount < 0)
                return -1;
        m->trees[m->tree_count].mount = mount;
        snprintf(m->trees[m->tree_count].place, CELL_MAX_PLACE, "%s", place);
        m->tree_count++;
        return 0;
}

/* The path of a descriptor's directory in this process's own mount namespace. A descriptor opened
 * in another one cannot be a layer; so the path is opened again, and must be the same inode. */
static int reopen(int tree, int *ret_fd, struct error *err)
{
        char link[64], path[PATH_MAX];
        struct stat before, after;
        ssize_t len;
        int fd;

        snprintf(link, sizeof link, "/proc/self/fd/%d", tree);
        len = readlink(link, path, sizeof path - 1);
        if (len <= 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot name a directory");
        path[len] = '\0';
        fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot open %s again", path);
        if (fstat(tree, &before) < 0 || fstat(fd, &after) < 0 || before.st_dev != after.st_dev ||
                before.st_ino != after.st_ino) {
                fd_close(fd);
                return error_set(err, CODE_INFRA_CELL, "%s was replaced meanwhile", path);
        }
        *ret_fd = fd;
        return 0;
}

static int make_requested(
        struct mounts *m, const struct request_mount *want, bool root, struct error *err)
{
        _cleanup_fd_ int own = -EBADF;
        char path[64];

        if (!root && reopen(want->tree, &own, err) < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", root ? want->tree : own);
        return add_tree(m, want->place + 1, path, root, err);
}

static int make_devices(const struct mounts *m, const struct ids *ids, struct error *err)
{
        char path[32];

        if (mkdirat(m->root, "dev", 0755) < 0 ||
                fchownat(m->root, "dev", ids->uid, ids->gid, AT_SYMLINK_NOFOLLOW) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot make /dev of a cell");
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
                snprintf(path, sizeof path, "dev/%s", devices[i].name);
                if (mknodat(m->root, path, S_IFCHR | 0666,
                            makedev(devices[i].major, devices[i].minor)) < 0 ||
                        fchmodat(m->root, path, 0666, 0) < 0)
                        return error_errno(err, CODE_INFRA_CELL, errno, "cannot make /%s", path);
        }
        return 0;
}

/* The image `host`: links are made here, directories become trees. */
static int make_host(struct mounts *m, bool root, struct error *err)
{
        char path[PATH_MAX], target[PATH_MAX];
        struct stat st;

        for (size_t i = 0; i < sizeof host_trees / sizeof *host_trees; i++) {
                snprintf(path, sizeof path, "/%s", host_trees[i]);
                if (lstat(path, &st) < 0)
                        continue;
                if (S_ISLNK(st.st_mode)) {
                        ssize_t len = readlink(path, target, sizeof target - 1);

                        if (len <= 0)
                                continue;
                        target[len] = '\0';
                        if (symlinkat(target, m->root, host_trees[i]) < 0)
                                return error_errno(err, CODE_INFRA_CELL, errno,
                                        "cannot make %s of a cell", path);
                } else if (S_ISDIR(st.st_mode) && add_tree(m, host_trees[i], path, root, err) < 0)
                        return -1;
        }
        return 0;
}

int mounts_make(struct mounts *m, const struct cell_request *request, const struct ids *ids,
        bool root, struct error *err)
{
        const uint64_t *limit = request->limits.value;
        uint64_t result_bytes = limit[LIMIT_RESULT] * 4;

        m->root = make_tmpfs(
                ids, limit[LIMIT_DISK], limit[LIMIT_INODES], MOUNT_ATTR_NOSUID, "0755", err);
        if (m->root < 0)
                return -1;
        if (*request->result_dir) {
                m->result = make_tmpfs(ids, result_bytes, 1024,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, "0755", err);
                if (m->result < 0)
                        return -1;
        }
        if (mkdirat(m->root, "empty", 0755) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot write to a tmpfs");
        if (root && make_devices(m, ids, err) < 0)
                return -1;
        /* A layer must be attached somewhere; an ordinary user's root tmpfs goes to its place
         * in this, the cell's own, mount namespace already. */
        if (!root && sys_move_mount(m->root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot attach the root of a cell");
        if (make_host(m, root, err) < 0)
                return -1;
        for (unsigned i = 0; i < request->mount_count; i++)
                if (make_requested(m, &request->mounts[i], root, err) < 0)
                        return -1;
        return 0;
}

/* --- inside: the rest runs as root of the cell's user namespace --------------------------- */

static int make_directory(int root, const char *place, mode_t mode)
{
        char path[CELL_MAX_PLACE];

        for (const char *slash = place; (slash = strchr(slash, '/')); slash++) {
                snprintf(path, sizeof path, "%.*s", (int)(slash - place), place);
                if (mkdirat(root, path, 0755) < 0 && errno != EEXIST)
                        return -1;
        }
        if (mkdirat(root, place, mode) < 0)
                return errno == EEXIST ? 0 : -1;
        return fchmodat(root, place, mode, 0); /* whatever the umask was */
}

static int write_file(int root, const char *path, const char *text)
{
        _cleanup_fd_ int fd =
                openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

static int attach(int mount, int root, const char *place)
{
        return sys_move_mount(mount, "", root, place, MOVE_MOUNT_F_EMPTY_PATH);
}

static int attach_proc(int root)
{
        _cleanup_fd_ int fs = sys_fsopen("proc", FSOPEN_CLOEXEC);
        _cleanup_fd_ int proc = -EBADF;
        struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

        if (fs < 0 || sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -1;
        proc = sys_fsmount(
                fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
        if (proc < 0 || attach(proc, root, "proc") < 0)
                return -1;
        for (size_t i = 0; i < sizeof proc_masks / sizeof *proc_masks; i++) {
                const char *path = proc_masks[i].path;
                _cleanup_fd_ int cover =
                        sys_open_tree(root, proc_masks[i].hidden ? "dev/null" : path,
                                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

                if (cover >= 0 && sys_mount_setattr(cover, "", AT_EMPTY_PATH, &read_only) < 0)
                        return -1;
                if ((cover < 0 || attach(cover, root, path) < 0) && errno != ENOENT)
                        return -1;
        }
        return 0;
}

/* An ordinary user may not make device nodes: the host's are shown. */
static int attach_devices(int root)
{
        /* Devices can be written to all the same; their times on the host cannot. */
        struct mount_attr read_only = {
                .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC};
        char from[32];

        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
                _cleanup_fd_ int node = -EBADF;

                snprintf(from, sizeof from, "/dev/%s", devices[i].name);
                node = sys_open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
                if (node < 0 || sys_mount_setattr(node, "", AT_EMPTY_PATH, &read_only) < 0 ||
                        write_file(root, from + 1, "") < 0 || attach(node, root, from + 1) < 0)
                        return -1;
        }
        return 0;
}

static int fill_root(const struct mounts *m, bool root)
{
        int fd = m->root;

        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
                if (make_directory(fd, directories[i].path, directories[i].mode) < 0)
                        return -1;
        for (size_t i = 0; i < sizeof etc_files / sizeof *etc_files; i++)
                if (write_file(fd, etc_files[i].path, etc_files[i].text) < 0)
                        return -1;
        for (size_t i = 0; i < sizeof dev_links / sizeof *dev_links; i++)
                if (symlinkat(dev_links[i].target, fd, dev_links[i].path) < 0)
                        return -1;
        if (!root && attach_devices(fd) < 0)
                return -1;
        for (unsigned i = 0; i < m->tree_count; i++)
                if (make_directory(fd, m->trees[i].place, 0755) < 0 ||
                        attach(m->trees[i].mount, fd, m->trees[i].place) < 0)
                        return -1;
        return 0;
}

static int attach_result(const struct mounts *m, const char *place)
{
        if (m->result < 0)
                return 0;
        if (make_directory(m->root, place + 1, 0755) < 0)
                return -1;
        return attach(m->result, m->root, place + 1);
}

int mounts_fit(struct mounts *m, const struct cell_request *request, bool root, struct error *err)
{
        const char *step = NULL;

        if (root && sys_move_mount(m->root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                step = "attach its root";
        else if (fill_root(m, root) < 0)
                step = "fill its root";
        else if (attach_result(m, request->result_dir) < 0)
                step = "attach the result directory";
        else if (attach_proc(m->root) < 0)
                step = "mount /proc";
        else if (unlinkat(m->root, "empty", AT_REMOVEDIR) < 0)
                step = "tidy its root";
        if (step)
                return error_errno(err, CODE_INFRA_CELL, errno, "a cell cannot %s", step);
        return 0;
}

/* The old root is stacked on the new one at the same place, then unmounted: no path to it, not
 * even an empty directory, is left. */
int mounts_leave_host(const struct mounts *m, struct error *err)
{
        if (fchdir(m->root) < 0 || sys_pivot_root(".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
                chdir("/") < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "a cell cannot leave the host's root");
        return 0;
}
