/* The scripts that an image is made to run, found in its ENTRYPOINT and CMD. */
#ifndef ASSAY_IMAGES_SCRIPT_H
#define ASSAY_IMAGES_SCRIPT_H

#include "images/merged.h"

struct command {
        char **words; /* ENTRYPOINT, then CMD */
        size_t count;
        char *workdir; /* or "" */
        char *search;  /* PATH, or "" */
};

enum script_kind {
        SCRIPT_FILE,
        SCRIPT_DIRECTORY,
        SCRIPT_UNKNOWN, /* a word that only a shell could tell what it means: `$RUN`, `*.sh` */
};

/* Call `found` with each path that the command names, by a word, or by a piece of one that is a
 * line for a shell: files, but for tools, which are programs of machine code in a directory called
 * bin or sbin, such as an interpreter; directories, but for the root and the working directory; and
 * words that cannot be told. */
int script_find(struct merged *m, const struct command *c,
        int (*found)(void *to, enum script_kind kind, const char *path, struct error *err),
        void *to, struct error *err);

#endif
