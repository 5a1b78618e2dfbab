/* What the catalog of names knows of a tree. */
#include "images/catalog.h"

#include <criterion/criterion.h>

enum { MAX_PATHS = 4 };

static void fill(struct catalog *c, const char *const paths[MAX_PATHS], uint64_t max)
{
        struct error err = {0};
        size_t known;

        catalog_init(c, max);
        for (int i = 0; i < MAX_PATHS && paths[i]; i++) {
                size_t len = strlen(paths[i]);
                bool folder = paths[i][len - 1] == '/';
                char path[64];

                snprintf(path, sizeof path, "%.*s", (int)(folder ? len - 1 : len), paths[i]);
                cr_assert_eq(
                        catalog_add(c, path, folder ? NODE_DIRECTORY : NODE_FILE, &known, &err), 0,
                        "%s: %s", paths[i], err.text);
        }
}

Test(unpack_catalog, finds_the_common_top_folder)
{
        static const struct {
                const char *paths[MAX_PATHS], *root;
        } rows[] = {
                {{"top/a"}, "top"},
                {{"top/", "top/a", "top/b/c"}, "top"},
                {{"top/top/a"}, "top"},
                {{"top/a", "b"}, NULL},
                {{"top/a", "other/"}, NULL},
                {{"a"}, NULL},
                {{NULL}, NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_catalog_ struct catalog c;
                const char *root;

                fill(&c, rows[i].paths, 100);
                root = catalog_common_root(&c);
                cr_expect_str_eq(root ? root : "none", rows[i].root ? rows[i].root : "none");
        }
}

Test(unpack_catalog, counts_the_folders_that_are_only_implied)
{
        static const char *const paths[MAX_PATHS] = {"a/b/c", "a/b/d", "a/"};
        _cleanup_catalog_ struct catalog c;

        fill(&c, paths, 100);
        cr_expect_eq(c.count, 4);
        cr_expect_eq(c.files, 2);
}

Test(unpack_catalog, refuses_more_than_allowed)
{
        static const char *const paths[MAX_PATHS] = {"a/b/c"};
        _cleanup_catalog_ struct catalog c;
        struct error err = {0};
        size_t known;

        fill(&c, paths, 3);
        cr_expect_eq(catalog_add(&c, "a/b", NODE_DIRECTORY, &known, &err), 0);
        cr_expect_eq(catalog_add(&c, "d", NODE_FILE, &known, &err), -1);
        cr_expect_eq(err.code, CODE_ARCHIVE_ENTRIES);
}

Test(unpack_catalog, finds_a_file_in_any_letter_case)
{
        static const char *const paths[MAX_PATHS] = {"Submission.MD", "top/submission.md", "x/"};
        _cleanup_catalog_ struct catalog c;

        fill(&c, paths, 100);
        cr_expect_str_eq(catalog_find_file(&c, "", "SUBMISSION.md"), "Submission.MD");
        cr_expect_str_eq(catalog_find_file(&c, "top", "SUBMISSION.md"), "submission.md");
        cr_expect_null(catalog_find_file(&c, "x", "SUBMISSION.md"));
        cr_expect_null(catalog_find_file(&c, "", "top"));
}
