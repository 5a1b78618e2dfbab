/* The terminal, or whatever else our standard input and outputs are, wired to a cell: bytes are
 * carried, never passed on as descriptors. A terminal gets a terminal of its own in the cell, so
 * that what runs there can steer nothing but that. */
#ifndef ASSAY_TERMINAL_H
#define ASSAY_TERMINAL_H

#include "loop.h"

#include <stdbool.h>
#include <termios.h>

/* One direction. */
struct pump {
        struct loop *loop;
        struct watch from, to; /* in turns; their descriptors are negative meanwhile */
        int in, out;           /* -EBADF: ended */
        bool own_in, own_out;  /* ours to close */
        size_t at, len;
        unsigned char bytes[16384];
};

struct terminal {
        int master; /* -EBADF: we have no terminal */
        struct termios saved;
        struct pump pumps[3]; /* to the cell; its output; its error output */
        unsigned pump_count;
};

/* Make the cell's ends, which become `stdio` (to be closed when the cell has them), and carry bytes
 * while `loop` turns. */
int terminal_open(struct terminal *t, struct loop *loop, int stdio[3], struct error *err);
/* The window has another size, perhaps. */
void terminal_resize(const struct terminal *t);
/* Carry what the cell left, and have the terminal as it was. */
void terminal_close(struct terminal *t);

#endif
