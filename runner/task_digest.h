/* The digest of a task: of all that decides what it does, and of nothing else. */
#ifndef ASSAY_TASK_DIGEST_H
#define ASSAY_TASK_DIGEST_H

#include "error.h"
#include "images/digest.h"

/* SHA-256 of these lines, as `sha256sum` writes them, in this order, without those that are not
 * there: of task.json its bytes, of directories what folder_digest() says.
 *
 *   DIGEST  task.json
 *   DIGEST  tests
 *   DIGEST  truth
 *   DIGEST  tools
 *
 * Needs the rights to read all of it. */
int task_digest(int directory, char ret[DIGEST_SIZE], struct error *err);

#endif
