/* A cell's own root, what lies in it, and how the first process fits the mounts together; see
 * view.h. Parts run in the supervisor, parts in the first process. */
#include "view.h"

#include "beneath.h"
#include "fd.h"
#include "kernel.h"
#include "network.h"
#include "spawn.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
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
        {"dev/ptmx", "pts/ptmx"},
};

/* Over an image lie only those without which a cell is none: a link or file that the image put
 * there is hidden, and never followed; what is in a directory of the image shows through. */
static const struct {
        const char *path;
        mode_t mode;
        bool over_image;
} directories[] = {
        {"dev", 0755, true},
        {"dev/pts", 0755, true},
        {"dev/shm", 01777, true},
        {"etc", 0755, true},
        {"home", 0755, false},
        {"proc", 0755, true},
        {"root", 0700, false},
        {"run", 0755, false},
        {"tmp", 01777, true},
        {"var", 0755, false},
        {"var/tmp", 01777, false},
};

static const struct {
        const char *path, *text;
        bool over_image;
} etc_files[] = {
        {"etc/passwd",
                "root:x:0:0:root:/root:/bin/sh\n"
                "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
                false},
        {"etc/group", "root:x:0:\nnogroup:x:65534:\n", false},
        {"etc/hostname", "cell\n", true},
        {"etc/hosts", "127.0.0.1 localhost cell\n::1 localhost\n", true},
};

/* The same files without and with a way out. */
static const struct {
        const char *path, *texts[2];
        bool over_image;
} network_files[] = {
        {"etc/nsswitch.conf",
                {"passwd: files\ngroup: files\nhosts: files\n",
                        "passwd: files\ngroup: files\nhosts: files dns\n"},
                false},
        {"etc/resolv.conf",
                {"", "nameserver " NETWORK_RESOLVER "\nnameserver " NETWORK_RESOLVER_IPV6 "\n"},
                true},
};

/* Parts of /proc that say or do more than a cell needs, though the kernel already refuses most to
 * its ids: made read-only, or covered with /dev/null. */
static const struct {
        const char *path;
        bool hidden;
} proc_masks[] = {
        {"proc/sys", false},
        {"proc/pressure", false},
        {"proc/sysrq-trigger", true},
        {"proc/kcore", true},
        {"proc/keys", true},
};

/* What every root holds before the cell makes anything. */
enum { OWN_INODES = 64 };

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

/* --- the cell's own root -------------------------------------------------------------------- */

static int write_file(int root, const char *path, const char *text)
{
        _cleanup_fd_ int fd =
                openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

/* An ordinary user may not make device nodes: the places where the host's are shown. */
static int make_devices(int root, bool nodes)
{
        char path[32];
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof devices / sizeof *devices; i++) {
                snprintf(path, sizeof path, "dev/%s", devices[i].name);
                r = nodes ? mknodat(root, path, S_IFCHR | 0666,
                                    makedev(devices[i].major, devices[i].minor))
                          : write_file(root, path, "");
        }
        return r;
}

/* A copy, since it would be the host's own file, and that of other cells. It is small. */
static int put_program(int root, const char *name, const char *place)
{
        _cleanup_fd_ int found = spawn_find(name, NULL), from = -EBADF, to = -EBADF;
        char link[64];
        struct stat st;

        snprintf(link, sizeof link, "/proc/self/fd/%d", found);
        from = found < 0 ? -1 : open(link, O_RDONLY | O_CLOEXEC);
        to = openat(root, place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
        if (from < 0 || to < 0 || fstat(from, &st) < 0)
                return -1;
        while (st.st_size > 0) {
                ssize_t n = sendfile(to, from, NULL, (size_t)st.st_size);

                if (n <= 0)
                        return -1;
                st.st_size -= n;
        }
        return 0;
}

static int put_calls(int root)
{
        if (mkdirat(root, "run", 0755) < 0 && errno != EEXIST)
                return -1;
        return mkdirat(root, &CALLS_DIRECTORY[1], 0755) < 0
                       ? -1
                       : put_program(root, "assay-exec", &CALLS_PROGRAM[1]);
}

/* What `host` lacks and an image has is not made over the image. */
static int fill_root(int root, bool over_image, bool with_nodes, unsigned flags)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof directories / sizeof *directories; i++)
                if (directories[i].over_image >= over_image)
                        r = mkdirat(root, directories[i].path, directories[i].mode);
        if (r == 0)
                r = make_devices(root, with_nodes);
        for (size_t i = 0; r == 0 && i < sizeof etc_files / sizeof *etc_files; i++)
                if (etc_files[i].over_image >= over_image)
                        r = write_file(root, etc_files[i].path, etc_files[i].text);
        for (size_t i = 0; r == 0 && i < sizeof network_files / sizeof *network_files; i++)
                if (network_files[i].over_image >= over_image)
                        r = write_file(root, network_files[i].path,
                                network_files[i].texts[(flags & CELL_NETWORK) != 0]);
        for (size_t i = 0; r == 0 && i < sizeof dev_links / sizeof *dev_links; i++)
                r = symlinkat(dev_links[i].target, root, dev_links[i].path);
        return r == 0 && flags & CELL_CALLS ? put_calls(root) : r;
}

