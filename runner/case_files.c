/* Files of cases; see case_files.h. Names are compared, content is only copied. */
#include "case_files.h"

#include "beneath.h"
#include "fd.h"
#include "glob.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 20000, MOST_DEPTH = 64 };

/* The tree that a path is in, and the rest of the path. */
static int tree_of(const struct task *t, const char *path, const char **ret_rest)
{
        *ret_rest = path + 6;
        return strncmp(path, "tests/", 6) == 0   ? t->tests
               : strncmp(path, "truth/", 6) == 0 ? t->truth
                                                 : -EBADF;
}

int case_file_read(const struct task *t, const char *path, struct buffer *ret, struct error *err)
{
        const char *rest;
        const int tree = tree_of(t, path, &rest);
        _cleanup_fd_ int fd = tree < 0 ? -1 : beneath_open(tree, rest, O_RDONLY | O_NONBLOCK, 0);
        struct stat st;

        if (fd < 0)
                return error_errno(err, CODE_CASE_FILE, tree < 0 ? ENOENT : errno, "%s", path);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(err, CODE_CASE_FILE, "%s: not a regular file", path);
        return fd_read_all(fd, ret, CASE_MAX_FILE, CODE_CASE_FILE, err) < 0
                       ? error_add(err, "%s", path)
                       : 0;
}

/* --- looking for them ----------------------------------------------------------------------- */

struct finding {
        const char *glob;
        char path[1024]; /* of the folder at hand */
        char **found;
        unsigned count;
};

static int keep(struct finding *f, const char *path, struct error *err)
{
        char **more;

        if (f->count == MOST_FILES)
                return error_set(
                        err, CODE_CASE_FILE, "%s: matches more than %d files", f->glob, MOST_FILES);
        more = realloc(f->found, (f->count + 2) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        f->found = more;
        more[f->count] = strdup(path);
        if (!more[f->count])
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        more[++f->count] = NULL;
        return 0;
}

static int walk(struct finding *f, int folder, unsigned depth, struct error *err);

static int look_at(
        struct finding *f, int folder, const char *name, unsigned depth, struct error *err)
{
        const size_t len = strlen(f->path);
        struct stat st;
        int r = 0;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        if ((size_t)snprintf(f->path + len, sizeof f->path - len, "/%s", name) <
                sizeof f->path - len) {
                if (S_ISREG(st.st_mode) && glob_match(f->glob, f->path))
                        r = keep(f, f->path, err);
                else if (S_ISDIR(st.st_mode))
                        r = walk(f, beneath_open(folder, name, O_RDONLY | O_DIRECTORY, 0),
                                depth + 1, err);
        }
        f->path[len] = '\0';
        return r;
}

/* Takes `folder` over. */
static int walk(struct finding *f, int folder, unsigned depth, struct error *err)
{
        DIR *dir = folder < 0 || depth > MOST_DEPTH ? NULL : fdopendir(folder);
        int r = 0;

        if (!dir) {
                r = error_errno(err, CODE_CASE_FILE, errno, "%s", f->path);
                fd_close(folder);
                return r;
        }
        for (struct dirent *e; r == 0 && (e = readdir(dir));)
                r = look_at(f, dirfd(dir), e->d_name, depth, err);
        closedir(dir);
        return r;
}

static int compare(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;
        int order = strverscmp(*a, *b);

        return order ? order : strcmp(*a, *b);
}

char **case_files_find(const struct task *t, const char *glob, struct error *err)
{
        struct finding f = {.glob = glob};
        const char *rest;
        const int tree = tree_of(t, glob, &rest);

        snprintf(f.path, sizeof f.path, "%.5s", glob);
        if (tree >= 0 && walk(&f, beneath_open(tree, ".", O_RDONLY | O_DIRECTORY, 0), 0, err) < 0) {
                texts_free(f.found);
                return NULL;
        }
        if (f.count == 0) {
                error_set(err, CODE_CASE_FILE, "%s: matches no file", glob);
                return NULL;
        }
        qsort(f.found, f.count, sizeof *f.found, compare);
        return f.found;
}

char *case_file_named(const char *template, const char *path)
{
        static const char stem[] = "{stem}", name[] = "{name}";
        const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
        const char *base = slash ? slash + 1 : path;
        const int len = (int)(dot && dot > base ? dot - path : (ssize_t)strlen(path));
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        while (*template)
                if (strncmp(template, stem, sizeof stem - 1) == 0) {
                        buffer_add(&out, path, (size_t)len);
                        template += sizeof stem - 1;
                } else if (strncmp(template, name, sizeof name - 1) == 0) {
                        buffer_add(&out, base, (size_t)(path + len - base));
                        template += sizeof name - 1;
                } else
                        buffer_add_char(&out, *template ++);
        return buffer_ok(&out) ? strdup(buffer_text(&out)) : NULL;
}
