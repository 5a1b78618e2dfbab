/* Which paths a pattern matches. */
#include "buffer.h"
#include "glob.h"

#include <criterion/criterion.h>

Test(base_glob, matches)
{
        static const struct {
                const char *pattern, *path;
                bool match;
        } rows[] = {
                {"a.c", "a.c", true},
                {"a.c", "a.cc", false},
                {"a.c", "d/a.c", false},
                {"*.c", "a.c", true},
                {"*.c", ".c", true},
                {"*.c", "d/a.c", false},
                {"*", "a", true},
                {"?.c", "a.c", true},
                {"?.c", "ab.c", false},
                {"a*b*c", "aXbYbc", true},
                {"a*b*c", "aXbYbd", false},
                {"src/*.c", "src/a.c", true},
                {"src/*.c", "src/d/a.c", false},
                {"src/**/*.c", "src/a.c", true},
                {"src/**/*.c", "src/d/e/a.c", true},
                {"src/**/*.c", "other/a.c", false},
                {"**/*.c", "a.c", true},
                {"**/*.c", "d/e/a.c", true},
                {"**", "d/e", true},
                {"src/**", "src/d/e", true},
                {"src/**", "src", true},
                {"a/**/b/**/c", "a/b/c", true},
                {"a/**/b/**/c", "a/x/b/y/b/z/c", true},
                {"a/**/b/**/c", "a/x/c", false},
                {"a**c", "abc", true},
                {"caf\xc3\xa9", "caf\xc3\xa9", true},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(glob_match(rows[i].pattern, rows[i].path), rows[i].match, "%s on %s",
                        rows[i].pattern, rows[i].path);
}

Test(base_glob, is_never_slow)
{
        struct buffer folders = BUFFER_INIT, path = BUFFER_INIT, stars = BUFFER_INIT;

        for (int i = 0; i < 30; i++)
                buffer_add_text(&folders, "**/");
        for (int i = 0; i < 1500; i++)
                buffer_add_text(&path, "a/");
        buffer_add_text(&path, "a");
        for (int i = 0; i < 100; i++)
                buffer_add_text(&stars, "*a");
        buffer_add_text(&folders, "a");
        cr_expect(glob_match(buffer_text(&folders), buffer_text(&path)));
        buffer_add_text(&folders, "/b");
        cr_expect_not(glob_match(buffer_text(&folders), buffer_text(&path)));
        buffer_add_text(&stars, "b");
        buffer_clear(&path);
        for (int i = 0; i < 4000; i++)
                buffer_add_char(&path, 'a');
        cr_expect_not(glob_match(buffer_text(&stars), buffer_text(&path)));
        buffer_free(&folders);
        buffer_free(&path);
        buffer_free(&stars);
}
