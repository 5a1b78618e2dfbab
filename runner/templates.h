/* Templates of tasks: directories of real files, installed with the documentation. */
#ifndef ASSAY_TEMPLATES_H
#define ASSAY_TEMPLATES_H

#include "error.h"

struct template
{
        char *name;
        char title[200]; /* the first line of its README.md, without marks */
};

struct templates {
        int directory;
        struct template *all; /* in the order of names */
        unsigned count;
};

#define TEMPLATES_INIT                                                                             \
        {                                                                                          \
                .directory = -EBADF                                                                \
        }

/* Find them beside the build directory, or where they are installed. */
int templates_open(struct templates *t, struct error *err);
void templates_close(struct templates *t);
/* The one of that name, or NULL. */
const struct template *templates_find(const struct templates *t, const char *name);
/* Copy its files into a directory; execute bits are kept. `copied` is told each file's path. */
int templates_copy(const struct templates *t, const struct template *one, int to,
        void (*copied)(void *data, const char *path), void *data, struct error *err);

#endif
