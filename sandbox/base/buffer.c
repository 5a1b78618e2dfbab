/* A growing byte buffer; its invariants are in buffer.h. */
#include "buffer.h"

#include <stdarg.h>

unsigned char buffer_empty[1];

void buffer_free(struct buffer *b)
{
        if (b->cap > 0)
                free(b->data);
        *b = (struct buffer)BUFFER_INIT;
}

void buffer_clear(struct buffer *b)
{
        b->len = 0;
        if (b->cap > 0)
                b->data[0] = '\0';
}

bool buffer_ok(const struct buffer *b)
{
        return !b->failed;
}

unsigned char *buffer_reserve(struct buffer *b, size_t more)
{
        size_t need, cap = b->cap ? b->cap : 64;
        unsigned char *data;

        if (b->failed || __builtin_add_overflow(b->len, more, &need) ||
                need >= (size_t)PTRDIFF_MAX / 2) {
                b->failed = true;
                return NULL;
        }
        if (need < b->cap)
                return b->data + b->len;
        while (cap <= need)
                cap *= 2;
        data = realloc(b->cap ? b->data : NULL, cap);
        if (!data) {
                b->failed = true;
                return NULL;
        }
        data[b->len] = '\0';
        b->data = data;
        b->cap = cap;
        return b->data + b->len;
}

void buffer_advance(struct buffer *b, size_t added)
{
        b->len += added;
        b->data[b->len] = '\0';
}

void buffer_add(struct buffer *b, const void *bytes, size_t len)
{
        unsigned char *at;

        if (len == 0 || !(at = buffer_reserve(b, len)))
                return;
        memcpy(at, bytes, len);
        buffer_advance(b, len);
}

void buffer_add_text(struct buffer *b, const char *text)
{
        buffer_add(b, text, strlen(text));
}

void buffer_add_char(struct buffer *b, char c)
{
        buffer_add(b, &c, 1);
}

void buffer_add_format(struct buffer *b, const char *format, ...)
{
        va_list args, again;
        unsigned char *at;
        int len;

        va_start(args, format);
        va_copy(again, args);
        len = vsnprintf(NULL, 0, format, args);
        va_end(args);
        if (len < 0)
                b->failed = true;
        else if ((at = buffer_reserve(b, (size_t)len + 1))) {
                vsnprintf((char *)at, (size_t)len + 1, format, again);
                buffer_advance(b, (size_t)len);
        }
        va_end(again);
}

const char *buffer_text(const struct buffer *b)
{
        return (const char *)b->data;
}
