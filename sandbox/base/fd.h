/* Descriptors: owned by one variable at a time; -EBADF stands for "none". */
#ifndef ASSAY_FD_H
#define ASSAY_FD_H

#include "buffer.h"
#include "error.h"

#include <errno.h>
#include <stdint.h>

/* Close `fd` unless it is negative; errno is kept. Returns -EBADF, so that
 * `x = fd_close(x)` leaves "none" behind. */
int fd_close(int fd);
/* Hand the descriptor on: returns *fd and leaves -EBADF in it. */
int take_fd(int *fd);
void fd_closep(int *fd);
#define _cleanup_fd_ __attribute__((cleanup(fd_closep)))

/* Close every descriptor from `first` to `last` (UINT_MAX: all that follow), or mark them to be
 * closed at exec. One by one on kernels without close_range. 0, or -1 with errno. */
int fd_close_range(unsigned first, unsigned last, bool at_exec);
/* Close all but these, of which some may be -EBADF; the array is sorted. */
void fd_keep_only(int *fds, unsigned count);

/* A pipe, both ends close-on-exec. */
int fd_pipe(int ret_fds[2], struct error *err);
/* A connected pair of stream sockets, close-on-exec. */
int fd_socketpair(int ret_fds[2], struct error *err);
/* Move every descriptor below 3 that is closed to /dev/null, so that nothing we open lands on
 * standard input, output or error. */
int fd_fill_stdio(struct error *err);

/* Write all of it; -1 with errno when the other end is gone or the disk is full. */
int fd_write_all(int fd, const void *data, size_t len);
/* Append everything up to end of file; more than `max` bytes is an error with `code`. */
int fd_read_all(int fd, struct buffer *out, size_t max, enum code code, struct error *err);

#endif
