/* The digest of a task: of all that decides what it does, and of nothing else. */
#ifndef ASSAY_TASK_DIGEST_H
#define ASSAY_TASK_DIGEST_H

#include "task.h"

/* A digest is of use only if it is there when the grading has ended. */
enum { TASK_MAX_HASHED_GIB = 4 };

/* SHA-256 of these lines, as `sha256sum` writes them, in this order, without those that are not
 * there: of task.json its bytes, of directories what folder_digest() says.
 *
 *   DIGEST  task.json
 *   DIGEST  tests
 *   DIGEST  truth
 *   DIGEST  tools
 *
 * Needs the rights to read all of it. Who asked for it is at the other end of `asker`, a socket;
 * when nobody is any more, this ends with an error. */
int task_digest(const struct task *t, int asker, char ret[DIGEST_SIZE], struct error *err);

#endif
