/* Reading directories; see listing.h. */
#include "images/listing.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void listing_begin(struct listing *l, int dir)
{
        l->dir = dir;
        l->at = l->end = 0;
        l->failed = false;
}

static bool is_dot(const char *name)
{
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const struct dirent64 *listing_next(struct listing *l)
{
        for (;;) {
                const struct dirent64 *e = (const struct dirent64 *)(l->some + l->at);

                if (l->at >= l->end) {
                        l->at = 0;
                        l->end = syscall(SYS_getdents64, l->dir, l->some, sizeof l->some);
                        l->failed = l->end < 0;
                        if (l->end <= 0)
                                return NULL;
                        continue;
                }
                l->at += e->d_reclen;
                if (!is_dot(e->d_name))
                        return e;
        }
}
