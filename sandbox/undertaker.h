/* Letting go of mounts. When the last reference to one ends, the kernel waits until every processor
 * has noticed, and whoever ended it waits with it. So a process beside the supervisor, which shares
 * its descriptors and does nothing else, closes those of cells that have no more use for them. */
#ifndef ASSAY_UNDERTAKER_H
#define ASSAY_UNDERTAKER_H

#include <stdbool.h>

enum { UNDERTAKER_MOST = 256 }; /* descriptors that wait for it */

/* Is there one? */
bool undertaker_works(void);
/* From here on there is one; where it cannot be started, the supervisor goes on by itself. It ends
 * with the supervisor. */
void undertaker_start(void);
/* Close these, soon; those below 0 are none. */
void undertaker_close(const int *fds, unsigned count);
/* Help it: all that it was given is closed afterwards, also when it was stopped or killed. */
void undertaker_finish(void);

#endif
