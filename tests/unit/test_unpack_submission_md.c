/* Which sections of SUBMISSION.md are found, and what they say. */
#include "images/submission_md.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BUILT = 1, RUN = 2, ARCHITECTURE = 4, WORKS = 8, LIMITATIONS = 16, TRADEOFFS = 32 };

static uint32_t present(const char *text, size_t len)
{
        struct submission_md md;

        submission_md_parse(text, len, &md);
        submission_md_free(&md);
        return md.present;
}

Test(unpack_submission_md, finds_headings)
{
        static const struct {
                const char *text;
                uint32_t sections;
        } rows[] = {
                {"", 0},
                {"# What I Built", BUILT},
                {"## What I Built\n", BUILT},
                {"###### what i built ##\r\n", BUILT},
                {"#How To Run\n", RUN},
                {"## **Architecture**:\n", ARCHITECTURE},
                {"What Works\n==========\n", WORKS},
                {"known limitations\n---\ntext", LIMITATIONS},
                {"# What I Built\nx\n# How To Run\nx\n# Architecture\nx\n# What Works\nx\n"
                 "# Known Limitations\nx\n# Tradeoffs\nx\n",
                        BUILT | RUN | ARCHITECTURE | WORKS | LIMITATIONS | TRADEOFFS},
                {"What I Built\n", 0},
                {"text What I Built\n---\n", 0},
                {"# What I Built and more\n", 0},
                {"# What I\n", 0},
                {"```\n# Tradeoffs\n```\n# Architecture\n", ARCHITECTURE},
                {"# Tradeoffs\n# Tradeoffs\n", TRADEOFFS},
                {"\xff\xfe# Tradeoffs\n", 0},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(present(rows[i].text, strlen(rows[i].text)), rows[i].sections, "%s",
                        rows[i].text);
}

Test(unpack_submission_md, takes_any_bytes)
{
        static const char text[] = "# Architecture\0\n\0# Tradeoffs\n# What Works";

        cr_expect_eq(present(text, sizeof text - 1), WORKS);
}

Test(unpack_submission_md, keeps_what_a_section_says)
{
        static const struct {
                const char *text, *architecture, *works;
                uint32_t filled;
        } rows[] = {
                {"# Architecture\none\n\ntwo\n", "one\n\ntwo\n", "", ARCHITECTURE},
                {"before\n# Architecture\nin\n# Other\nafter\n", "in\n", "", ARCHITECTURE},
                {"# Architecture\nin\n## Detail\nmore\n", "in\n## Detail\nmore\n", "",
                        ARCHITECTURE},
                {"# Architecture\nin\nDetail\n------\nmore\n", "in\nDetail\n------\nmore\n", "",
                        ARCHITECTURE},
                {"## Architecture\nin\n# Other\nafter\n", "in\n", "", ARCHITECTURE},
                {"# Architecture\na\n### What Works\nw\n", "a\n", "w\n", ARCHITECTURE | WORKS},
                {"# Architecture\na\n# What Works\nw\n# Architecture\nb\n", "a\nb\n", "w\n",
                        ARCHITECTURE | WORKS},
                {"# Architecture\n```\n# What Works\n```\nend", "```\n# What Works\n```\nend\n", "",
                        ARCHITECTURE},
                {"# Architecture\na\n~~~~\n```\n# What Works\n~~~\n~~~~\n# What Works\nw\n",
                        "a\n~~~~\n```\n# What Works\n~~~\n~~~~\n", "w\n", ARCHITECTURE | WORKS},
                {"# Architecture\n``` x ```\n# What Works\nw\n", "``` x ```\n", "w\n",
                        ARCHITECTURE | WORKS},
                {"# Architecture\n    # What Works\n", "    # What Works\n", "", ARCHITECTURE},
                {"# Architecture\na\n<!--\n# What Works\n-->\n", "a\n<!--\n# What Works\n-->\n", "",
                        ARCHITECTURE},
                {"## Architecture\n- one\n---\ntwo\n", "- one\n---\ntwo\n", "", ARCHITECTURE},
                {"# Architecture\ncaf\xe9\n", "caf\xef\xbf\xbd\n", "", ARCHITECTURE},
                {"# Architecture\n<!-- a\nhint -->\n \n", "<!-- a\nhint -->\n \n", "", 0},
                {"# Architecture\n<!-- hint --> said\n", "<!-- hint --> said\n", "", ARCHITECTURE},
                {"# Architecture\n<!-- endless\n", "<!-- endless\n", "", 0},
                {"\xef\xbb\xbf# Architecture\nin\n", "in\n", "", ARCHITECTURE},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct submission_md md;

                submission_md_parse(rows[i].text, strlen(rows[i].text), &md);
                cr_expect_str_eq(buffer_text(&md.text[2]), rows[i].architecture);
                cr_expect_str_eq(buffer_text(&md.text[3]), rows[i].works);
                cr_expect_eq(md.filled, rows[i].filled, "%s", rows[i].text);
                submission_md_free(&md);
        }
}
