/* Opening beneath a directory: sandbox/base/beneath, with openat2 and by the walk. */
#include "beneath.h"
#include "fd.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];
static int tree;

static void make_tree(void)
{
        snprintf(place, sizeof place, "/tmp/assay-beneath.XXXXXX");
        cr_assert_not_null(mkdtemp(place));
        tree = open(place, O_RDONLY | O_DIRECTORY);
        cr_assert(mkdirat(tree, "a", 0700) == 0 && mkdirat(tree, "a/b", 0700) == 0);
        fd_close(openat(tree, "a/b/file", O_WRONLY | O_CREAT, 0600));
        cr_assert_eq(symlinkat("b/file", tree, "a/inside"), 0);
        cr_assert_eq(symlinkat("/etc/passwd", tree, "a/outside"), 0);
        cr_assert_eq(symlinkat("a", tree, "folder"), 0);
        cr_assert_eq(symlinkat("/", tree, "root"), 0);
}

static void remove_tree(void)
{
        static const char *const names[] = {
                "a/b/file", "a/b/new", "a/inside", "a/outside", "folder", "root"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                unlinkat(tree, names[i], 0);
        unlinkat(tree, "a/b", AT_REMOVEDIR);
        unlinkat(tree, "a", AT_REMOVEDIR);
        fd_close(tree);
        rmdir(place);
}

static const struct {
        const char *path;
        int flags;
        int expected; /* errno, or 0 */
} rows[] = {
        {"a/b/file", O_RDONLY, 0},
        {"a//b/./file", O_RDONLY, 0},
        {"a/b", O_RDONLY | O_DIRECTORY, 0},
        {".", O_PATH, 0},
        {"a/b/new", O_WRONLY | O_CREAT | O_EXCL, 0},
        {"a/b/missing", O_RDONLY, ENOENT},
        {"", O_RDONLY, ENOENT},
        {"..", O_RDONLY, EXDEV},
        {"a/../../x", O_RDONLY, EXDEV},
        {"/etc/passwd", O_RDONLY, EXDEV},
        {"a/inside", O_RDONLY, ELOOP},
        {"a/outside", O_RDONLY, ELOOP},
        {"folder/b/file", O_RDONLY, ELOOP},
        {"root/etc/passwd", O_RDONLY, ELOOP},
        {"a/b/file/x", O_RDONLY, ENOTDIR},
};

static void check_rows(const char *how, int (*open_with)(int, const char *, int, mode_t))
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                int fd = open_with(tree, rows[i].path, rows[i].flags, 0600);
                int got = fd < 0 ? errno : 0;

                /* A walk sees a link where it wanted a directory: both refuse. */
                if (got == ENOTDIR && rows[i].expected == ELOOP)
                        got = ELOOP;
                cr_expect_eq(got, rows[i].expected, "%s: \"%s\": %s, expected %s", how,
                        rows[i].path, strerror(got), strerror(rows[i].expected));
                if (fd >= 0)
                        cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
                fd_close(fd);
                unlinkat(tree, "a/b/new", 0);
        }
}

Test(beneath, with_openat2, .init = make_tree, .fini = remove_tree)
{
        check_rows("openat2", beneath_open);
}

Test(beneath, by_the_walk, .init = make_tree, .fini = remove_tree)
{
        check_rows("walk", beneath_open_by_walk);
}

Test(beneath, not_into_another_mount)
{
        int slash = open("/", O_RDONLY | O_DIRECTORY);

        cr_expect_eq(beneath_open(slash, "proc/self", O_PATH, 0), -1);
        cr_expect_eq(errno, EXDEV);
        cr_expect_eq(beneath_open_by_walk(slash, "proc/version", O_RDONLY, 0), -1);
        cr_expect_eq(errno, EXDEV);
        fd_close(slash);
}

Test(beneath, places)
{
        static const char *const good[] = {"/a", "/tests", "/agent_output/x", "/a.b", "/..a"};
        static const char *const bad[] = {
                "", "a", "/", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/a/.."};

        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                cr_expect(beneath_is_place(good[i]), "%s", good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_not(beneath_is_place(bad[i]), "%s", bad[i]);
}
