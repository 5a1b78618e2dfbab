/* What assay-store keeps of its caller's rights once its store is open; see store.h. */
#include "store/store.h"

#include "confine.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OPEN_FILES = 64 + STORE_MAX_LEASES, MEMORY = 1 << 30 };

#ifndef ASSAY_UNCONFINED
/* LANDLOCK_ACCESS_FS_TRUNCATE, which is not in every system's header. */
static const uint64_t FS_TRUNCATE = 1ULL << 14;

/* As root it may open the database of another user, and give new files of it to that one; no other
 * right is left. */
static const uint64_t rights = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_CHOWN;

/* Files are made and changed in the database's directory alone, and with a server nowhere: then it
 * reads, to connect again, what names hosts and proves who it is. */
int store_lock_in(const char *path, bool is_remote, struct error *err)
{
        static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
        static const uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE |
                                        LANDLOCK_ACCESS_FS_MAKE_REG |
                                        LANDLOCK_ACCESS_FS_REMOVE_FILE | FS_TRUNCATE;
        struct confine_tree tree = {.allowed = is_remote ? reading : reading | writing};
        _cleanup_fd_ int fd = -EBADF;
        char directory[PATH_MAX];
        char *slash;

        if (!realpath(is_remote ? "/" : path, directory))
                return error_errno(err, CODE_INFRA_STORE, errno, "%s", path);
        slash = strrchr(directory, '/');
        slash[slash == directory] = '\0';
        tree.tree = fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                confine_landlock(&tree, 1, is_remote) < 0 ||
                confine_capabilities(is_remote ? 0 : rights) < 0 ||
                confine_limit(RLIMIT_AS, MEMORY) < 0 || confine_limit(RLIMIT_NPROC, 0) < 0 ||
                confine_limit(RLIMIT_CORE, 0) < 0 || confine_limit(RLIMIT_NOFILE, OPEN_FILES) < 0)
                return error_errno(
                        err, CODE_INFRA_STORE, errno, "assay-store cannot lock itself in");
        return 0;
}
#else
int store_lock_in(const char *path, bool is_remote, struct error *err)
{
        (void)path;
        (void)is_remote;
        (void)err;
        return 0;
}
#endif
