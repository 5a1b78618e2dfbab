/* What is made of an entry, given the entries before it. */
#include "images/entry.h"

#include <criterion/criterion.h>

#define FILE_(name)                                                                                \
        {                                                                                          \
                .type = ENTRY_FILE, .path = name, .target = ""                                     \
        }
#define FOLDER(name)                                                                               \
        {                                                                                          \
                .type = ENTRY_DIRECTORY, .path = name, .target = ""                                \
        }
#define LINK(name, to)                                                                             \
        {                                                                                          \
                .type = ENTRY_SYMLINK, .path = name, .target = to                                  \
        }
#define HARD(name, to)                                                                             \
        {                                                                                          \
                .type = ENTRY_HARDLINK, .path = name, .target = to                                 \
        }
#define SPECIAL(name)                                                                              \
        {                                                                                          \
                .type = ENTRY_SPECIAL, .path = name, .target = ""                                  \
        }

enum { MAX_BEFORE = 3 };

/* Judge `e` after `before`, which all are fine. */
static int judge(const struct entry *before, const struct entry *e, bool links_drop,
        struct plan *ret, struct error *err)
{
        _cleanup_catalog_ struct catalog c;

        catalog_init(&c, 100);
        for (int i = 0; i < MAX_BEFORE && before[i].path; i++)
                cr_assert_eq(entry_judge(&before[i], links_drop, &c, ret, err), 0, "%s: %s",
                        before[i].path, err->text);
        return entry_judge(e, links_drop, &c, ret, err);
}

Test(unpack_entry, good_ones_become_what_they_are)
{
        static const struct {
                struct entry before[MAX_BEFORE], entry;
                enum plan_step step;
                const char *path;
                size_t known; /* bytes of the path that exist already */
        } rows[] = {
                {{{0}}, FILE_("a"), PLAN_FILE, "a", 0},
                {{{0}}, FILE_("./a//b"), PLAN_FILE, "a/b", 0},
                {{FOLDER("a")}, FILE_("a/b/c"), PLAN_FILE, "a/b/c", 1},
                {{FILE_("a/b/c")}, FILE_("a/b/d"), PLAN_FILE, "a/b/d", 3},
                {{{0}}, FOLDER("a/b/"), PLAN_DIRECTORY, "a/b", 0},
                {{FOLDER("a/b")}, FOLDER("a/b"), PLAN_DIRECTORY, "a/b", 3},
                {{FILE_("a/b")}, FOLDER("a"), PLAN_DIRECTORY, "a", 1},
                {{{0}}, LINK("a", "b"), PLAN_SYMLINK, "a", 0},
                {{{0}}, LINK("a/b", "../c"), PLAN_SYMLINK, "a/b", 0},
                {{{0}}, LINK("a/b/c", "../../d/e"), PLAN_SYMLINK, "a/b/c", 0},
                {{FILE_("a/b")}, HARD("c", "a/b"), PLAN_COPY, "c", 0},
                {{FILE_("a/b")}, HARD("c", "./a//b"), PLAN_COPY, "c", 0},
                {{{0}}, FOLDER("."), PLAN_SKIP, "", 0},
                {{{0}}, FOLDER("./"), PLAN_SKIP, "", 0},
                {{{0}}, FILE_("a/.DS_Store"), PLAN_SKIP, "a/.DS_Store", 0},
                {{{0}}, FILE_("__MACOSX/a"), PLAN_SKIP, "__MACOSX/a", 0},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct plan p = {0};

                cr_assert_eq(judge(rows[i].before, &rows[i].entry, false, &p, &err), 0, "%s: %s",
                        rows[i].entry.path, err.text);
                cr_expect_eq(p.step, rows[i].step, "row %zu, %s", i, rows[i].entry.path);
                cr_expect_str_eq(p.path.text, rows[i].path);
                if (p.step != PLAN_SKIP)
                        cr_expect_eq(p.known, rows[i].known, "row %zu: %zu known", i, p.known);
        }
}

