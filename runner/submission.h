/* A submission: opened and hashed here, unpacked by assay-unpack. */
#ifndef ASSAY_SUBMISSION_H
#define ASSAY_SUBMISSION_H

#include "task.h"
#include "workspace.h"

#include <time.h>

enum { SUBMISSION_MAX_WARNINGS = 128, SUBMISSION_SECTIONS = 6 };

struct warning {
        char *field, *message;
};

struct submission {
        int archive; /* a regular file, a copy in memory of what was none, or a directory */
        bool is_directory;
        bool keep_folder; /* the one folder that holds everything is not stripped */
        uint64_t bytes;
        struct timespec changed; /* when it was hashed: what is unpacked must be what was hashed */
        char sha256[65]; /* of the archive's bytes; of a directory, what images/folder.h says */
        uint64_t entries, unpacked_bytes;
        bool has_submission_md;
        uint32_t sections;                        /* a bit for each of its headings */
        char *section_texts[SUBMISSION_SECTIONS]; /* NULL: missing, or says nothing */
        int root; /* the directory that is the submission: the tree, or its one folder */
        struct warning warnings[SUBMISSION_MAX_WARNINGS];
        unsigned warning_count;
};

#define SUBMISSION_INIT                                                                            \
        {                                                                                          \
                .archive = -EBADF, .root = -EBADF                                                  \
        }

/* Open the archive or directory with the caller's rights. */
int submission_open(struct submission *s, const char *path, struct error *err);
/* Measure and hash it; above the task's max_archive it is rejected. */
int submission_receive(struct submission *s, const struct task *t, struct error *err);
/* Unpack it into the workspace's tree. */
int submission_unpack(struct submission *s, const struct task *t, const struct workspace *w,
        struct channel *c, struct error *err);
void submission_free(struct submission *s);
/* A warning about it: text field, text message. Where there are too many it is dropped. */
void submission_take_warning(struct submission *s, struct reader *r);
/* The name of section `i`, as SUBMISSION.md has it. */
const char *submission_section(unsigned i);
/* What a judge sees as SUBMISSION.md: each section, and a flag where there is none. Without any, a
 * placeholder that mirrors the rubric. */
void submission_describe(const struct submission *s, const struct task *t, struct buffer *out);
/* A SUBMISSION.md to fill in. */
void submission_template(const struct task *t, struct buffer *out);

#endif
