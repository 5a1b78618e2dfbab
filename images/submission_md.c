/* The sections of SUBMISSION.md; see submission_md.h. Both kinds of headings that Markdown has are
 * known: "## Title" and a title underlined with === or ---. */
#include "images/submission_md.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

struct line {
        const char *at;
        size_t len;
};

static bool is_one_of(char c, const char *set)
{
        return c != '\0' && strchr(set, c) != NULL;
}

/* Without the characters of `set` at its start. */
static struct line trim_start(struct line l, const char *set)
{
        while (l.len > 0 && is_one_of(l.at[0], set))
                l.at++, l.len--;
        return l;
}

/* The same at both ends. */
static struct line trim(struct line l, const char *set)
{
        l = trim_start(l, set);
        while (l.len > 0 && is_one_of(l.at[l.len - 1], set))
                l.len--;
        return l;
}

static bool starts_with(struct line l, const char *what)
{
        return l.len >= strlen(what) && memcmp(l.at, what, strlen(what)) == 0;
}

static bool is_underline(struct line l)
{
        l = trim(l, " \t\r");
        return l.len >= 2 && (trim(l, "=").len == 0 || trim(l, "-").len == 0);
}

/* The number of the section with this title, or -1. */
static int find_section(struct line title)
{
        static const char *const sections[UNPACK_SECTION_COUNT] = UNPACK_SECTIONS;

        title = trim(title, "#*_: \t\r");
        for (int i = 0; i < UNPACK_SECTION_COUNT; i++)
                if (title.len == strlen(sections[i]) &&
                        strncasecmp(title.at, sections[i], title.len) == 0)
                        return i;
        return -1;
}

struct parser {
        struct submission_md *md;
        struct line held; /* the line before: it may turn out to be a title */
        int section;      /* that lines belong to, or -1 */
        unsigned level;   /* of its heading */
        char fence;       /* in a block of code: the character of its fence */
        size_t fence_len;
        bool comment; /* <!-- of a line before */
};

static void add_line(struct buffer *to, struct line l)
{
        for (size_t i = 0; i < l.len;) {
                utf8proc_int32_t code = 0;
                utf8proc_ssize_t n = utf8proc_iterate(
                        (const utf8proc_uint8_t *)l.at + i, (utf8proc_ssize_t)(l.len - i), &code);

                if (n > 0 && code != 0)
                        buffer_add(to, l.at + i, (size_t)n);
                else
                        buffer_add_text(to, "\xef\xbf\xbd");
                i += n > 0 ? (size_t)n : 1;
        }
        buffer_add_char(to, '\n');
}

static void release(struct parser *p)
{
        if (p->held.at && p->section >= 0)
                add_line(&p->md->text[p->section], p->held);
        p->held = (struct line){0};
}

/* True when the heading is one of ours, or ends the section that it stands in. */
static bool see_heading(struct parser *p, struct line title, unsigned level)
{
        int section = find_section(title);

        if (section < 0 && (p->section < 0 || level > p->level))
                return false;
        p->section = section;
        p->level = level;
        if (section >= 0)
                p->md->present |= 1U << section;
        return true;
}

/* A fence opens with three or more of its character, and closes with as many and nothing else. */
static void see_fence(struct parser *p, struct line l)
{
        const char set[] = {l.at[0], '\0'};
        size_t len = l.len - trim_start(l, set).len;

        if (!p->fence && (l.at[0] == '~' || !memchr(l.at + len, '`', l.len - len))) {
                p->fence = l.at[0];
                p->fence_len = len;
        } else if (p->fence == l.at[0] && len >= p->fence_len && len == l.len)
                p->fence = 0;
}

/* Is the next line inside a comment? */
static bool ends_in_comment(struct line l, bool before)
{
        for (size_t i = 0; i < l.len; i++)
                if (starts_with((struct line){l.at + i, l.len - i}, before ? "-->" : "<!--"))
                        before = !before;
        return before;
}

static bool is_indented(struct line raw)
{
        return starts_with(raw, "\t") || starts_with(raw, "    ");
}

/* What a line of dashes under it makes no title of. */
static bool is_item(struct line l)
{
        struct line number = trim_start(l, "0123456789");

        return l.len == 0 || is_one_of(l.at[0], "-*+>|") ||
               (number.len < l.len && number.len > 0 && is_one_of(number.at[0], ".)"));
}

static void see_line(struct parser *p, struct line raw)
{
        struct line l = trim(raw, " \t\r");
        struct line title = p->held;
        bool commented = p->comment, plain = !p->fence && !commented && !is_indented(raw);

        if (!p->fence)
                p->comment = ends_in_comment(l, commented);
        if (!commented && (starts_with(l, "```") || starts_with(l, "~~~"))) {
                see_fence(p, l);
        } else if (plain && starts_with(l, "#")) {
                release(p);
                if (see_heading(p, l, (unsigned)(l.len - trim_start(l, "#").len)))
                        return;
        } else if (plain && title.at && !is_item(trim(title, " \t\r")) && is_underline(l)) {
                p->held = (struct line){0};
                if (see_heading(p, trim(title, " \t\r"), is_one_of(l.at[0], "=") ? 1 : 2))
                        return;
                p->held = title;
        }
        release(p);
        p->held = raw;
}

/* Does it say anything? Comments, as a template has them, do not. */
static bool says_something(const char *text)
{
        while (*text) {
                if (strncmp(text, "<!--", 4) == 0) {
                        const char *end = strstr(text, "-->");

                        if (!end)
                                return false;
                        text = end + 3;
                } else if (!is_one_of(*text, " \t\r\n")) {
                        return true;
                } else
                        text++;
        }
        return false;
}

void submission_md_parse(const char *text, size_t len, struct submission_md *ret)
{
        struct parser p = {.md = ret, .section = -1};

        *ret = (struct submission_md){0};
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                ret->text[i] = (struct buffer)BUFFER_INIT;
        if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
                text += 3;
                len -= 3;
        }
        while (len > 0) {
                const char *newline = memchr(text, '\n', len);
                struct line raw = {text, newline ? (size_t)(newline - text) : len};

                see_line(&p, raw);
                len -= newline ? raw.len + 1 : raw.len;
                text += newline ? raw.len + 1 : raw.len;
        }
        release(&p);
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                ret->filled |= (uint32_t)says_something(buffer_text(&ret->text[i])) << i;
}

void submission_md_free(struct submission_md *md)
{
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                buffer_free(&md->text[i]);
}
