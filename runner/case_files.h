/* The files that cases name, below tests/ and truth/ of a task. */
#ifndef ASSAY_CASE_FILES_H
#define ASSAY_CASE_FILES_H

#include "files.h"
#include "task.h"

enum { CASE_MAX_FILE = 16 << 20 };

/* All of a file; `path` begins with tests/ or truth/. */
int case_file_read(const struct task *t, const char *path, struct buffer *ret, struct error *err);
/* All that match, in the order of people (s2 before s10); at least one. `ret` is to be freed in any
 * case. */
int case_files_find(const struct task *t, const char *glob, struct files *ret, struct error *err);
/* `template` with {stem}, the path without what follows its last dot, and {name}, the same without
 * its folders, replaced; NULL: no memory. */
char *case_file_named(const char *template, const char *path);

#endif
