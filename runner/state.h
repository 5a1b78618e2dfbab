/* Where Assay keeps what lasts: $ASSAY_STATE, else /var/lib/assay for root, else
 * $XDG_STATE_HOME/assay or ~/.local/state/assay. Opened with the caller's rights, before root is
 * given up; as root it is made the runner's. */
#ifndef ASSAY_STATE_H
#define ASSAY_STATE_H

#include "error.h"

#include <limits.h>

/* Open a directory in it, made where it is not there. -1: infra.state, also when somebody else may
 * write to it. */
int state_open(const char *part, struct error *err);
/* The same, for what the caller's own programs write: as root it stays root's, and nobody else may
 * rename it. */
int state_open_private(const char *part, struct error *err);
/* The path of a file in such a directory, for a program that opens it with the same rights. */
int state_file(const char *part, const char *name, char ret[PATH_MAX], struct error *err);
/* The check of state_open() of a directory below it, which as root becomes the runner's. */
int state_own(int fd, struct error *err);

#endif
