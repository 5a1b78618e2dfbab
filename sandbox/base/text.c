/* Bytes of outsiders made safe to show; pure. */
#include "text.h"

size_t text_utf8_next(const unsigned char *s, size_t len, uint32_t *ret_code_point)
{
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        uint32_t code;
        size_t need;

        if (len == 0)
                return 0;
        if (s[0] < 0x80)
                need = 1, code = s[0];
        else if ((s[0] & 0xe0) == 0xc0)
                need = 2, code = s[0] & 0x1f;
        else if ((s[0] & 0xf0) == 0xe0)
                need = 3, code = s[0] & 0x0f;
        else if ((s[0] & 0xf8) == 0xf0)
                need = 4, code = s[0] & 0x07;
        else
                return 0;
        if (need > len)
                return 0;
        for (size_t i = 1; i < need; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
                code = code << 6 | (s[i] & 0x3f);
        }
        if (code < least[need] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
                return 0;
        if (ret_code_point)
                *ret_code_point = code;
        return need;
}

bool text_utf8_valid(const void *s, size_t len)
{
        const unsigned char *p = s;

        while (len > 0) {
                size_t n = text_utf8_next(p, len, NULL);
                if (n == 0)
                        return false;
                p += n;
                len -= n;
        }
        return true;
}

bool text_is_control(uint32_t code_point)
{
        return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
               code_point == 0x2028 || code_point == 0x2029 ||
               (code_point >= 0x202a && code_point <= 0x202e) ||
               (code_point >= 0x2066 && code_point <= 0x2069);
}

size_t text_cut(const void *bytes, size_t len, size_t most)
{
        const unsigned char *p = bytes;

        if (len <= most)
                return len;
        while (most > 0 && (p[most] & 0xc0) == 0x80)
                most--;
        return most;
}

void text_escape(char *out, size_t size, const void *bytes, size_t len)
{
        static const char hex[] = "0123456789abcdef";
        const unsigned char *p = bytes;
        size_t used = 0;

        while (len > 0) {
                uint32_t code = 0;
                size_t n = text_utf8_next(p, len, &code);

                if (n > 0 && !text_is_control(code)) {
                        if (used + n >= size)
                                break;
                        memcpy(out + used, p, n);
                        used += n;
                } else {
                        if (used + 4 >= size)
                                break;
                        out[used++] = '\\';
                        out[used++] = 'x';
                        out[used++] = hex[p[0] >> 4];
                        out[used++] = hex[p[0] & 15];
                        n = 1;
                }
                p += n;
                len -= n;
        }
        if (size > 0)
                out[used] = '\0';
}
