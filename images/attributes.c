/* Attributes of entries; see attributes.h. */
#include "images/attributes.h"

#include <archive.h>
#include <string.h>
#include <sys/xattr.h>

enum { KEPT_MODE = 01777, NANOSECONDS = 1000000000 };

/* One that there cannot be stays one that nobody has. */
static uint32_t id(int64_t said)
{
        return said >= 0 && said < UINT32_MAX ? (uint32_t)said : UINT32_MAX - 1;
}

void attributes_read(struct archive_entry *e, struct attributes *ret)
{
        *ret = (struct attributes){
                .mode = archive_entry_perm(e) & KEPT_MODE,
                .uid = id(archive_entry_uid(e)),
                .gid = id(archive_entry_gid(e)),
                .mtime = {archive_entry_mtime(e), archive_entry_mtime_nsec(e)},
        };
        if (ret->mtime.tv_nsec < 0 || ret->mtime.tv_nsec >= NANOSECONDS)
                ret->mtime.tv_nsec = 0; /* some mean "now" to the kernel */
}

static bool is_kept(const char *name)
{
        static const char of_user[] = "user.", of_overlay[] = "user.overlay.";

        return name && strncmp(name, of_user, strlen(of_user)) == 0 &&
               strncmp(name, of_overlay, strlen(of_overlay)) != 0;
}

/* The next one that is kept. */
static bool next(
        struct archive_entry *e, const char **ret_name, const void **ret_value, size_t *ret_size)
{
        while (archive_entry_xattr_next(e, ret_name, ret_value, ret_size) == ARCHIVE_OK)
                if (is_kept(*ret_name))
                        return true;
        return false;
}

bool attributes_any(struct archive_entry *e)
{
        const char *name;
        const void *value;
        size_t size;

        return archive_entry_xattr_reset(e) > 0 && next(e, &name, &value, &size);
}

void attributes_keep(struct archive_entry *e, int fd, uint64_t *lost)
{
        const char *name;
        const void *value;
        size_t size;

        archive_entry_xattr_reset(e);
        while (next(e, &name, &value, &size))
                *lost += fsetxattr(fd, name, value, size, 0) < 0;
}