/* The place of the cell's own files: its root, or what is to lie over the image. */
static int open_own_files(const struct mounts *m, bool image)
{
        if (image && (mkdirat(m->root, MOUNTS_OWN_FILES, 0755) < 0 ||
                             mkdirat(m->root, "proc", 0755) < 0)) /* where layers are attached */
                return -1;
        return openat(m->root, image ? MOUNTS_OWN_FILES : ".",
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int view_begin(struct mounts *m, const struct mounts_for *who, struct error *err)
{
        const struct cell_request *q = who->request;
        const uint64_t *limit = q->limits.value;
        const bool image = q->layer_count > 0;
        _cleanup_fd_ int own = -EBADF;
        mode_t saved;
        int r;

        m->root = make_tmpfs(&who->ids, limit[LIMIT_DISK],
                limit[LIMIT_INODES] + OWN_INODES + 2 * q->layer_count, MOUNT_ATTR_NOSUID, "0755",
                err);
        if (m->root >= 0 && *q->result_dir)
                m->result = make_tmpfs(&who->ids, limit[LIMIT_RESULT] * 4, 1024,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                        q->uid == 0 ? "0755" : "0777", err);
        if (m->root < 0 || (*q->result_dir && m->result < 0))
                return -1;
        saved = umask(0); /* modes are what the tables say */
        own = open_own_files(m, image);
        r = own < 0 ? -1 : fill_root(own, image, who->root, q->flags);
        umask(saved);
        return r < 0 ? error_errno(err, CODE_INFRA_CELL, errno, "cannot fill the root of a cell")
                     : 0;
}

/* --- inside: the rest runs as root of the cell's user namespace --------------------------- */

/* The place where a tree is attached, made if it is not there. Each part is opened in the one
 * before, and no part may be a link: trees that were attached before are written by others. */
static int open_place(int root, const char *place, mode_t kind)
{
        _cleanup_fd_ int above = fcntl(root, F_DUPFD_CLOEXEC, 3);
        char name[CELL_MAX_PLACE];

        for (;;) {
                size_t len = strcspn(place, "/");
                bool last = place[len] == '\0';
                int fd;

                snprintf(name, sizeof name, "%.*s", (int)len, place);
                fd = beneath_enter(above, name);
                if (fd < 0 && errno == ENOENT) {
                        if (last && kind == S_IFREG ? write_file(above, name, "") < 0
                                                    : mkdirat(above, name, 0755) < 0)
                                return -1;
                        fd = beneath_enter(above, name);
                }
                if (fd < 0 || last)
                        return fd;
                fd_close(above);
                above = fd;
                place += len + 1;
        }
}

static int attach(int mount, int root, const char *place)
{
        return sys_move_mount(mount, "", root, place, MOVE_MOUNT_F_EMPTY_PATH);
}

static int attach_tree(int mount, int root, const char *place)
{
        _cleanup_fd_ int at = -EBADF;
        struct stat st;

        if (fstat(mount, &st) < 0)
                return -1;
        at = open_place(root, place, S_ISDIR(st.st_mode) ? S_IFDIR : S_IFREG);
        return at < 0 ? -1
                      : sys_move_mount(mount, "", at, "",
                                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* A file of the cell's own, in place of what an image may have there. */
static int make_file(int root, const struct request_file *f)
{
        const char *name = strrchr(f->place, '/') + 1;
        char above[CELL_MAX_PLACE];
        _cleanup_fd_ int dir = -EBADF, fd = -EBADF;

        snprintf(above, sizeof above, "%.*s", (int)(name - f->place - 1), f->place);
        dir = *above ? open_place(root, above + 1, S_IFDIR) : fcntl(root, F_DUPFD_CLOEXEC, 3);
        if (dir < 0 || (unlinkat(dir, name, 0) < 0 && errno != ENOENT))
                return -1;
        fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                f->executable ? 0755 : 0644);
        return fd < 0 ? -1 : fd_write_all(fd, f->bytes, f->size);
}

int view_begin_inside(struct mounts *m, struct error *err)
{
        _cleanup_fd_ int proc = sys_fsopen("proc", FSOPEN_CLOEXEC);
        _cleanup_fd_ int pts = sys_fsopen("devpts", FSOPEN_CLOEXEC);
        const unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

        if (proc >= 0 && sys_fsconfig(proc, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                m->proc = sys_fsmount(proc, FSMOUNT_CLOEXEC, attributes | MOUNT_ATTR_NODEV);
        if (m->proc < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "a cell cannot mount /proc");
        /* Terminals of the cell's own, for programs that test others through one. */
        if (pts >= 0 && sys_fsconfig(pts, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) == 0 &&
                sys_fsconfig(pts, FSCONFIG_SET_STRING, "max", "64", 0) == 0 &&
                sys_fsconfig(pts, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                m->terminals = sys_fsmount(pts, FSMOUNT_CLOEXEC, attributes);
        if (m->terminals < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "a cell cannot make its terminals");
        return 0;
}

static int root_of(const struct mounts *m)
{
        return m->image >= 0 ? m->image : m->root;
}

static int attach_proc(const struct mounts *m)
{
        struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
        int root = root_of(m);

        if (attach(m->proc, root, "proc") < 0)
                return -1;
        for (size_t i = 0; i < sizeof proc_masks / sizeof *proc_masks; i++) {
                const char *path = proc_masks[i].path;
                _cleanup_fd_ int cover = -EBADF;

                if (faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                        continue; /* not every kernel has all of them */
                cover = sys_open_tree(root, proc_masks[i].hidden ? "dev/null" : path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
                if (cover < 0 || sys_mount_setattr(cover, "", AT_EMPTY_PATH, &read_only) < 0 ||
                        attach(cover, root, path) < 0)
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
                        attach(node, root, from + 1) < 0)
                        return -1;
        }
        return 0;
}

/* What an image has on the way there is not followed: it is not made for this. */
static int cannot_place(const struct mounts *m, const char *place, struct error *err)
{
        const bool in_the_way =
                m->image >= 0 && (errno == ELOOP || errno == ENOTDIR || errno == EISDIR);

        return in_the_way ? error_set(err, CODE_IMAGE_UNSUPPORTED,
                                    "the image has a link, or no directory, where a cell needs /%s",
                                    place)
                          : error_errno(
                                    err, CODE_INFRA_CELL, errno, "a cell cannot attach /%s", place);
}

static int attach_trees(const struct mounts *m, const struct cell_request *q, struct error *err)
{
        for (unsigned i = 0; i < m->tree_count; i++)
                if (attach_tree(m->trees[i].mount, root_of(m), m->trees[i].place) < 0)
                        return cannot_place(m, m->trees[i].place, err);
        if (m->result >= 0 && attach_tree(m->result, root_of(m), q->result_dir + 1) < 0)
                return cannot_place(m, q->result_dir + 1, err);
        for (unsigned i = 0; i < q->file_count; i++)
                if (make_file(root_of(m), &q->files[i]) < 0)
                        return cannot_place(m, q->files[i].place + 1, err);
        return 0;
}

int view_fit(struct mounts *m, const struct cell_request *request, bool root, struct error *err)
{
        const char *step = NULL;

        /* An ordinary user's tmpfs is there already. */
        if ((root || m->image >= 0) &&
                sys_move_mount(root_of(m), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                step = "attach its root";
        else if (!root && attach_devices(root_of(m)) < 0)
                step = "show its devices";
        else if (attach(m->terminals, root_of(m), "dev/pts") < 0)
                step = "attach its terminals";
        else if (attach_proc(m) < 0)
                step = "attach /proc";
        if (step)
                return error_errno(err, CODE_INFRA_CELL, errno, "a cell cannot %s", step);
        return attach_trees(m, request, err);
}

/* Nothing lies below or above the cell's root: the way up ends where it begins, on the same mount.
 */
static bool is_alone(void)
{
        struct statx here = {0}, above = {0};

        return sys_statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &here) == 0 &&
               sys_statx(AT_FDCWD, "/..", 0, STATX_INO | STATX_MNT_ID, &above) == 0 &&
               here.stx_ino == above.stx_ino && here.stx_dev_major == above.stx_dev_major &&
               here.stx_dev_minor == above.stx_dev_minor && here.stx_mnt_id == above.stx_mnt_id;
}

/* The old root is stacked on the new one at the same place, then unmounted: no path to it, not
 * even an empty directory, is left. For an ordinary user whose cell has an image the tmpfs lies
 * on it too, since overlays want their layers attached. */
int view_leave_host(const struct mounts *m, bool root, struct error *err)
{
        unsigned stacked = !root && m->image >= 0 ? 2 : 1;
        bool left = fchdir(root_of(m)) == 0 && sys_pivot_root(".", ".") == 0;

        while (left && stacked-- > 0)
                left = umount2(".", MNT_DETACH) == 0;
        if (!left || chdir("/") < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "a cell cannot leave the host's root");
        return is_alone() ? 0
                          : error_set(err, CODE_INFRA_CELL,
                                    "a cell has not left the host's root: it is not started");
}
