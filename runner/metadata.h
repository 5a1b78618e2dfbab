/* The command of a Codabench program, which its metadata.yaml names. */
#ifndef ASSAY_METADATA_H
#define ASSAY_METADATA_H

#include "task.h"

/* Does the task leave its command to such a file? */
bool metadata_names_command(const struct task *t);
/* Read it through the scorer: words, NULL at the end, to be freed by texts_free() in any case. */
int metadata_read(const struct task *t, struct channel *c, char ***ret_words, struct error *err);

#endif
