/* Attributes of entries; see attributes.h. */
#include "images/attributes.h"

#include <archive.h>
#include <string.h>
#include <sys/xattr.h>

enum { KEPT_MODE = 01777, NANOSECONDS = 1000000000 };

mode_t attributes_mode(struct archive_entry *e)
{
        return archive_entry_perm(e) & KEPT_MODE;
}

struct timespec attributes_mtime(struct archive_entry *e)
{
        struct timespec t = {archive_entry_mtime(e), archive_entry_mtime_nsec(e)};

        if (t.tv_nsec < 0 || t.tv_nsec >= NANOSECONDS) /* some mean "now" to the kernel */
                t.tv_nsec = 0;
        return t;
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
