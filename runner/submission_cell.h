/* What every cell of a submission is given: its image, its copy of the tree, its environment, its
 * limits. For the build, the calls of a suite, and cases. */
#ifndef ASSAY_SUBMISSION_CELL_H
#define ASSAY_SUBMISSION_CELL_H

#include "cells.h"
#include "image/cell.h"
#include "task.h"

struct submission_cell {
        const char *place;       /* of the tree, and where its commands start */
        int tree;                /* borrowed */
        struct image_cell image; /* empty for `host` */
        const char **env;
        struct limits limits;
        bool over; /* the tree lies over what the image has at its place */
        bool allow_weak;
};

/* What cells used, summed up, or the most of them. */
struct cell_usage {
        uint64_t cells, cpu_us, wall_us, memory_peak, pids_peak, output_bytes;
};
void cell_usage_add(struct cell_usage *u, const struct cell_outcome *o);

/* A cell of the kind; its command and standard descriptors are still to be put in. */
void submission_cell_order(const struct submission_cell *s, struct cell_order *ret);
void submission_cell_free(struct submission_cell *s);

#endif
