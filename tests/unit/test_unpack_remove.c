/* Removing trees that were made to be hard to remove. */
#include "images/remove.h"

#include "fd.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct playground {
        char path[64];
        int tree; /* what is to be emptied, inside `path` */
};

static struct playground playground_make(void)
{
        struct playground p = {.path = "/tmp/assay-remove-XXXXXX"};

        cr_assert_not_null(mkdtemp(p.path));
        cr_assert_eq(chdir(p.path), 0);
        cr_assert_eq(mkdir("tree", 0755), 0);
        cr_assert_eq(mkdir("beside", 0755), 0);
        cr_assert_geq(close(creat("beside/kept", 0644)), 0);
        p.tree = open("tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return p;
}

/* Empty the tree, see that nothing beside it went, clean up. */
static void playground_end(struct playground *p, uint64_t expected)
{
        struct error err = {0};
        uint64_t removed = 0;

        cr_assert_eq(remove_below(p->tree, &removed, &err), 0, "%s", err.text);
        cr_expect_eq(removed, expected, "removed %llu", (unsigned long long)removed);
        fd_close(p->tree);
        cr_expect_eq(rmdir("tree"), 0, "the tree is not empty");
        cr_expect_eq(unlink("beside/kept"), 0, "it left the tree");
        rmdir("beside");
        rmdir(p->path);
}

/* `depth` folders inside each other below `dir`. */
static void make_chain(int dir, unsigned depth)
{
        int here = dup(dir);

        while (depth-- > 0) {
                int next;

                cr_assert_eq(mkdirat(here, "d", 0755), 0);
                next = openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                fd_close(here);
                here = next;
        }
        fd_close(here);
}

Test(unpack_remove, nothing)
{
        struct playground p = playground_make();

        playground_end(&p, 0);
}

Test(unpack_remove, a_very_deep_tree)
{
        struct playground p = playground_make();

        make_chain(p.tree, 30000);
        playground_end(&p, 30000);
}

Test(unpack_remove, a_wide_tree_of_folders_that_are_not_empty)
{
        struct playground p = playground_make();
        char name[32];

        for (int i = 0; i < 5000; i++) {
                snprintf(name, sizeof name, "folder-%d", i);
                cr_assert_eq(mkdirat(p.tree, name, 0755), 0);
                snprintf(name, sizeof name, "folder-%d/file", i);
                fd_close(openat(p.tree, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        }
        playground_end(&p, 10000);
}

Test(unpack_remove, folders_without_permissions)
{
        static const mode_t modes[] = {0, 0100, 0200, 0400, 0500};
        struct playground p = playground_make();
        char name[32];

        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
                snprintf(name, sizeof name, "%zu", i);
                cr_assert_eq(mkdirat(p.tree, name, 0755), 0);
                snprintf(name, sizeof name, "%zu/d", i);
                cr_assert_eq(mkdirat(p.tree, name, 0), 0);
                snprintf(name, sizeof name, "%zu", i);
                cr_assert_eq(fchmodat(p.tree, name, modes[i], 0), 0);
        }
        playground_end(&p, 10);
}

Test(unpack_remove, links_and_pipes_as_what_they_are)
{
        struct playground p = playground_make();

        cr_assert_eq(symlinkat("../beside", p.tree, "link"), 0);
        cr_assert_eq(symlinkat("/", p.tree, "root"), 0);
        cr_assert_eq(symlinkat("link", p.tree, "link2"), 0);
        cr_assert_eq(mkfifoat(p.tree, "pipe", 0), 0);
        cr_assert_eq(linkat(AT_FDCWD, "beside/kept", p.tree, "hard", 0), 0);
        playground_end(&p, 5);
}
