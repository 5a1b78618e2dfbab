/* Bytes of outsiders made safe to show. */
#ifndef ASSAY_TEXT_H
#define ASSAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length in bytes of the valid UTF-8 sequence at `s` (1 to 4; surrogates, overlong forms and
 * numbers above U+10FFFF are not valid), or 0. `ret_code_point` may be NULL. */
size_t text_utf8_next(const unsigned char *s, size_t len, uint32_t *ret_code_point);
bool text_utf8_valid(const void *s, size_t len);

/* Control characters: C0, DEL, C1, and the bidirectional overrides that reorder a terminal line. */
bool text_is_control(uint32_t code_point);

/* How many of `len` bytes of UTF-8 to keep when there is room for `most`: no character is halved.
 */
size_t text_cut(const void *bytes, size_t len, size_t most);

/* Copy `len` bytes to `out` (NUL-terminated, cut at a character to fit): printable UTF-8 as it
 * is, everything else as \xHH. */
void text_escape(char *out, size_t size, const void *bytes, size_t len);

#endif
