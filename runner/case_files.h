/* The files that cases name, below tests/ and truth/ of a task. */
#ifndef ASSAY_CASE_FILES_H
#define ASSAY_CASE_FILES_H

#include "task.h"

enum { CASE_MAX_FILE = 16 << 20 };

/* All of a file; `path` begins with tests/ or truth/. */
int case_file_read(const struct task *t, const char *path, struct buffer *ret, struct error *err);
/* The paths of all regular files that match, in the order of people (s2 before s10): a new list,
 * NULL at the end, of new texts. */
char **case_files_find(const struct task *t, const char *glob, struct error *err);
/* `template` with {stem}, the path without what follows its last dot, and {name}, the same without
 * its folders, replaced; NULL: no memory. */
char *case_file_named(const char *template, const char *path);

#endif
