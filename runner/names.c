/* Listing directories; see names.h. Run with the caller's rights. */
#include "names.h"

#include "beneath.h"
#include "fd.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void names_free(char **names)
{
        for (char **name = names; name && *name; name++)
                free(*name);
        free(names);
}

static int compare(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;

        return strcmp(*a, *b);
}

static bool append(char ***names, size_t *count, const char *name)
{
        char **more = realloc(*names, (*count + 2) * sizeof *more);

        if (!more)
                return false;
        *names = more;
        more[*count] = strdup(name);
        if (!more[*count])
                return false;
        more[++*count] = NULL;
        return true;
}

/* What there is, unsorted; takes `dir` over. */
static char **read_names(DIR *dir, size_t *ret_count, struct error *err)
{
        char **names = calloc(1, sizeof *names);
        bool good = names;

        *ret_count = 0;
        errno = 0;
        for (struct dirent *e; good && (e = readdir(dir)); errno = 0)
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        good = append(&names, ret_count, e->d_name);
        if (good && errno == 0) {
                closedir(dir);
                return names;
        }
        error_errno(err, CODE_INFRA_IO, good ? errno : ENOMEM, "cannot be listed");
        closedir(dir);
        names_free(names);
        return NULL;
}

char **names_in(int directory, enum code code, struct error *err)
{
        int copy = beneath_open(directory, ".", O_RDONLY | O_DIRECTORY, 0);
        DIR *dir = copy < 0 ? NULL : fdopendir(copy);
        size_t count;
        char **names;

        if (!dir) {
                error_errno(err, code, errno, "cannot be listed");
                fd_close(copy);
                return NULL;
        }
        names = read_names(dir, &count, err);
        if (names)
                qsort(names, count, sizeof *names, compare);
        return names;
}
