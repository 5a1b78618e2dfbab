/* What a cell prints: the head and the tail are kept, what lies between is counted. A cell that
 * prints without end is stopped, long after its log is full. */
#ifndef ASSAY_LOG_H
#define ASSAY_LOG_H

#include "error.h"

#include <stdint.h>

enum { LOG_ENDLESS = 64 }; /* so many times what is kept, and the cell is stopped */

struct log {
        unsigned char *head, *tail; /* the tail is a ring of tail_size bytes */
        size_t head_size, tail_size;
        size_t head_len;
        uint64_t total;
};

/* Keep so many bytes of each. */
int log_init(struct log *l, uint64_t head, uint64_t tail, struct error *err);
void log_free(struct log *l);
void log_add(struct log *l, const void *bytes, size_t len);
/* Bytes that were printed but not kept. */
uint64_t log_dropped(const struct log *l);
/* The kept tail in order, copied to `out` (of tail_size bytes); returns its length. */
size_t log_tail(const struct log *l, unsigned char *out);

#endif
