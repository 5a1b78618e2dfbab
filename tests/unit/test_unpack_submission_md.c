/* Which sections of SUBMISSION.md are found. */
#include "images/submission_md.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BUILT = 1, RUN = 2, ARCHITECTURE = 4, WORKS = 8, LIMITATIONS = 16, TRADEOFFS = 32 };

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
                cr_expect_eq(submission_md_sections(rows[i].text, strlen(rows[i].text)),
                        rows[i].sections, "%s", rows[i].text);
}

Test(unpack_submission_md, takes_any_bytes)
{
        static const char text[] = "# Architecture\0\n\0# Tradeoffs\n# What Works";

        cr_expect_eq(submission_md_sections(text, sizeof text - 1), WORKS);
}
