/* Headings of SUBMISSION.md; see submission_md.h. Both kinds that Markdown has: "## Title" and a
 * title underlined with === or ---. */
#include "images/submission_md.h"

#include "images/messages.h"

#include <stdbool.h>
#include <strings.h>

struct line {
        const char *at;
        size_t len;
};

static bool is_one_of(char c, const char *set)
{
        return c != '\0' && strchr(set, c) != NULL;
}

/* Without the characters of `set` at both ends. */
static struct line trim(struct line l, const char *set)
{
        while (l.len > 0 && is_one_of(l.at[0], set))
                l.at++, l.len--;
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

static uint32_t section_bit(struct line title)
{
        static const char *const sections[UNPACK_SECTION_COUNT] = UNPACK_SECTIONS;

        title = trim(title, "#*_: \t\r");
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                if (title.len == strlen(sections[i]) &&
                        strncasecmp(title.at, sections[i], title.len) == 0)
                        return 1U << i;
        return 0;
}

uint32_t submission_md_sections(const char *text, size_t len)
{
        struct line previous = {text, 0};
        uint32_t found = 0;
        bool fenced = false;

        while (len > 0) {
                const char *newline = memchr(text, '\n', len);
                struct line raw = {text, newline ? (size_t)(newline - text) : len};
                struct line l = trim(raw, " \t\r");

                if (starts_with(l, "```") || starts_with(l, "~~~"))
                        fenced = !fenced;
                else if (!fenced && starts_with(l, "#"))
                        found |= section_bit(l);
                else if (!fenced && is_underline(l))
                        found |= section_bit(previous);
                previous = l;
                len -= newline ? raw.len + 1 : raw.len;
                text += newline ? raw.len + 1 : raw.len;
        }
        return found;
}
