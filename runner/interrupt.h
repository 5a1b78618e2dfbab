/* SIGINT, SIGTERM and SIGHUP end an evaluation in good order: they are held back, and looked for
 * where work can be stopped. A signal that the caller ignores stays ignored. */
#ifndef ASSAY_INTERRUPT_H
#define ASSAY_INTERRUPT_H

#include <poll.h>
#include <stdbool.h>

/* From here on the signals wait. */
void interrupt_hold(void);
/* One of them came. */
bool interrupt_came(void);
/* poll(), with its time-out (-1: none), that such a signal ends early (EINTR). */
int interrupt_poll(struct pollfd *fds, unsigned count, int milliseconds);

#endif
