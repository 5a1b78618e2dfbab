/* Numbers of cells; see slot.h. */
#include "slot.h"

#include "fd.h"
#include "messages.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where to begin: supervisors that start together should not race for one number. */
static unsigned random_slot(void)
{
        unsigned number;

        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
                number = (unsigned)getpid();
        return number % IDS_BLOCKS;
}

static int open_locks(void)
{
        static const char path[] = SLOT_DIRECTORY "/slots";
        int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 && errno == ENOENT) {
                mkdir(SLOT_DIRECTORY, 0755);
                fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        }
        return fd;
}

/* Groups alone do not tell supervisors that live in different ones from each other: so a byte of
 * one file is locked, and the kernel unlocks it when we die. Where there can be no such file (/run
 * is read-only), the groups must do. 1, or 0 when somebody else has the number, or -1. */
static int lock(unsigned slot, int *ret, struct error *err)
{
        struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
        _cleanup_fd_ int fd = open_locks();

        if (fd < 0 && (errno == ENOENT || errno == EROFS))
                return 1;
        if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte) == 0) {
                *ret = take_fd(&fd);
                return 1;
        }
        return errno == EAGAIN || errno == EACCES
                       ? 0
                       : error_errno(err, CODE_INFRA_CGROUP, errno, "cannot lock a cell's number");
}

/* Numbers of cells that are gone. Only cells that live must not share one. */
enum { MOST_SPARE = 8 };

static struct {
        unsigned slot;
        int lock;
} spares[MOST_SPARE];
static unsigned spare_count;

void slot_give_back(unsigned slot, int *lock)
{
        if (*lock < 0)
                return;
        if (spare_count == MOST_SPARE) {
                *lock = fd_close(*lock);
                return;
        }
        spares[spare_count].slot = slot;
        spares[spare_count++].lock = take_fd(lock);
}

/* A number that we still have. 1, 0 when there is none, or -1. */
static int take_spare(
        const struct cgroup_root *groups, struct cgroup *ret, int *ret_lock, struct error *err)
{
        while (spare_count > 0) {
                _cleanup_fd_ int lock = spares[--spare_count].lock;
                int r = cgroup_claim(groups, spares[spare_count].slot, ret, err);

                if (r > 0)
                        *ret_lock = take_fd(&lock);
                if (r != 0)
                        return r;
        }
        return 0;
}

/* As slot_take(), without a second try. 1, or 0 when all are taken, or -1. */
static int take_one(bool root, const struct cgroup_root *groups, struct cgroup *ret, int *ret_lock,
        struct error *err)
{
        unsigned start = random_slot();

        for (unsigned i = 0; i < IDS_BLOCKS; i++) {
                unsigned slot = (start + i) % IDS_BLOCKS;
                int r = root ? lock(slot, ret_lock, err) : 1;

                if (r > 0)
                        r = cgroup_claim(groups, slot, ret, err);
                if (r > 0)
                        return 1;
                *ret_lock = fd_close(*ret_lock);
                if (r < 0)
                        return -1;
        }
        return 0;
}

int slot_take(bool root, const struct cgroup_root *groups, struct cgroup *ret, int *ret_lock,
        struct error *err)
{
        int r = take_spare(groups, ret, ret_lock, err);

        if (r == 0)
                r = take_one(root, groups, ret, ret_lock, err);
        if (r == 0) { /* some may be left behind by the dead */
                cgroup_sweep(groups);
                r = take_one(root, groups, ret, ret_lock, err);
        }
        if (r == 0)
                return error_set(
                        err, CODE_INFRA_CGROUP, "all %d numbers of cells are in use", IDS_BLOCKS);
        return r < 0 ? -1 : 0;
}
