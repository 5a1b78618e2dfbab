/* The root of a cell that has an image from the store: one overlay of its layers; see mounts.h. */
#include "mounts_parts.h"

#include "fd.h"
#include "kernel.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

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
                if ((!who->root || mounts_attach_layers()) &&
                        mounts_reopen(ret[i], &opened[i], err) < 0)
                        return -1;
                if (opened[i] >= 0)
                        ret[i] = opened[i];
                if (!who->root)
                        continue;
                mapped = mounts_map_ids(ret[i], users, 0, 0, 0);
                if (mapped < 0)
                        return error_errno(err, CODE_INFRA_CELL, errno,
                                "the file system of the image store cannot show layers under a "
                                "cell's ids");
                ret[i] = mapped;
                if (mounts_keep_layer(m, mapped) < 0)
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

        if (mounts_make_place(m, place, sizeof place) < 0)
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

        work = mounts_make_layer(m, work_path, sizeof work_path);
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

int mounts_add_image(const struct mounts_for *who, struct mounts *m, struct error *err)
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
