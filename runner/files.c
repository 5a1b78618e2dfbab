/* Walking a tree; see files.h. */
#include "files.h"

#include "beneath.h"
#include "fd.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_DEPTH = 64 };

struct walk {
        struct files *files;
        unsigned most;
        char path[PATH_MAX]; /* of the folder at hand */
};

static int add(struct walk *w, struct error *err)
{
        struct files *f = w->files;
        char **more;

        if (f->count == w->most) {
                f->cut = true;
                return 0;
        }
        more = realloc(f->paths, (f->count + 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        f->paths = more;
        more[f->count] = strdup(w->path);
        return more[f->count++] ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int walk(struct walk *w, int folder, unsigned depth, struct error *err);

static int look_at(struct walk *w, int folder, const char *name, unsigned depth, struct error *err)
{
        const size_t len = strlen(w->path), room = sizeof w->path - len;
        struct stat st;
        int r = 0;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return 0;
        if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                (size_t)snprintf(w->path + len, room, "%s%s", len > 0 ? "/" : "", name) >= room)
                w->files->cut = true;
        else if (S_ISREG(st.st_mode))
                r = add(w, err);
        else if (S_ISDIR(st.st_mode))
                r = walk(w, beneath_open(folder, name, O_RDONLY | O_DIRECTORY, 0), depth + 1, err);
        w->path[len] = '\0';
        return r;
}

/* Takes `folder` over. */
static int walk(struct walk *w, int folder, unsigned depth, struct error *err)
{
        DIR *dir = folder < 0 || depth > MOST_DEPTH ? NULL : fdopendir(folder);
        int r = 0;

        if (!dir) {
                fd_close(folder);
                w->files->cut = true;
                return 0;
        }
        for (struct dirent *e; r == 0 && (e = readdir(dir));)
                r = look_at(w, dirfd(dir), e->d_name, depth, err);
        closedir(dir);
        return r;
}

int files_below(int root, const char *prefix, unsigned most, struct files *ret, struct error *err)
{
        struct walk w = {.files = ret, .most = most};

        *ret = (struct files){0};
        snprintf(w.path, sizeof w.path, "%s", prefix);
        return walk(&w, beneath_open(root, ".", O_RDONLY | O_DIRECTORY, 0), 0, err);
}

void files_free(struct files *f)
{
        while (f->count > 0)
                free(f->paths[--f->count]);
        free(f->paths);
        *f = (struct files){0};
}
