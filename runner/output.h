/* A file that the caller wants to have, written under another name until it is complete. */
#ifndef ASSAY_OUTPUT_H
#define ASSAY_OUTPUT_H

#include "error.h"

#include <stdbool.h>
#include <sys/types.h>

struct output {
        int fd;     /* to write to */
        int keeper; /* a socket to who gives it its name with the caller's rights; -EBADF: standard
                       output */
        pid_t pid;  /* of that process */
};

#define OUTPUT_INIT                                                                                \
        {                                                                                          \
                .fd = -EBADF, .keeper = -EBADF                                                     \
        }

/* Make PATH.new, which becomes PATH at the end; "-" is standard output. What is there is replaced
 * only with `force`. To be done before root is given up: a process stays behind that has the
 * caller's rights, for this one name. */
int output_open(struct output *o, const char *path, bool force, struct error *err);
/* All was written: it gets its name when it is on the disk. */
int output_keep(struct output *o, struct error *err);
/* In any case; PATH.new goes unless it was kept. */
void output_close(struct output *o);

#endif
