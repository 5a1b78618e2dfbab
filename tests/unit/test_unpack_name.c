/* Which names of entries are taken, and in what form. */
#include "images/name.h"

#include <criterion/criterion.h>

static char *repeated(const char *part, size_t count)
{
        struct buffer b = BUFFER_INIT;

        for (size_t i = 0; i < count; i++)
                buffer_add_text(&b, part);
        return (char *)b.data;
}

Test(unpack_name, are_brought_to_one_form)
{
        static const struct {
                const char *raw, *normal;
        } rows[] = {
                {"a", "a"},
                {"a/b/c", "a/b/c"},
                {"a/", "a"},
                {"./a", "a"},
                {"a//b", "a/b"},
                {"a/./b/.", "a/b"},
                {".", ""},
                {"./", ""},
                {"././", ""},
                {"...", "..."},
                {"..a/b..", "..a/b.."},
                {"-rf *", "-rf *"},
                {"$(id)", "$(id)"},
                {"caf\xc3\xa9", "caf\xc3\xa9"},
                {"ab:c", "ab:c"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct path path;

                cr_assert_eq(name_normalise(rows[i].raw, &path, &err), 0, "%s: %s", rows[i].raw,
                        err.text);
                cr_expect_str_eq(path.text, rows[i].normal, "%s became %s", rows[i].raw, path.text);
        }
}

Test(unpack_name, are_refused_when_unsafe)
{
        static const struct {
                const char *raw;
                enum code code;
        } rows[] = {
                {"", CODE_ARCHIVE_UNSAFE_PATH},
                {"/", CODE_ARCHIVE_UNSAFE_PATH},
                {"/x", CODE_ARCHIVE_UNSAFE_PATH},
                {"//x", CODE_ARCHIVE_UNSAFE_PATH},
                {"/.", CODE_ARCHIVE_UNSAFE_PATH},
                {"..", CODE_ARCHIVE_UNSAFE_PATH},
                {"../x", CODE_ARCHIVE_UNSAFE_PATH},
                {"a/..", CODE_ARCHIVE_UNSAFE_PATH},
                {"a/../b", CODE_ARCHIVE_UNSAFE_PATH},
                {"a/../../x", CODE_ARCHIVE_UNSAFE_PATH},
                {"..\\x", CODE_ARCHIVE_UNSAFE_PATH},
                {"a\\b", CODE_ARCHIVE_UNSAFE_PATH},
                {"C:\\x", CODE_ARCHIVE_UNSAFE_PATH},
                {"C:x", CODE_ARCHIVE_UNSAFE_PATH},
                {"z:", CODE_ARCHIVE_UNSAFE_PATH},
                {"a\nb", CODE_ARCHIVE_BAD_NAME},
                {"a\tb", CODE_ARCHIVE_BAD_NAME},
                {"a\x7f", CODE_ARCHIVE_BAD_NAME},
                {"\x1b[2J", CODE_ARCHIVE_BAD_NAME},
                {"a\xc2\x85", CODE_ARCHIVE_BAD_NAME},
                {"a\xe2\x80\xae"
                 "b",
                        CODE_ARCHIVE_BAD_NAME},
                {"a\xff", CODE_ARCHIVE_BAD_NAME},
                {"a\xc0\xaf", CODE_ARCHIVE_BAD_NAME},
                {"a\xed\xa0\x80", CODE_ARCHIVE_BAD_NAME},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct path path;

                cr_assert_eq(
                        name_normalise(rows[i].raw, &path, &err), -1, "%s was taken", rows[i].raw);
                cr_expect_eq(err.code, rows[i].code, "%s gave %s", rows[i].raw,
                        code_info(err.code)->name);
        }
}

Test(unpack_name, have_a_greatest_length_and_depth)
{
        static const struct {
                const char *part;
                size_t count;
                int result;
        } rows[] = {
                {"a", 255, 0},
                {"a", 256, -1},
                {"\xc3\xa9", 127, 0},
                {"\xc3\xa9", 128, -1},
                {"d/", 100, 0},
                {"d/", 101, -1},
                {"./", 2047, 0},
                {"./", 2048, -1},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *raw = repeated(rows[i].part, rows[i].count);
                struct path path;

                cr_expect_eq(name_normalise(raw, &path, NULL), rows[i].result, "%zu times %s",
                        rows[i].count, rows[i].part);
                free(raw);
        }
}

Test(unpack_name, a_refusal_names_the_entry_escaped)
{
        struct error err = {0};
        struct path path;

        name_normalise("a\x1b[2J", &path, &err);
        cr_expect_str_eq(err.text, "a\\x1b[2J: has control characters");
}

Test(unpack_name, junk_is_recognised)
{
        static const struct {
                const char *path;
                bool junk;
        } rows[] = {
                {"__MACOSX", true},
                {"__MACOSX/a/._b", true},
                {"a/__MACOSX/b", false},
                {"__MACOSX2/a", false},
                {".DS_Store", true},
                {"a/b/.DS_Store", true},
                {".DS_Store/a", false},
                {"Thumbs.db", true},
                {"a/Thumbs.db", true},
                {"my-Thumbs.db", false},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(name_is_junk(rows[i].path), rows[i].junk, "%s", rows[i].path);
}

Test(unpack_name, equal_on_some_system_means_equal_when_folded)
{
        static const struct {
                const char *a, *b;
                bool equal;
        } rows[] = {
                {"Makefile", "makefile", true},
                {"README", "ReadMe", true},
                {"caf\xc3\xa9", "cafe\xcc\x81", true}, /* composed, decomposed */
                {"CAF\xc3\x89", "cafe\xcc\x81", true},
                {"stra\xc3\x9f"
                 "e",
                        "STRASSE", true},       /* sharp s */
                {"\xce\xa3", "\xcf\x82", true}, /* capital and final sigma */
                {"\xe2\x84\xaa", "k", true},    /* Kelvin sign */
                {"a", "b", false},
                {"cafe", "caf\xc3\xa9", false},
                {"a.c", "a_c", false},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_buffer_ struct buffer a = BUFFER_INIT, b = BUFFER_INIT;

                name_fold(rows[i].a, strlen(rows[i].a), &a);
                name_fold(rows[i].b, strlen(rows[i].b), &b);
                cr_expect_eq(strcmp(buffer_text(&a), buffer_text(&b)) == 0, rows[i].equal,
                        "%s and %s", rows[i].a, rows[i].b);
        }
}

Test(unpack_name, code_page_437_is_read)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        name_from_cp437("A\x80\x82\xe1\xff", &b);
        cr_expect_str_eq(buffer_text(&b), "A\xc3\x87\xc3\xa9\xc3\x9f\xc2\xa0");
}

Test(unpack_name, a_link_target_climbs_first_and_only_first)
{
        static const struct {
                const char *target;
                int climb;
        } rows[] = {
                {"a", 0},
                {"a/b", 0},
                {".", 0},
                {"./a", 0},
                {"..", 1},
                {"../a", 1},
                {"./../a", 1},
                {".././../a/", 2},
                {"../../../../x", 4},
                {"...", 0},
                {"a/...", 0},
                {"", -1},
                {"/", -1},
                {"/etc/passwd", -1},
                {"a/..", -1},
                {"a/../..", -1},
                {"../a/../b", -1},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                cr_expect_eq(name_climb(rows[i].target), rows[i].climb, "%s", rows[i].target);
}
