/* Templates of tasks; see templates.h. With the caller's rights; nothing that is a link is
 * followed.
 */
#include "templates.h"

#include "beneath.h"
#include "fd.h"
#include "names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DEPTH = 16 };

/* --- finding -------------------------------------------------------------------------------- */

static int open_beside(const char *path)
{
        static const char *const places[] = {
                "../docs/templates", "../../docs/templates", "../share/doc/assay/templates"};
        _cleanup_fd_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        for (size_t i = 0; dir >= 0 && i < sizeof places / sizeof *places; i++) {
                int found = openat(dir, places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

                if (found >= 0)
                        return found;
        }
        return -1;
}

static int open_directory(struct error *err)
{
        char path[PATH_MAX], *slash;
        ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
        int fd;

        if (len <= 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "cannot find my own program");
        path[len] = '\0';
        slash = strrchr(path, '/');
        if (slash)
                *slash = '\0';
        fd = open_beside(path);
        return fd >= 0 ? fd
                       : error_set(err, CODE_INFRA_HELPER,
                                 "the templates are neither in %s/../docs/templates nor in "
                                 "%s/../share/doc/assay/templates",
                                 path, path);
}

static void read_title(int directory, char *ret, size_t size)
{
        _cleanup_fd_ int file = beneath_open(directory, "README.md", O_RDONLY | O_NONBLOCK, 0);
        ssize_t n = file < 0 ? -1 : read(file, ret, size - 1);
        size_t marks;

        ret[n > 0 ? n : 0] = '\0';
        ret[strcspn(ret, "\n")] = '\0';
        marks = strspn(ret, "# ");
        memmove(ret, ret + marks, strlen(ret + marks) + 1);
}

static int add(struct templates *t, const char *name, struct error *err)
{
        _cleanup_fd_ int directory = beneath_open(t->directory, name, O_RDONLY | O_DIRECTORY, 0);
        struct template *more;

        if (directory < 0)
                return 0;
        more = realloc(t->all, (t->count + 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        t->all = more;
        more[t->count].name = strdup(name);
        if (!more[t->count].name)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        read_title(directory, more[t->count].title, sizeof more->title);
        t->count++;
        return 0;
}

int templates_open(struct templates *t, struct error *err)
{
        char **names;
        int r = 0;

        t->directory = open_directory(err);
        names = t->directory < 0 ? NULL : names_in(t->directory, CODE_INFRA_HELPER, err);
        if (!names)
                return -1;
        for (char **name = names; r == 0 && *name; name++)
                if (**name != '.')
                        r = add(t, *name, err);
        names_free(names);
        return r;
}

void templates_close(struct templates *t)
{
        for (unsigned i = 0; i < t->count; i++)
                free(t->all[i].name);
        free(t->all);
        fd_close(t->directory);
        *t = (struct templates)TEMPLATES_INIT;
}

const struct template *templates_find(const struct templates *t, const char *name)
{
        for (unsigned i = 0; i < t->count; i++)
                if (strcmp(t->all[i].name, name) == 0)
                        return &t->all[i];
        return NULL;
}

/* --- copying -------------------------------------------------------------------------------- */

struct copying {
        char path[1024]; /* of the entry at hand */
        void (*copied)(void *data, const char *path);
        void *data;
};

static int copy_directory(struct copying *c, int from, int to, unsigned depth, struct error *err);

static int copy_bytes(struct copying *c, int from, int to, struct error *err)
{
        char chunk[65536];
        ssize_t n;

        while ((n = read(from, chunk, sizeof chunk)) > 0)
                if (fd_write_all(to, chunk, (size_t)n) < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "%s", c->path);
        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%s", c->path);
        c->copied(c->data, c->path);
        return 0;
}

static int copy_file(struct copying *c, int from, int to, const char *name, const struct stat *st,
        struct error *err)
{
        _cleanup_fd_ int in = beneath_open(from, name, O_RDONLY | O_NONBLOCK, 0), out = -EBADF;

        if (in < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "%s", c->path);
        out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                st->st_mode & 0111 ? 0777 : 0666);
        return out < 0 ? error_errno(err, CODE_INFRA_IO, errno, "%s", c->path)
                       : copy_bytes(c, in, out, err);
}

static int copy_folder(
        struct copying *c, int from, int to, const char *name, unsigned depth, struct error *err)
{
        _cleanup_fd_ int in = beneath_open(from, name, O_RDONLY | O_DIRECTORY, 0), out = -EBADF;

        if (in < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "%s", c->path);
        if (mkdirat(to, name, 0777) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%s", c->path);
        out = beneath_open(to, name, O_RDONLY | O_DIRECTORY, 0);
        return out < 0 ? error_errno(err, CODE_INFRA_IO, errno, "%s", c->path)
                       : copy_directory(c, in, out, depth + 1, err);
}

static int copy_entry(
        struct copying *c, int from, int to, const char *name, unsigned depth, struct error *err)
{
        const size_t len = strlen(c->path);
        struct stat st;
        int r;

        if ((size_t)snprintf(c->path + len, sizeof c->path - len, "%s%s", len > 0 ? "/" : "",
                    name) >= sizeof c->path - len ||
                depth > MOST_DEPTH)
                r = error_set(err, CODE_INFRA_HELPER, "%s: too deep", c->path);
        else if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                r = error_errno(err, CODE_INFRA_HELPER, errno, "%s", c->path);
        else if (S_ISDIR(st.st_mode))
                r = copy_folder(c, from, to, name, depth, err);
        else
                r = S_ISREG(st.st_mode) ? copy_file(c, from, to, name, &st, err) : 0;
        c->path[len] = '\0';
        return r;
}

static int copy_directory(struct copying *c, int from, int to, unsigned depth, struct error *err)
{
        char **names = names_in(from, CODE_INFRA_HELPER, err);
        int r = names ? 0 : -1;

        for (char **name = names; r == 0 && *name; name++)
                r = copy_entry(c, from, to, *name, depth, err);
        names_free(names);
        return r;
}

int templates_copy(const struct templates *t, const struct template *one, int to,
        void (*copied)(void *data, const char *path), void *data, struct error *err)
{
        struct copying c = {.copied = copied, .data = data};
        _cleanup_fd_ int from = beneath_open(t->directory, one->name, O_RDONLY | O_DIRECTORY, 0);

        return from < 0 ? error_errno(err, CODE_INFRA_HELPER, errno, "%s", one->name)
                        : copy_directory(&c, from, to, 0, err);
}
