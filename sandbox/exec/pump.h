/* Bytes between the suite's descriptors and a command's pipes. */
#ifndef ASSAY_EXEC_PUMP_H
#define ASSAY_EXEC_PUMP_H

#include "error.h"

#include <poll.h>
#include <stdint.h>

enum { PUMP_IN, PUMP_OUT, PUMP_ERR, PUMP_FLOWS, PUMP_CHUNK = 64 << 10 };

struct flow {
        int from, to; /* -EBADF: it is over */
        bool ready;   /* there is something to read */
        size_t held;  /* of `chunk`, still to be written */
        size_t at;
        unsigned char *chunk; /* NULL: spliced, as far as the kernel can */
};

struct pump {
        struct flow flows[PUMP_FLOWS];
        uint64_t left; /* of what may be printed */
        bool too_much; /* there was more: the output is over */
};

/* The pipes' ends are taken over. -1: no memory. */
int pump_init(struct pump *p, const int pipes[PUMP_FLOWS], uint64_t output, struct error *err);
/* Fill one entry for each flow. */
void pump_watch(const struct pump *p, struct pollfd *fds);
/* Move what can be moved without waiting. */
void pump_step(struct pump *p, const struct pollfd *fds);
/* Something was read that is not written yet. */
bool pump_is_busy(const struct pump *p);
/* Both outputs are at their end. */
bool pump_is_over(const struct pump *p);

#endif
