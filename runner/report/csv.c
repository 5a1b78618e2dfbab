/* Writing CSV; see csv.h. */
#include "report/csv.h"

#include "text.h"

static void add_character(struct buffer *out, const unsigned char *at, size_t len)
{
        if (len == 0)
                buffer_add_text(out, "\xef\xbf\xbd");
        else if (*at == '"')
                buffer_add_text(out, "\"\"");
        else
                buffer_add(out, at, len);
}

void csv_cell(struct buffer *out, const char *text, const char *end)
{
        const unsigned char *at = (const unsigned char *)(text ? text : "");
        size_t len = strlen((const char *)at);
        const bool formula = *at && strchr("=+-@\t\r", *at);
        const bool quoted = formula || strpbrk((const char *)at, ",\"\r\n");

        buffer_add_text(out, quoted ? "\"" : "");
        buffer_add_text(out, formula ? "'" : "");
        while (len > 0) {
                const size_t n = text_utf8_next(at, len, NULL), used = n > 0 ? n : 1;

                add_character(out, at, n);
                at += used;
                len -= used;
        }
        buffer_add_text(out, quoted ? "\"" : "");
        buffer_add_text(out, end);
}
