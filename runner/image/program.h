/* Running a program that is not ours, with the rights and the environment of the caller: before
 * root is given up. No shell is used, and nothing of ours but three descriptors goes to it. */
#ifndef ASSAY_IMAGE_PROGRAM_H
#define ASSAY_IMAGE_PROGRAM_H

#include "buffer.h"
#include "error.h"

#include <limits.h>

struct program {
        const char *path;
        const char *const *argv; /* NULL at the end */
        struct buffer *output;   /* for what it prints; NULL: that goes to standard error */
        size_t output_max;
        bool quiet; /* what would go to standard error is dropped */
};

/* The program of that name in PATH, whose relative directories do not count. false: none. */
bool program_find(const char *name, char ret_path[PATH_MAX]);
/* Run it to its end, with an empty standard input. Its exit status, or 128 + the signal; -1 when it
 * could not be run, printed too much or was interrupted (interrupt.h): then it was ended.
 * `ret_errors`: the end of what it wrote to standard error. It dies with us. */
int program_run(const struct program *p, struct buffer *ret_errors, struct error *err);

#endif
