/* Id maps of cells; called by the supervisor. */
#include "ids.h"

#include "fd.h"

#include <fcntl.h>
#include <unistd.h>

struct ids ids_for(bool root, unsigned slot)
{
        uint32_t first = IDS_FIRST + (slot + 1) * IDS_BLOCK_SIZE;

        if (root)
                return (struct ids){IDS_BLOCK, first, first, IDS_BLOCK_SIZE};
        return (struct ids){IDS_SINGLE, getuid(), getgid(), 1};
}

static int write_map(pid_t pid, const char *file, const char *text, struct error *err)
{
        char path[64];
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "cannot write the %s of a cell", file);
        return 0;
}

int ids_map(const struct ids *ids, pid_t pid, struct error *err)
{
        char uids[64], gids[64];

        snprintf(uids, sizeof uids, "0 %u %u", (unsigned)ids->uid, ids->count);
        snprintf(gids, sizeof gids, "0 %u %u", (unsigned)ids->gid, ids->count);
        /* The kernel lets an ordinary user map a group only after giving up setgroups. */
        if (ids->kind == IDS_SINGLE && write_map(pid, "setgroups", "deny", err) < 0)
                return -1;
        if (write_map(pid, "uid_map", uids, err) < 0)
                return -1;
        return write_map(pid, "gid_map", gids, err);
}
