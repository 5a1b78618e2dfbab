/* Files that the caller names: opened without waiting, read to their end in memory when they are
 * pipes or the like. */
#ifndef ASSAY_INPUT_H
#define ASSAY_INPUT_H

#include "error.h"
#include "images/digest.h"

#include <stdint.h>

/* Open `path` for reading; "-" is standard input. -1 with errno. */
int input_open(const char *path);
/* The same of what must not be a directory (EISDIR). */
int input_open_file(const char *path);
/* Make *fd a regular file at its start, copying to a file without a name in the directory `dir`
 * what is none. Signals end it. */
int input_keep(int *fd, int dir, struct error *err);
/* Make *fd a regular file at its start, copying to memory what is none (at most a little more than
 * `max` bytes). `ret_bytes` is its size. Signals end it (interrupt.h). */
int input_settle(int *fd, uint64_t max, uint64_t *ret_bytes, struct error *err);

/* SHA-256 of a regular file, from its first byte; where it stands does not matter. */
int input_digest(int fd, uint64_t *ret_bytes, char ret[DIGEST_SIZE], struct error *err);

#endif
