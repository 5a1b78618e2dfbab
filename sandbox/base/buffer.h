/* A growing byte buffer.
 *
 * Invariants, true between any two calls:
 *   - `data` is never NULL; data[len] is NUL, so text may be used as a C string;
 *   - len < cap, or nothing was ever allocated (cap == 0, data points at a shared empty string);
 *   - after an allocation failed, `failed` stays set, the content is what it was before the
 *     failure, and every later addition does nothing. Check buffer_ok() once, at the end. */
#ifndef ASSAY_BUFFER_H
#define ASSAY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
        unsigned char *data;
        size_t len;
        size_t cap;
        bool failed;
};

extern unsigned char buffer_empty[1];
#define BUFFER_INIT                                                                                \
        {                                                                                          \
                .data = buffer_empty                                                               \
        }

/* Release what the buffer owns and leave it as BUFFER_INIT. */
void buffer_free(struct buffer *b);
#define _cleanup_buffer_ __attribute__((cleanup(buffer_free)))

/* Empty it, keeping the memory. */
void buffer_clear(struct buffer *b);
bool buffer_ok(const struct buffer *b);
/* Room for `more` bytes after len, or NULL; fill it, then buffer_advance(). */
unsigned char *buffer_reserve(struct buffer *b, size_t more);
void buffer_advance(struct buffer *b, size_t added);

void buffer_add(struct buffer *b, const void *bytes, size_t len);
void buffer_add_text(struct buffer *b, const char *text);
void buffer_add_char(struct buffer *b, char c);
void buffer_add_format(struct buffer *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The content as a C string (valid until the next addition). */
const char *buffer_text(const struct buffer *b);

#endif
