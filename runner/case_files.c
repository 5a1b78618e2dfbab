/* Files of cases; see case_files.h. Names are compared, content is only copied. */
#include "case_files.h"

#include "beneath.h"
#include "fd.h"
#include "glob.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 20000 };

/* The tree that a path is in, and the rest of the path. */
static int tree_of(const struct task *t, const char *path, const char **ret_rest)
{
        *ret_rest = path + 6;
        return strncmp(path, "tests/", 6) == 0   ? task_readable(t, TASK_TESTS)
               : strncmp(path, "truth/", 6) == 0 ? task_readable(t, TASK_TRUTH)
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

static int compare(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;
        int order = strverscmp(*a, *b);

        return order ? order : strcmp(*a, *b);
}

/* Those that match come first, in order; how many they are. */
static unsigned choose(struct files *f, const char *glob)
{
        unsigned chosen = 0;

        for (unsigned i = 0; i < f->count; i++)
                if (glob_match(glob, f->paths[i])) {
                        char *path = f->paths[i];

                        f->paths[i] = f->paths[chosen];
                        f->paths[chosen++] = path;
                }
        if (chosen > 0)
                qsort(f->paths, chosen, sizeof *f->paths, compare);
        return chosen;
}

int case_files_find(const struct task *t, const char *glob, struct files *ret, struct error *err)
{
        const char *rest;
        const int tree = tree_of(t, glob, &rest);
        unsigned chosen;

        *ret = (struct files){0};
        if (tree >= 0 && files_below(tree, strncmp(glob, "tests", 5) == 0 ? "tests" : "truth",
                                 MOST_FILES, ret, err) < 0)
                return -1;
        if (ret->cut)
                return error_set(err, CODE_CASE_FILE,
                        "%s: more than %d files, or some that cannot be listed", glob, MOST_FILES);
        chosen = choose(ret, glob);
        while (ret->count > chosen)
                free(ret->paths[--ret->count]);
        return chosen > 0 ? 0 : error_set(err, CODE_CASE_FILE, "%s: matches no file", glob);
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
