/* The mounts of a cell; see mounts.h. */
#include "mounts_parts.h"

#include "beneath.h"
#include "fd.h"
#include "kernel.h"
#include "slot.h"
#include "undertaker.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

void mounts_init(struct mounts *m)
{
        m->root = m->image = m->result = m->kept = m->proc = m->terminals = m->host = -EBADF;
}

void mounts_free(struct mounts *m)
{
        const int rest[] = {m->root, m->result, m->kept, m->proc, m->terminals};

        mounts_close_trees(m);
        undertaker_close(rest, sizeof rest / sizeof *rest);
        m->root = m->result = m->kept = m->proc = m->terminals = -EBADF;
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
        int gone[sizeof m->layers / sizeof *m->layers + MOUNTS_MAX + 1];
        unsigned count = 0;

        while (m->layer_count > 0)
                gone[count++] = m->layers[--m->layer_count];
        while (m->tree_count > 0)
                gone[count++] = m->trees[--m->tree_count].mount;
        gone[count++] = m->image;
        undertaker_close(gone, count);
        m->image = -EBADF;
}

bool mounts_full(const struct mounts *m)
{
        struct statfs st;

        return m->root >= 0 && fstatfs(m->root, &st) == 0 && (st.f_bfree == 0 || st.f_ffree == 0);
}

