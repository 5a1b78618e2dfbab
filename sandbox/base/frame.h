/* Frames: the only form in which our programs talk to each other.
 *
 *   offset 0  u32  length of the payload
 *          4  u16  type
 *          6  u16  number of descriptors that travel with it (sockets only)
 *          8       payload
 *
 * Numbers are little-endian. A payload is a fixed sequence of fields put with writer_… and taken
 * with the same sequence of reader_…; the reader never passes its end and the receiver asks with
 * reader_done() whether everything was there and nothing was left. A frame that is too long, too
 * short or of an unknown type ends the peer, never the receiver. */
#ifndef ASSAY_FRAME_H
#define ASSAY_FRAME_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>
#include <sys/types.h>

enum {
        FRAME_MAX_FDS = 160,
        FRAME_MAX_PAYLOAD = 4 << 20, /* no frame of ours is longer */
};

/* Writing: fields into a buffer, which grows. */
void put_u8(struct buffer *b, uint8_t v);
void put_u16(struct buffer *b, uint16_t v);
void put_u32(struct buffer *b, uint32_t v);
void put_u64(struct buffer *b, uint64_t v);
void put_bytes(struct buffer *b, const void *bytes, size_t len); /* u32 length, then the bytes */
void put_text(struct buffer *b, const char *text);

/* Reading: a bounded view. After the first field that does not fit, `bad` is set and every
 * later field is 0 or empty. */
struct reader {
        const unsigned char *at;
        size_t left;
        bool bad;
};
struct reader reader_of(const void *bytes, size_t len);
uint8_t get_u8(struct reader *r);
uint16_t get_u16(struct reader *r);
uint32_t get_u32(struct reader *r);
uint64_t get_u64(struct reader *r);
/* A view into the payload, at most `max` long. */
const unsigned char *get_bytes(struct reader *r, size_t max, size_t *ret_len);
/* A copy as a C string into `out`; longer than size - 1 or with a NUL inside is bad. */
void get_text(struct reader *r, char *out, size_t size);
/* A new C string of at most `max` bytes, without NUL inside; NULL when bad. The caller frees. */
char *get_new_text(struct reader *r, size_t max);
/* All fields were there and nothing is left. */
bool reader_done(const struct reader *r);

struct frame {
        uint16_t type;
        struct buffer payload;
        int fds[FRAME_MAX_FDS]; /* owned by the frame until taken with take_fd() */
        unsigned fd_count;
        uint64_t patience_us; /* of who receives it, for all of it; 0: as long as it takes */
};
#define FRAME_INIT                                                                                 \
        {                                                                                          \
                .payload = BUFFER_INIT                                                             \
        }
/* Close what was not taken, free the payload. */
void frame_free(struct frame *f);
#define _cleanup_frame_ __attribute__((cleanup(frame_free)))

/* Send one frame. `fds` are borrowed; more than none needs a socket. */
int frame_send(int fd, uint16_t type, const struct buffer *payload, const int *fds,
        unsigned fd_count, struct error *err);
/* Receive one frame into `f` (what it held is released). A payload above `max` or more than
 * `max_fds` descriptors is internal.frame. Returns 1, or 0 at a clean end of the stream, or -1.
 * Received descriptors are close-on-exec. */
int frame_receive(int fd, struct frame *f, size_t max, unsigned max_fds, struct error *err);

/* Of a stream that is gathered as it comes: is a whole frame without descriptors at the start of
 * `in`? 1, with its type and a view of its payload; 0: more must come; -1: it never will be one, or
 * not within `max` bytes of payload. */
int frame_peek(const struct buffer *in, size_t max, uint16_t *ret_type, struct reader *ret_payload);

/* An error as the payload of a frame, and back: the code by number, checked, and the text. */
void put_error(struct buffer *b, const struct error *err);
void get_error(struct reader *r, struct error *ret_err);

#endif
