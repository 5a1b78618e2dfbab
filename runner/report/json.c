/* Writing JSON, indented for people; see json.h. Pure. */
#include "report/json.h"

#include "text.h"

static void new_line(struct json_writer *w)
{
        if (w->compact)
                return;
        buffer_add_char(w->out, '\n');
        for (unsigned i = 0; i < w->depth; i++)
                buffer_add_text(w->out, "  ");
}

static void add_quoted(struct json_writer *w, const void *bytes, size_t len);

static void start(struct json_writer *w, const char *key)
{
        if (w->depth > 0) {
                if (w->used[w->depth])
                        buffer_add_char(w->out, ',');
                new_line(w);
        }
        w->used[w->depth] = true;
        if (!key)
                return;
        add_quoted(w, key, strlen(key));
        buffer_add_text(w->out, w->compact ? ":" : ": ");
}

static void open_level(struct json_writer *w, const char *key, bool array)
{
        start(w, key);
        buffer_add_char(w->out, array ? '[' : '{');
        if (w->depth + 1 >= JSON_MAX_DEPTH) {
                w->out->failed = true;
                return;
        }
        w->depth++;
        w->array[w->depth] = array;
        w->used[w->depth] = false;
}

void json_open_object(struct json_writer *w, const char *key)
{
        open_level(w, key, false);
}

void json_open_array(struct json_writer *w, const char *key)
{
        open_level(w, key, true);
}

void json_close(struct json_writer *w)
{
        bool array = w->array[w->depth], used = w->used[w->depth];

        if (w->depth == 0)
                return;
        w->depth--;
        if (used)
                new_line(w);
        buffer_add_char(w->out, array ? ']' : '}');
}

/* What is not a character to show is written as its number: the result may be read on a terminal.
 */
static void add_character(struct buffer *b, const unsigned char *at, size_t len, uint32_t code)
{
        static const char short_forms[] = {['\b'] = 'b',
                ['\t'] = 't',
                ['\n'] = 'n',
                ['\f'] = 'f',
                ['\r'] = 'r',
                ['"'] = '"',
                ['\\'] = '\\'};

        if (*at < sizeof short_forms && short_forms[*at])
                buffer_add_format(b, "\\%c", short_forms[*at]);
        else if (text_is_control(code))
                buffer_add_format(b, "\\u%04x", code);
        else
                buffer_add(b, at, len);
}

static void add_quoted(struct json_writer *w, const void *bytes, size_t len)
{
        const unsigned char *at = bytes;

        buffer_add_char(w->out, '"');
        while (len > 0) {
                uint32_t code = 0;
                size_t n = text_utf8_next(at, len, &code);

                if (n == 0) {
                        buffer_add_text(w->out, "\xef\xbf\xbd");
                        n = 1;
                } else
                        add_character(w->out, at, n, code);
                at += n;
                len -= n;
        }
        buffer_add_char(w->out, '"');
}

void json_bytes(struct json_writer *w, const char *key, const void *bytes, size_t len)
{
        start(w, key);
        add_quoted(w, bytes, len);
}

void json_text(struct json_writer *w, const char *key, const char *text)
{
        json_bytes(w, key, text, strlen(text));
}

void json_number(struct json_writer *w, const char *key, uint64_t value)
{
        start(w, key);
        buffer_add_format(w->out, "%llu", (unsigned long long)value);
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
        start(w, key);
        buffer_add_text(w->out, value ? "true" : "false");
}

void json_add_null(struct json_writer *w, const char *key)
{
        start(w, key);
        buffer_add_text(w->out, "null");
}

void json_document(struct json_writer *w, const char *key, const void *bytes, size_t len)
{
        start(w, key);
        buffer_add(w->out, bytes, len);
}

void json_decimal(struct json_writer *w, const char *key, const char *digits)
{
        if (*digits == '\0') {
                json_add_null(w, key);
                return;
        }
        start(w, key);
        buffer_add_text(w->out, digits);
}
