/* Comparing bytes, tokens and parts, and saying where they differ; see compare.h. */
#include "compare.h"

#include "text.h"

struct span {
        const unsigned char *at;
        size_t len;
};

struct place {
        unsigned long line, column; /* from 1; columns in characters */
};

static struct span span_of(const struct buffer *b)
{
        return (struct span){b->data, b->len};
}

static bool same(struct span a, struct span b)
{
        return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static size_t first_difference(struct span a, struct span b)
{
        size_t least = a.len < b.len ? a.len : b.len, at = 0;

        while (at < least && a.at[at] == b.at[at])
                at++;
        return at;
}

static bool is_white(unsigned char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span take_line(struct span *rest)
{
        const unsigned char *newline = rest->len > 0 ? memchr(rest->at, '\n', rest->len) : NULL;
        struct span line = {rest->at, newline ? (size_t)(newline - rest->at) : rest->len};
        size_t used = line.len + (newline != NULL);

        rest->at += used;
        rest->len -= used;
        return line;
}

static bool take_token(struct span *rest, struct span *ret)
{
        const unsigned char *at = rest->at, *end = rest->at + rest->len;

        while (at < end && is_white(*at))
                at++;
        ret->at = at;
        while (at < end && !is_white(*at))
                at++;
        ret->len = (size_t)(at - ret->at);
        *rest = (struct span){at, (size_t)(end - at)};
        return ret->len > 0;
}

/* --- for people ----------------------------------------------------------------------------- */

static struct place place_of(const struct buffer *text, const unsigned char *at)
{
        struct place place = {1, 1};

        for (const unsigned char *p = text->data; p < at; p++) {
                if (*p == '\n')
                        place = (struct place){place.line + 1, 0};
                place.column += (*p & 0xc0) != 0x80;
        }
        return place;
}

/* Where a character begins, at or before `at`; in what is no UTF-8, nearby. */
static size_t character_start(struct span text, size_t at)
{
        for (int i = 0; i < 3 && at > 0 && at < text.len && (text.at[at] & 0xc0) == 0x80; i++)
                at--;
        return at;
}

/* The part of it around where it differs, escaped and in quotes. */
static void put_excerpt(struct buffer *to, struct span text, size_t differs)
{
        enum { MOST = 60, BEFORE = 20 };
        char safe[4 * (MOST + 3) + 1];
        size_t from = 0, end = text.len;

        if (text.len > MOST && differs > MOST - BEFORE)
                from = character_start(text, differs - BEFORE);
        if (end - from > MOST)
                end = character_start(text, from + MOST);
        text_escape(safe, sizeof safe, text.at + from, end - from);
        buffer_add_format(to, "\"%s%s%s\"", from > 0 ? "…" : "", safe, end < text.len ? "…" : "");
}

static void put_both(struct buffer *to, struct span expected, struct span actual)
{
        size_t differs = first_difference(expected, actual);

        buffer_add_text(to, "expected ");
        put_excerpt(to, expected, differs);
        buffer_add_text(to, ", got ");
        put_excerpt(to, actual, differs);
}

/* `count` is of those that were as expected. */
static void put_too_short(struct buffer *to, const char *unit, size_t count, struct span next)
{
        if (count == 0)
                buffer_add_format(to, "there is no output; %s 1 is expected to be ", unit);
        else
                buffer_add_format(to, "the output ends after %s %zu; %s %zu is expected to be ",
                        unit, count, unit, count + 1);
        put_excerpt(to, next, 0);
}

static void put_too_long(struct buffer *to, const char *unit, size_t count, struct span next)
{
        buffer_add_format(
                to, "%zu more %s%s than expected, the first: ", count, unit, count > 1 ? "s" : "");
        put_excerpt(to, next, 0);
}

/* --- exact ---------------------------------------------------------------------------------- */

static struct span trim(struct span text)
{
        while (text.len > 0 && is_white(text.at[text.len - 1]))
                text.len--;
        return text;
}

static struct span trim_return(struct span line)
{
        line.len -= line.len > 0 && line.at[line.len - 1] == '\r';
        return line;
}

static bool same_lines(struct span a, struct span b, struct span (*trim_line)(struct span line))
{
        while (a.len > 0 && b.len > 0)
                if (!same(trim_line(take_line(&a)), trim_line(take_line(&b))))
                        return false;
        return a.len == b.len;
}

static bool differs_in_line_ends(struct span expected, struct span actual)
{
        return same_lines(expected, actual, trim_return);
}

static bool differs_in_blanks_at_ends(struct span expected, struct span actual)
{
        return same_lines(trim(expected), trim(actual), trim);
}

static bool differs_in_white_space(struct span expected, struct span actual)
{
        struct span a, b;

        while (take_token(&expected, &a))
                if (!take_token(&actual, &b) || !same(a, b))
                        return false;
        return !take_token(&actual, &b);
}

static bool lacks_newline(struct span text, struct span other)
{
        return text.len + 1 == other.len && other.at[text.len] == '\n' &&
               memcmp(text.at, other.at, text.len) == 0;
}

static bool lacks_final_newline(struct span expected, struct span actual)
{
        return lacks_newline(actual, expected);
}

static bool has_another_newline(struct span expected, struct span actual)
{
        return lacks_newline(expected, actual);
}

/* What `tokens` would not mind; the first that holds is said. */
static const struct {
        bool (*only)(struct span expected, struct span actual);
        const char *what;
} slight[] = {
        {lacks_final_newline, "the final newline, which the output lacks"},
        {has_another_newline, "a newline more at the end of the output"},
        {differs_in_line_ends, "how lines end (CR LF or LF)"},
        {differs_in_blanks_at_ends, "white space at the ends of lines or of the output"},
        {differs_in_white_space, "white space"},
};

static size_t count_lines(struct span text)
{
        size_t count = 0;

        for (; text.len > 0; count++)
                take_line(&text);
        return count;
}

/* The lines that differ first; where one text has no line there, how much it lacks. */
static void put_lines(const struct compared *c, size_t differs, struct buffer *reason)
{
        struct span expected = span_of(&c->expected), actual = span_of(&c->actual), e, a;
        struct place place = place_of(&c->actual, c->actual.data + differs);
        size_t start = differs;

        while (start > 0 && actual.at[start - 1] != '\n')
                start--;
        expected = (struct span){expected.at + start, expected.len - start};
        actual = (struct span){actual.at + start, actual.len - start};
        if (expected.len > 0 && actual.len > 0) {
                e = take_line(&expected);
                a = take_line(&actual);
                if (!same(e, a)) {
                        buffer_add_format(
                                reason, "line %lu, column %lu: ", place.line, place.column);
                        put_both(reason, e, a);
                        return;
                }
                place.line++;
        }
        if (actual.len == 0)
                put_too_short(reason, "line", place.line - 1, take_line(&expected));
        else {
                struct span rest = actual;

                put_too_long(reason, "line", count_lines(rest), take_line(&actual));
        }
}

void compare_exact(struct compared *c, struct buffer *reason)
{
        const struct span expected = span_of(&c->expected), actual = span_of(&c->actual);
        size_t differs;

        if (same(expected, actual))
                return;
        differs = character_start(actual, first_difference(expected, actual));
        for (size_t i = 0; i < sizeof slight / sizeof *slight; i++) {
                struct place place;

                if (!slight[i].only(expected, actual))
                        continue;
                place = place_of(&c->actual, c->actual.data + differs);
                buffer_add_format(reason,
                        "line %lu, column %lu: differs only in %s; `tokens` would not mind",
                        place.line, place.column, slight[i].what);
                return;
        }
        put_lines(c, differs, reason);
}

/* --- tokens, numbers ------------------------------------------------------------------------ */

static size_t count_tokens(struct span text)
{
        struct span token;
        size_t count = 0;

        while (take_token(&text, &token))
                count++;
        return count;
}

static void put_token(const struct compared *c, size_t count, struct span expected,
        struct span actual, struct buffer *reason)
{
        struct place place = place_of(&c->actual, actual.at);

        buffer_add_format(
                reason, "token %zu (line %lu, column %lu): ", count, place.line, place.column);
        put_both(reason, expected, actual);
}

static bool token_differs(
        struct compared *c, size_t count, struct span e, struct span a, struct buffer *reason)
{
        enum closeness closeness = NUMBERS_NOT_BOTH;

        if (same(e, a))
                return false;
        if (c->how == COMPARE_NUMERIC)
                closeness = tolerance_compare(&c->tolerance, e.at, e.len, a.at, a.len);
        if (closeness == NUMBERS_CLOSE)
                return false;
        put_token(c, count, e, a, reason);
        if (closeness == NUMBERS_APART)
                buffer_add_format(reason, ", which differ by more than abs %s and rel %s",
                        c->tolerance.abs_text, c->tolerance.rel_text);
        return true;
}

void compare_tokens(struct compared *c, struct buffer *reason)
{
        struct span expected = span_of(&c->expected), actual = span_of(&c->actual), e, a;

        for (size_t count = 1;; count++) {
                bool wanted = take_token(&expected, &e), there = take_token(&actual, &a);

                if (!wanted && !there)
                        return;
                if (!there)
                        put_too_short(reason, "token", count - 1, e);
                else if (!wanted)
                        put_too_long(reason, "token", 1 + count_tokens(actual), a);
                else if (!token_differs(c, count, e, a, reason))
                        continue;
                return;
        }
}

void compare_numeric(struct compared *c, struct buffer *reason)
{
        compare_tokens(c, reason);
}

/* --- parts ---------------------------------------------------------------------------------- */

void compare_contains(struct compared *c, struct buffer *reason)
{
        if (memmem(c->actual.data, c->actual.len, c->wanted.data, c->wanted.len))
                return;
        put_excerpt(reason, span_of(&c->wanted), 0);
        buffer_add_text(reason, " does not occur in the output ");
        put_excerpt(reason, span_of(&c->actual), 0);
}

int compare_regex(struct compared *c, struct buffer *reason, struct error *err)
{
        const struct span actual = span_of(&c->actual);
        const unsigned char *nul = memchr(actual.at, '\0', actual.len);

        if (pattern_compile(&c->pattern, c->wanted.data, c->wanted.len, err) < 0)
                return -1;
        if (nul) {
                struct place place = place_of(&c->actual, nul);

                buffer_add_format(reason,
                        "line %lu, column %lu: a NUL byte, which no regular expression matches",
                        place.line, place.column);
                return 0;
        }
        if (pattern_match(&c->pattern, actual.at, actual.len))
                return 0;
        buffer_add_text(reason, "the regular expression ");
        put_excerpt(reason, span_of(&c->wanted), 0);
        buffer_add_text(reason, " does not match the output ");
        put_excerpt(reason, actual, 0);
        if (actual.len > 0 && actual.at[actual.len - 1] == '\n' &&
                pattern_match(&c->pattern, actual.at, actual.len - 1))
                buffer_add_text(reason, "; it would without the final newline");
        return 0;
}