static uint64_t used(int tree)
{
        struct statfs st;

        return tree >= 0 && fstatfs(tree, &st) == 0
                       ? (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize
                       : 0;
}

uint64_t mounts_used(const struct mounts *m)
{
        return used(m->root) + used(m->result);
}

/* --- trees of the host ---------------------------------------------------------------------- */

int mounts_make_place(struct mounts *m, char *ret, size_t size)
{
        snprintf(ret, size, "proc/layer-%u", m->next_place++);
        return mkdirat(m->root, ret, 0755);
}

int mounts_make_layer(struct mounts *m, char *ret_path, size_t size)
{
        char place[64];
        int fd;

        if (mounts_make_place(m, place, sizeof place) < 0)
                return -1;
        fd = openat(m->root, place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
                snprintf(ret_path, size, "/proc/self/fd/%d", fd);
        return fd;
}

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

int mounts_overlay(
        const struct mounts_for *who, struct mounts *m, const char *lower, enum overlay kind)
{
        const bool writable = kind == OVERLAY_WRITABLE || kind == OVERLAY_WRITABLE_BY_ALL;
        _cleanup_fd_ int fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
        _cleanup_fd_ int own = -EBADF, work = -EBADF;
        char own_path[64], work_path[64], layers[128];

        own = mounts_make_layer(m, own_path, sizeof own_path);
        if (fs < 0 || own < 0)
                return -1;
        if (kind == OVERLAY_WRITABLE_BY_ALL && chmod(own_path, 0777) < 0)
                return -1;
        snprintf(layers, sizeof layers, "%s%s%s", lower, writable ? "" : ":",
                writable ? "" : own_path);
        if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", layers, 0) < 0 ||
                (!who->root && sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0))
                return -1;
        if (writable) {
                work = mounts_make_layer(m, work_path, sizeof work_path);
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

bool mounts_attach_layers(void)
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

int mounts_reopen(int tree, int *ret_fd, struct error *err)
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

int mounts_map_ids(int tree, int users, uint64_t attributes, unsigned copied, unsigned mapped)
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

/* User namespaces for maps are kept: each takes a process to make, and cells of one slot want the
 * same ones again. Borrowed. */
static int find_map(const struct stat *owner, const struct ids *to)
{
        enum { KEPT = 16 };
        static struct {
                uid_t owner, uid;
                gid_t group, gid;
                int users;
        } kept[KEPT];
        static unsigned next, count;
        int users;

        for (unsigned i = 0; i < count; i++)
                if (kept[i].owner == owner->st_uid && kept[i].group == owner->st_gid &&
                        kept[i].uid == to->uid && kept[i].gid == to->gid)
                        return kept[i].users;
        users = ids_make_namespace(owner->st_uid, owner->st_gid, 1, to);
        if (users < 0)
                return -1;
        if (count == KEPT)
                fd_close(kept[next].users);
        kept[next].owner = owner->st_uid;
        kept[next].group = owner->st_gid;
        kept[next].uid = to->uid;
        kept[next].gid = to->gid;
        kept[next].users = users;
        next = (next + 1) % KEPT;
        count += count < KEPT;
        return users;
}

static int map_to(int tree, const struct stat *owner, const struct ids *to)
{
        return mounts_map_ids(tree, find_map(owner, to), 0, 0, 0);
}

/* What `owner` owns on disk belongs to the cell's root; where that cannot be, it is shown with the
 * ids it has. */
static int map_owner(
        const struct mounts_for *who, int tree, const struct stat *owner, unsigned recursive)
{
        _cleanup_fd_ int own = owner->st_uid == 0 ? ids_open_namespace(who->first) : -EBADF;

        return mounts_map_ids(tree, owner->st_uid == 0 ? own : find_map(owner, &who->ids), 0,
                recursive, recursive);
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
        return mounts_map_ids(tree, users,
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

int mounts_keep_layer(struct mounts *m, int layer)
{
        char place[64];

        m->layers[m->layer_count++] = layer;
        if (!mounts_attach_layers())
                return 0;
        if (mounts_make_place(m, place, sizeof place) < 0)
                return -1;
        return sys_move_mount(layer, "", m->root, place, MOVE_MOUNT_F_EMPTY_PATH);
}

int mounts_make_view(const struct mounts_for *who, struct mounts *m, int tree,
        const struct stat *owner, enum overlay kind)
{
        int layer = who->root && owner ? map_owner(who, tree, owner, 0) : -EBADF;
        char path[64];

        if (layer >= 0 && mounts_keep_layer(m, layer) < 0)
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", layer >= 0 ? layer : tree);
        return mounts_overlay(who, m, path, kind);
}

/* The directory that the image has at a place; -1: it has none. To be a layer where layers must be
 * attached, the image's own mount is, and a copy of it becomes the cell's. */
static int open_in_image(struct mounts *m, const char *place)
{
        int image = m->image;

        if (image < 0)
                return -1;
        if (mounts_attach_layers()) {
                if (mounts_keep_layer(m, image) < 0)
                        return -1;
                m->image = sys_open_tree(
                        image, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
        }
        return beneath_open(image, place + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
}

/* The same, but it belongs to the command's user, who may change it for this cell; it may lie over
 * another directory. */
static int make_copy(const struct mounts_for *who, struct mounts *m,
        const struct request_mount *want, int tree, const struct stat *owner)
{
        const struct cell_request *q = who->request;
        _cleanup_fd_ int below = want->kind == PLACE_OVER ? open_in_image(m, want->place) : -EBADF;
        struct ids command = who->ids;
        int layer = -EBADF;
        char layers[96];

        command.uid += q->uid;
        command.gid += q->gid;
        if (who->root && m->image < 0 && q->layer_count > 0)
                return -1;
        if (who->root)
                layer = map_to(tree, owner, &command);
        if (layer >= 0 && mounts_keep_layer(m, layer) < 0)
                return -1;
        snprintf(layers, sizeof layers, "/proc/self/fd/%d", layer >= 0 ? layer : tree);
        if (below >= 0)
                snprintf(layers + strlen(layers), sizeof layers - strlen(layers),
                        ":/proc/self/fd/%d", below);
        return mounts_overlay(
                who, m, layers, q->uid == 0 ? OVERLAY_WRITABLE : OVERLAY_WRITABLE_BY_ALL);
}

static int make_unexecutable(int mount)
{
        struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOEXEC};

        if (mount >= 0 && sys_mount_setattr(mount, "", AT_EMPTY_PATH, &attributes) < 0)
                return fd_close(mount);
        return mount;
}

/* The tree itself, as `--bind` gives it; `owner` as in mounts_make_view(). */
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

bool mounts_has_tree(const struct mounts *m, const char *place)
{
        for (unsigned i = 0; i < m->tree_count; i++)
                if (strcmp(m->trees[i].place, place) == 0)
                        return true;
        return false;
}

void mounts_add_tree(struct mounts *m, const char *place, int mount)
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

        if ((!who->root || mounts_attach_layers()) && mounts_reopen(tree, &own, err) < 0)
                return -1;
        if (own >= 0)
                tree = own;
        if (fstat(tree, &st) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot look at %s", want->place);
        owner = want->kind == PLACE_VIEW || want->kind == PLACE_DATA ? NULL : &st;
        if (want->kind == PLACE_BIND || !S_ISDIR(st.st_mode))
                mount = make_bind(who, tree, owner, want->kind != PLACE_BIND);
        else if (want->kind == PLACE_COPY || want->kind == PLACE_OVER)
                mount = make_copy(who, m, want, tree, owner);
        else
                mount = mounts_make_view(who, m, tree, owner,
                        want->kind == PLACE_OWNED || !who->root ? OVERLAY_VIEW : OVERLAY_ANYONE);
        if (want->kind == PLACE_DATA)
                mount = make_unexecutable(mount);
        if (mount < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "cannot show %s to a cell", want->place);
        mounts_add_tree(m, want->place + 1, mount);
        if (want->kind == PLACE_COPY && who->request->flags & CELL_KEEP && m->kept < 0)
                m->kept = fcntl(mount, F_DUPFD_CLOEXEC, 3);
        return 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static int make_all(struct mounts *m, const struct mounts_for *who, struct error *err)
{
        const struct cell_request *q = who->request;

        /* A layer must be attached somewhere; an ordinary user's root tmpfs goes to its place
         * in this, the cell's own, mount namespace already. */
        if (!who->root && sys_move_mount(m->root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot attach the root of a cell");
        if ((q->layer_count > 0 ? mounts_add_image : mounts_add_host)(who, m, err) < 0)
                return -1;
        for (unsigned i = 0; i < q->mount_count; i++)
                if (add_requested(who, m, &q->mounts[i], err) < 0)
                        return -1;
        return 0;
}

int mounts_make(struct mounts *m, const struct mounts_for *who, struct error *err)
{
        const bool attached = who->root && mounts_attach_layers();
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
