/* The scan of strict JSON; see json_scan.h. Recursion ends at SCORE_MAX_DEPTH. */
#include "json_scan.h"

#include "decimal.h"
#include "messages.h"

#include "text.h"

struct scan {
        const unsigned char *text;
        size_t len, at;
        unsigned depth;
        struct json_marks *marks;
        const char *wrong;
        size_t wrong_at;
};

enum { END = -1 };

static int peek(const struct scan *s)
{
        return s->at < s->len ? s->text[s->at] : END;
}

static bool wrong(struct scan *s, size_t at, const char *what)
{
        s->wrong = at < s->len ? what : "the document ends too early";
        s->wrong_at = at;
        return false;
}

static void skip_space(struct scan *s)
{
        while (s->at < s->len && memchr(" \t\n\r", s->text[s->at], 4))
                s->at++;
}

static bool open_mark(struct scan *s, size_t key, uint32_t *ret_mark)
{
        struct json_marks *m = s->marks;

        if (m->count == JSON_MAX_VALUES)
                return wrong(s, s->at, "the document has more than 1000000 values");
        if (m->count == m->room) {
                uint32_t room = m->room ? 2 * m->room : 64;
                struct json_mark *list = realloc(m->list, room * sizeof *list);

                if (!list)
                        return wrong(s, s->at, "out of memory here");
                m->list = list;
                m->room = room;
        }
        m->list[m->count] = (struct json_mark){.key = (uint32_t)key, .start = (uint32_t)s->at};
        *ret_mark = m->count++;
        return true;
}

static int hex4(const struct scan *s, size_t at)
{
        int value = 0;

        for (size_t i = at; i < at + 4; i++) {
                int c = i < s->len ? s->text[i] : END;

                if (c >= '0' && c <= '9')
                        value = value * 16 + c - '0';
                else if ((c | 32) >= 'a' && (c | 32) <= 'f')
                        value = value * 16 + (c | 32) - 'a' + 10;
                else
                        return -1;
        }
        return value;
}

/* \uXXXX, which may be the first half of a pair. A lone half is no character; NUL would end a
 * text early for whoever reads it as a C string. */
static bool unicode_escape(struct scan *s)
{
        size_t start = s->at;
        int high = hex4(s, start + 2), low;

        if (high < 0)
                return wrong(s, start, "\\u must be followed by four hexadecimal digits");
        if (high == 0)
                return wrong(s, start, "\\u0000 is not accepted in a text");
        s->at += 6;
        if (high < 0xd800 || high > 0xdfff)
                return true;
        low = high < 0xdc00 && s->at + 1 < s->len && memcmp(s->text + s->at, "\\u", 2) == 0
                      ? hex4(s, s->at + 2)
                      : -1;
        if (low < 0xdc00 || low > 0xdfff)
                return wrong(s, start, "half of a surrogate pair is not a character");
        s->at += 6;
        return true;
}

static bool escape(struct scan *s)
{
        if (s->at + 1 >= s->len)
                return wrong(s, s->len, NULL);
        if (s->text[s->at + 1] == 'u')
                return unicode_escape(s);
        if (!memchr("\"\\/bfnrt", s->text[s->at + 1], 8))
                return wrong(s, s->at, "no such escape; a backslash is written as \\\\");
        s->at += 2;
        return true;
}

static bool string(struct scan *s)
{
        int c;

        for (s->at++; (c = peek(s)) != '"';) {
                size_t n;

                if (c == '\\') {
                        if (!escape(s))
                                return false;
                        continue;
                }
                if (c < 0x20)
                        return wrong(s, s->at,
                                "a control character or line end in a text; write it as an "
                                "escape such as \\n");
                n = text_utf8_next(s->text + s->at, s->len - s->at, NULL);
                if (n == 0)
                        return wrong(s, s->at, "not valid UTF-8");
                s->at += n;
        }
        s->at++;
        return true;
}

