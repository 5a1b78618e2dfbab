/* Looking at what came out of an archive: the files that the task asks for, SUBMISSION.md. */
#ifndef ASSAY_IMAGES_INSPECT_H
#define ASSAY_IMAGES_INSPECT_H

#include "images/report.h"

#include <stdint.h>

struct required {
        char *path;        /* owned by the request */
        uint64_t max_size; /* 0: any */
};

struct pattern {
        char *glob; /* owned by the request */
        uint64_t min_files, found;
};

/* `r` is a regular file below the directory `top`, no larger than wanted. */
int inspect_required(int top, const struct required *r, struct error *err);
/* Report the sections (submission_md.h) of the file `name` in `top`, and what is missing. */
int inspect_submission_md(int top, const char *name, struct report *report, uint32_t *ret_sections,
        struct error *err);

#endif
