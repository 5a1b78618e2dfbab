/* The mounts of a cell; see mounts.h. */
#include "mounts.h"

#include "beneath.h"
#include "fd.h"
#include "kernel.h"
#include "slot.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

void mounts_init(struct mounts *m)
{
        m->root = m->image = m->result = m->proc = m->terminals = m->host = -EBADF;
}

void mounts_free(struct mounts *m)
{
        mounts_close_trees(m);
        m->root = fd_close(m->root);
        m->result = fd_close(m->result);
        m->proc = fd_close(m->proc);
        m->terminals = fd_close(m->terminals);
}

/* To let go of a detached mount makes the kernel wait for every processor. Stacked on each other
 * they go together, and the wait is one. (Where it cannot be done, each has its wait.) */
static void stack_layers(const struct mounts *m)
{
        for (unsigned i = 1; i < m->layer_count; i++)
                sys_move_mount(m->layers[i], "", m->layers[0], "",
                        MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

void mounts_close_trees(struct mounts *m)
{
        while (m->layer_count > 0)
                fd_close(m->layers[--m->layer_count]);
        while (m->tree_count > 0)
                fd_close(m->trees[--m->tree_count].mount);
        m->image = fd_close(m->image);
}

bool mounts_full(const struct mounts *m)
{
        struct statfs st;

        return m->root >= 0 && fstatfs(m->root, &st) == 0 && (st.f_bfree == 0 || st.f_ffree == 0);
}

/* --- trees of the host ---------------------------------------------------------------------- */

/* Layers of overlays that are the cell's own lie in its tmpfs, where /proc will cover them if that
 * is its root. */
static int make_place(struct mounts *m, char *ret, size_t size)
{
        snprintf(ret, size, "proc/layer-%u", m->next_place++);
        return mkdirat(m->root, ret, 0755);
}

static int make_layer(struct mounts *m, char *ret_path, size_t size)
{
        char place[64];
        int fd;

        if (make_place(m, place, sizeof place) < 0)
                return -1;
        fd = openat(m->root, place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
                snprintf(ret_path, size, "/proc/self/fd/%d", fd);
        return fd;
}

enum overlay {
        OVERLAY_VIEW,     /* read-only, with an empty second layer: the kernel wants two */
        OVERLAY_ANYONE,   /* the same, made by somebody who may not pass file modes */
        OVERLAY_WRITABLE, /* with a layer that takes what the cell writes */
};

static int create_overlay(int fs, const struct mounts_for *who, enum overlay kind)
{
        int r;

        if (kind == OVERLAY_ANYONE)
                ids_be_anyone(&who->ids, true);
        r = sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
        if (kind == OVERLAY_ANYONE)
                ids_be_anyone(&who->ids, false);
        return r;
}

/* An overlay over `lower`; -1 with errno. */
static int mount_overlay(
        const struct mounts_for *who, struct mounts *m, const char *lower, enum overlay kind)
{
        const bool writable = kind == OVERLAY_WRITABLE;
        _cleanup_fd_ int fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
        _cleanup_fd_ int own = -EBADF, work = -EBADF;
        char own_path[64], work_path[64], layers[128];

        own = make_layer(m, own_path, sizeof own_path);
        if (fs < 0 || own < 0)
                return -1;
        snprintf(layers, sizeof layers, "%s%s%s", lower, writable ? "" : ":",
                writable ? "" : own_path);
        if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", layers, 0) < 0 ||
                (!who->root && sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0))
                return -1;
        if (writable) {
                work = make_layer(m, work_path, sizeof work_path);
                if (work < 0 ||
                        sys_fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", own_path, 0) < 0 ||
                        sys_fsconfig(fs, FSCONFIG_SET_STRING, "workdir", work_path, 0) < 0)
                        return -1;
        }
        if (create_overlay(fs, who, kind) < 0)
                return -1;
        return sys_fsmount(fs, FSMOUNT_CLOEXEC,
                MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (writable ? 0 : MOUNT_ATTR_RDONLY));
}

/* Kernels before 6.15 take as a layer only what is attached in this process's mount namespace:
 * then the supervisor has one of its own, and each cell's root stands at /run/assay/root in it
 * until its mounts are made. */
static bool attach_layers(void)
{
        static int answer = -1;
        unsigned major = 0, minor = 0;
        struct utsname kernel;

        if (answer < 0) {
                uname(&kernel);
                answer = sscanf(kernel.release, "%u.%u", &major, &minor) != 2 || major < 6 ||
                         (major == 6 && minor < 15);
        }
        return answer;
}

static const char attach_place[] = SLOT_DIRECTORY "/root";

static int attach_root(const struct mounts *m)
{
        static bool own_namespace;

        if (!own_namespace) {
                mkdir(attach_place, 0755); /* the one above is there since the first slot */
                if (chown(attach_place, 0, 0) < 0 || unshare(CLONE_NEWNS) < 0 ||
                        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                        return -1;
                own_namespace = true;
        }
        return sys_move_mount(m->root, "", AT_FDCWD, attach_place, MOVE_MOUNT_F_EMPTY_PATH);
}

/* A detached copy takes its place, which the cell can attach. */
static int detach_root(struct mounts *m)
{
        int copy = sys_open_tree(
                AT_FDCWD, attach_place, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);

        fd_close(m->root);
        m->root = copy;
        return umount2(attach_place, MNT_DETACH) < 0 || copy < 0 ? -1 : 0;
}

/* The path of a descriptor's file in this process's own mount namespace: a descriptor opened in
 * another one can be neither layer nor bound. So the path is opened again, and must be the same. */
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
        fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
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

/* A copy of the mount at `tree`, its ids mapped as a user namespace does. -1 where the file system
 * or the kernel cannot do that. */
static int map_ids(int tree, int users, uint64_t attributes, unsigned copied, unsigned mapped)
{
        struct mount_attr map = {
                .attr_set = MOUNT_ATTR_IDMAP | attributes, .propagation = MS_PRIVATE};
        _cleanup_fd_ int copy = sys_open_tree(
                tree, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | copied);

        if (users < 0 || copy < 0)
                return -1;
        map.userns_fd = (uint64_t)users;
        if (sys_mount_setattr(copy, "", AT_EMPTY_PATH | mapped, &map) < 0)
                return -1;
        return take_fd(&copy);
}

/* What `owner` owns on disk belongs to the cell's root; where that cannot be, it is shown with the
 * ids it has. */
static int map_owner(
        const struct mounts_for *who, int tree, const struct stat *owner, unsigned recursive)
{
        _cleanup_fd_ int users =
                owner->st_uid == 0 ? ids_open_namespace(who->first)
                                   : ids_make_namespace(owner->st_uid, owner->st_gid, 1, &who->ids);

        return map_ids(tree, users, 0, recursive, recursive);
}

int mounts_give(int tree, uid_t id)
{
        const struct ids ids = {.kind = IDS_SINGLE, .uid = id, .gid = id, .count = 1};
        _cleanup_fd_ int users = -EBADF;
        struct stat st;

        if (fstat(tree, &st) < 0)
                return -1;
        users = ids_make_namespace(st.st_uid, st.st_gid, 1, &ids);
        /* What is mounted below comes along, to be refused: nothing may be left out in silence. */
        return map_ids(tree, users,
                MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                AT_RECURSIVE, 0);
}

int mounts_show(int tree)
{
        struct mount_attr attributes = {
                .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                            MOUNT_ATTR_NOEXEC,
                .propagation = MS_PRIVATE,
        };
        _cleanup_fd_ int copy =
                sys_open_tree(tree, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

        if (copy < 0 || sys_mount_setattr(copy, "", AT_EMPTY_PATH, &attributes) < 0)
                return -1;
        return take_fd(&copy);
}

/* Keep a mount that is to be a layer. It is itself detached; see attach_layers(). */
static int keep_layer(struct mounts *m, int layer)
{
        char place[64];

        m->layers[m->layer_count++] = layer;
        if (!attach_layers())
                return 0;
        if (make_place(m, place, sizeof place) < 0)
                return -1;
        return sys_move_mount(layer, "", m->root, place, MOVE_MOUNT_F_EMPTY_PATH);
}

/* A read-only view of a directory, owned by the cell's root as far as `owner` (NULL: nobody) owns
 * it. It is an overlay and not a bind, so that its inodes are this cell's alone: locks, leases and
 * inotify on a shared inode would let cells talk. */
static int make_view(const struct mounts_for *who, struct mounts *m, int tree,
        const struct stat *owner, enum overlay kind)
{
        int layer = who->root && owner ? map_owner(who, tree, owner, 0) : -EBADF;
        char path[64];

        if (layer >= 0 && keep_layer(m, layer) < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", layer >= 0 ? layer : tree);
        return mount_overlay(who, m, path, kind);
}

/* The tree itself, as `--bind` gives it; `owner` as in make_view(). */
static int make_bind(
        const struct mounts_for *who, int tree, const struct stat *owner, bool read_only)
{
        struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                                    (read_only ? MOUNT_ATTR_RDONLY : 0),
                .propagation = MS_PRIVATE};
        _cleanup_fd_ int copy =
                who->root && owner ? map_owner(who, tree, owner, AT_RECURSIVE) : -EBADF;

        if (copy < 0)
                copy = sys_open_tree(tree, "",
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
        if (copy < 0 || sys_mount_setattr(copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes) < 0)
                return -1;
        return take_fd(&copy);
}

static bool has_tree(const struct mounts *m, const char *place)
{
        for (unsigned i = 0; i < m->tree_count; i++)
                if (strcmp(m->trees[i].place, place) == 0)
                        return true;
        return false;
}

static void add_tree(struct mounts *m, const char *place, int mount)
{
        m->trees[m->tree_count].mount = mount;
        snprintf(m->trees[m->tree_count].place, CELL_MAX_PLACE, "%s", place);
        m->tree_count++;
}

static int add_requested(const struct mounts_for *who, struct mounts *m,
        const struct request_mount *want, struct error *err)
{
        _cleanup_fd_ int own = -EBADF;
        int tree = want->tree, mount;
        const struct stat *owner;
        struct stat st;

        if ((!who->root || attach_layers()) && reopen(tree, &own, err) < 0)
                return -1;
        if (own >= 0)
                tree = own;
        if (fstat(tree, &st) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot look at %s", want->place);
        owner = want->kind == PLACE_VIEW ? NULL : &st;
        if (want->kind == PLACE_BIND || !S_ISDIR(st.st_mode))
                mount = make_bind(who, tree, owner, want->kind != PLACE_BIND);
        else
                mount = make_view(who, m, tree, owner,
                        want->kind == PLACE_OWNED || !who->root ? OVERLAY_VIEW : OVERLAY_ANYONE);
        if (mount < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "cannot show %s to a cell", want->place);
        add_tree(m, want->place + 1, mount);
        return 0;
}

/* --- the image `host` ----------------------------------------------------------------------- */

/* A view of one of the host's directories. As root it is made as anyone: although the files seem to
 * be the cell's own, what only the host's root may read stays closed. */
static int make_host_view(const struct mounts_for *who, struct mounts *m, int tree)
{
        static const struct stat root_owns = {.st_uid = 0};

        return make_view(who, m, tree, &root_owns, who->root ? OVERLAY_ANYONE : OVERLAY_VIEW);
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
        if (view < 0 || keep_layer(m, view) < 0)
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

        if (keep_layer(m, below) < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", below);
        mount = mount_overlay(who, m, path, OVERLAY_WRITABLE);
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
        char path[PATH_MAX], target[PATH_MAX];
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
        if (mount >= 0 && writable && who->root)
                mount = make_writable(who, m, mount);
        if (mount < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot show %s to a cell", path);
        add_tree(m, name, mount);
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
                if (!has_tree(m, place) && m->tree_count < MOUNTS_MAX - CELL_MAX_MOUNTS)
                        r = add_host_tree(who, m, place, false, err);
        }
        if (homes)
                closedir(homes);
        return r;
}

static int add_host(const struct mounts_for *who, struct mounts *m, struct error *err)
{
        begin_host(who, m);
        for (size_t i = 0; i < sizeof host_trees / sizeof *host_trees; i++)
                if (add_host_tree(who, m, host_trees[i].name, host_trees[i].writable, err) < 0)
                        return -1;
        return add_java_settings(who, m, err);
}

/* --- an image from the store ---------------------------------------------------------------- */

/* The layers as overlay is to have them: as root with the ids of images shown as the cell's. What
 * was opened for that stays in `opened` until the overlay is made. */
static int gather_layers(
        const struct mounts_for *who, struct mounts *m, int *opened, int *ret, struct error *err)
{
        const struct cell_request *q = who->request;
        _cleanup_fd_ int users =
                who->root ? ids_make_namespace(IDS_IMAGES, IDS_IMAGES, IDS_BLOCK_SIZE, &who->ids)
                          : -EBADF;

        for (unsigned i = 0; i < q->layer_count; i++) {
                int mapped;

                ret[i] = q->layers[i];
                if ((!who->root || attach_layers()) && reopen(ret[i], &opened[i], err) < 0)
                        return -1;
                if (opened[i] >= 0)
                        ret[i] = opened[i];
                if (!who->root)
                        continue;
                mapped = map_ids(ret[i], users, 0, 0, 0);
                if (mapped < 0)
                        return error_errno(err, CODE_INFRA_CELL, errno,
                                "the file system of the image store cannot show layers under a "
                                "cell's ids");
                ret[i] = mapped;
                if (keep_layer(m, mapped) < 0)
                        return error_errno(
                                err, CODE_INFRA_CELL, errno, "cannot attach a layer of the image");
        }
        return 0;
}

enum { OPTION_MOST = 256 }; /* bytes of one, as the kernel takes them */

/* A link for each layer, with a name of one byte that means nothing in an option, in a directory
 * that becomes the current one: so that the names of all fit. */
static int name_layers(struct mounts *m, const int *layers, unsigned count, char all[OPTION_MOST])
{
        _cleanup_fd_ int links = -EBADF;
        char target[32], place[64];
        size_t len = 0;

        if (make_place(m, place, sizeof place) < 0)
                return -1;
        links = openat(m->root, place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        for (unsigned i = count; links >= 0 && i-- > 0;) {
                const char name[] = {(char)(0x80 + i), '\0'};

                snprintf(target, sizeof target, "/proc/self/fd/%d", layers[i]);
                if (symlinkat(target, links, name) < 0)
                        return -1;
                len += (size_t)snprintf(
                        all + len, OPTION_MOST - len, "%s%s", len > 0 ? ":" : "", name);
        }
        return links < 0 ? -1 : fchdir(links);
}
_Static_assert(CELL_MAX_LAYERS <= 128 && 2 * CELL_MAX_LAYERS <= OPTION_MOST, "a byte names each");

static int set_layers(struct mounts *m, int fs, const int *layers, unsigned count)
{
        char all[OPTION_MOST] = "";
        size_t len = 0;

        for (unsigned i = count; i-- > 0 && len < sizeof all;)
                len += (size_t)snprintf(all + len, sizeof all - len, "%s/proc/self/fd/%d",
                        len > 0 ? ":" : "", layers[i]);
        if (len >= sizeof all && name_layers(m, layers, count, all) < 0)
                return -1;
        return sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", all, 0);
}

static int mount_image(
        const struct mounts_for *who, struct mounts *m, const int *layers, struct error *err)
{
        _cleanup_fd_ int fs = sys_fsopen("overlay", FSOPEN_CLOEXEC), work = -EBADF;
        _cleanup_fd_ int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_fd_ int own =
                openat(m->root, MOUNTS_OWN_FILES, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char own_path[64], work_path[64];
        bool restored;

        work = make_layer(m, work_path, sizeof work_path);
        snprintf(own_path, sizeof own_path, "/proc/self/fd/%d", own);
        if (fs >= 0 && here >= 0 && own >= 0 && work >= 0 &&
                set_layers(m, fs, layers, who->request->layer_count) == 0 &&
                (who->root || sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0) &&
                sys_fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", own_path, 0) == 0 &&
                sys_fsconfig(fs, FSCONFIG_SET_STRING, "workdir", work_path, 0) == 0 &&
                sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                m->image = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
        restored = here >= 0 && fchdir(here) == 0;
        return m->image >= 0 && restored ? 0
                                         : error_errno(err, CODE_INFRA_CELL, errno,
                                                   "cannot mount the %u layers of the image",
                                                   who->request->layer_count);
}

static int add_image(const struct mounts_for *who, struct mounts *m, struct error *err)
{
        int opened[CELL_MAX_LAYERS], layers[CELL_MAX_LAYERS], r;

        for (unsigned i = 0; i < CELL_MAX_LAYERS; i++)
                opened[i] = -EBADF;
        r = gather_layers(who, m, opened, layers, err);
        if (r == 0)
                r = mount_image(who, m, layers, err);
        for (unsigned i = 0; i < CELL_MAX_LAYERS; i++)
                fd_close(opened[i]);
        return r;
}

static int make_all(struct mounts *m, const struct mounts_for *who, struct error *err)
{
        const struct cell_request *q = who->request;

        /* A layer must be attached somewhere; an ordinary user's root tmpfs goes to its place
         * in this, the cell's own, mount namespace already. */
        if (!who->root && sys_move_mount(m->root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot attach the root of a cell");
        if ((q->layer_count > 0 ? add_image : add_host)(who, m, err) < 0)
                return -1;
        for (unsigned i = 0; i < q->mount_count; i++)
                if (add_requested(who, m, &q->mounts[i], err) < 0)
                        return -1;
        return 0;
}

int mounts_make(struct mounts *m, const struct mounts_for *who, struct error *err)
{
        const bool attached = who->root && attach_layers();
        mode_t saved;
        int r;

        if (attached && attach_root(m) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot attach the root of a cell");
        saved = umask(0);
        r = make_all(m, who, err);
        if (attached && detach_root(m) < 0 && r == 0)
                r = error_errno(err, CODE_INFRA_CELL, errno, "cannot detach the root of a cell");
        umask(saved);
        if (!attached)
                stack_layers(m);
        return r;
}