Test(unpack_entry, bad_ones_are_refused)
{
        static const struct {
                struct entry before[MAX_BEFORE], entry;
                enum code code;
        } rows[] = {
                {{{0}}, FILE_("../a"), CODE_ARCHIVE_UNSAFE_PATH},
                {{{0}}, FILE_("__MACOSX/../../a"), CODE_ARCHIVE_UNSAFE_PATH},
                {{{0}}, FILE_("."), CODE_ARCHIVE_UNSAFE_PATH},
                {{{0}}, LINK("./", "a"), CODE_ARCHIVE_UNSAFE_PATH},
                {{{0}}, FILE_("a\n"), CODE_ARCHIVE_BAD_NAME},
                {{{0}}, SPECIAL("a"), CODE_ARCHIVE_SPECIAL},
                {{{0}}, SPECIAL("__MACOSX/a"), CODE_ARCHIVE_SPECIAL},
                {{{0}}, {.type = ENTRY_FILE, .path = "a", .encrypted = true},
                        CODE_ARCHIVE_UNSUPPORTED},

                {{FILE_("a")}, FILE_("a"), CODE_ARCHIVE_COLLISION},
                {{FILE_("a")}, FILE_("A"), CODE_ARCHIVE_COLLISION},
                {{FOLDER("a")}, FILE_("a"), CODE_ARCHIVE_COLLISION},
                {{FILE_("a")}, FOLDER("a"), CODE_ARCHIVE_COLLISION},
                {{FILE_("a")}, FILE_("a/b"), CODE_ARCHIVE_COLLISION},
                {{FILE_("a/b")}, FILE_("A/c"), CODE_ARCHIVE_COLLISION},
                {{FOLDER("a")}, FOLDER("A"), CODE_ARCHIVE_COLLISION},
                {{LINK("a", "b")}, FOLDER("a"), CODE_ARCHIVE_COLLISION},
                {{FOLDER("a")}, LINK("a", "b"), CODE_ARCHIVE_COLLISION},

                {{{0}}, LINK("a", "/b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, LINK("a", "../b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, LINK("a/b", "../../c"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, LINK("a/b/c", "../d/../../../e"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, LINK("a", ""), CODE_ARCHIVE_LINK_ESCAPE},
                {{LINK("a", "b")}, FILE_("a/c"), CODE_ARCHIVE_LINK_ESCAPE},
                {{LINK("a", "b")}, FOLDER("a/c/d"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, HARD("a", "b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, HARD("a", "a"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, HARD("a", "/etc/passwd"), CODE_ARCHIVE_LINK_ESCAPE},
                {{{0}}, HARD("a", "../b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{FOLDER("b")}, HARD("a", "b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{LINK("b", "c")}, HARD("a", "b"), CODE_ARCHIVE_LINK_ESCAPE},
                {{FILE_("b")}, HARD("a", "B"), CODE_ARCHIVE_LINK_ESCAPE},
                {{FILE_("b")}, HARD("b", "b"), CODE_ARCHIVE_COLLISION},
                {{FILE_("b")}, {.type = ENTRY_HARDLINK, .path = "a", .target = "b", .size = 1},
                        CODE_ARCHIVE_DAMAGED},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct plan p;

                cr_assert_eq(judge(rows[i].before, &rows[i].entry, false, &p, &err), -1,
                        "row %zu: %s was taken", i, rows[i].entry.path);
                cr_expect_eq(
                        err.code, rows[i].code, "row %zu, %s: %s", i, rows[i].entry.path, err.text);
        }
}

Test(unpack_entry, links_out_can_be_left_out_with_a_warning)
{
        static const struct entry none[MAX_BEFORE], links[] = {
                                                            LINK("a", "../b"),
                                                            LINK("a", "/etc/passwd"),
                                                            HARD("a", "../b"),
                                                            HARD("a", "not-there"),
                                                    };

        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
                struct error err = {0};
                struct plan p;

                cr_assert_eq(judge(none, &links[i], true, &p, &err), 0, "%s", err.text);
                cr_expect_eq(p.step, PLAN_SKIP);
                cr_expect_not_null(p.warning);
        }
}

Test(unpack_entry, a_link_that_would_leave_a_common_top_folder_is_marked)
{
        static const struct {
                struct entry entry;
                bool marked;
        } rows[] = {
                {LINK("top/a", "b"), false},
                {LINK("top/a", "../top/b"), true},
                {LINK("top/a/b", "../c"), false},
                {LINK("top/a/b", "../../c"), true},
        };
        static const struct entry none[MAX_BEFORE];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct plan p;

                cr_assert_eq(judge(none, &rows[i].entry, false, &p, &err), 0);
                cr_expect_eq(p.reaches_top, rows[i].marked, "%s", rows[i].entry.target);
        }
}