static bool number(struct scan *s)
{
        struct decimal d;
        const char *what = decimal_scan((const char *)s->text + s->at, s->len - s->at, &d);

        s->at += d.length;
        return what ? wrong(s, s->at, what) : true;
}

static bool word(struct scan *s)
{
        static const char *const words[] = {"true", "false", "null"};
        static const struct {
                char first;
                const char *hint;
        } hints[] = {
                {'N', "NaN is not JSON"},
                {'I', "Infinity is not JSON"},
                {'\'', "a text needs double quotes"},
                {'/', "JSON has no comments"},
                {'#', "JSON has no comments"},
                {'+', "a number must not begin with +"},
                {'.', "a number needs a digit before the point"},
        };

        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                size_t n = strlen(words[i]);

                if (s->len - s->at >= n && memcmp(s->text + s->at, words[i], n) == 0) {
                        s->at += n;
                        return true;
                }
        }
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
                if (peek(s) == hints[i].first)
                        return wrong(s, s->at, hints[i].hint);
        return wrong(s, s->at, "expected a value");
}

/* What stands between the brackets: elements, separated by commas. */
static bool container(struct scan *s, char close, bool (*element)(struct scan *))
{
        if (++s->depth > SCORE_MAX_DEPTH)
                return wrong(s, s->at, "nested deeper than 64 levels");
        s->at++;
        skip_space(s);
        if (peek(s) != close)
                for (;;) {
                        if (!element(s))
                                return false;
                        skip_space(s);
                        if (peek(s) == close)
                                break;
                        if (peek(s) != ',')
                                return wrong(s, s->at,
                                        close == '}' ? "expected ',' or '}'"
                                                     : "expected ',' or ']'");
                        s->at++;
                        skip_space(s);
                        if (peek(s) == close)
                                return wrong(s, s->at,
                                        close == '}' ? "no comma may stand before '}'"
                                                     : "no comma may stand before ']'");
                }
        s->at++;
        s->depth--;
        return true;
}

static bool member(struct scan *s);
static bool item(struct scan *s);

static bool value(struct scan *s, size_t key)
{
        uint32_t mark = 0;
        bool ok;

        if (!open_mark(s, key, &mark))
                return false;
        switch (peek(s)) {
        case '{':
                ok = container(s, '}', member);
                break;
        case '[':
                ok = container(s, ']', item);
                break;
        case '"':
                ok = string(s);
                break;
        case '-':
        case '0' ... '9':
                ok = number(s);
                break;
        default:
                ok = word(s);
        }
        s->marks->list[mark].end = (uint32_t)s->at;
        s->marks->list[mark].next = s->marks->count;
        return ok;
}

static bool item(struct scan *s)
{
        return value(s, s->at);
}

static bool member(struct scan *s)
{
        size_t key = s->at;

        if (peek(s) != '"')
                return wrong(s, s->at,
                        peek(s) == '/' || peek(s) == '#' ? "JSON has no comments"
                                                         : "expected a key in double quotes");
        if (!string(s))
                return false;
        skip_space(s);
        if (peek(s) != ':')
                return wrong(s, s->at, "expected ':' after the key");
        s->at++;
        skip_space(s);
        return value(s, key);
}

const char *json_scan(const unsigned char *text, size_t len, struct json_marks *ret, size_t *ret_at)
{
        struct scan s = {.text = text, .len = len, .marks = ret};

        skip_space(&s);
        if (s.at == len)
                s.wrong = "the document is empty";
        else if (len > 1 &&
                 ((text[0] == 0xff && text[1] == 0xfe) || (text[0] == 0xfe && text[1] == 0xff)))
                wrong(&s, 0, "this is UTF-16; save it as UTF-8");
        else if (item(&s)) {
                skip_space(&s);
                if (s.at < len)
                        wrong(&s, s.at, "nothing may follow the document");
        }
        *ret_at = s.wrong_at;
        return s.wrong;
}
