/* Which scripts an image's command names, in a tree of one layer. */
#include "images/script.h"

#include "fd.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELF "\177ELF and more"

static char place[] = "/tmp/assay-script-XXXXXX";
static struct merged merged;

static void write_file(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

        cr_assert_eq(fd_write_all(fd, text, strlen(text)), 0);
        fd_close(fd);
}

static void make_tree(void)
{
        static const char *const folders[] = {"a", "a/tree", "a/tree/bin", "a/tree/usr",
                "a/tree/usr/bin", "a/tree/grader", "a/tree/grader/bin", "a/tree/grader/suite"};
        static char layer[] = "a";
        struct error err;
        int store;

        cr_assert_not_null(mkdtemp(place));
        cr_assert_eq(chdir(place), 0);
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
                cr_assert_eq(mkdir(folders[i], 0755), 0);
        write_file("a/tree/bin/sh", ELF);
        write_file("a/tree/usr/bin/python3", ELF);
        write_file("a/tree/usr/bin/pytest", "#!/usr/bin/python3\n");
        write_file("a/tree/grader/run.sh", "#!/bin/sh\n");
        write_file("a/tree/grader/bin/tool", ELF);
        write_file("a/tree/grader/check", ELF);
        write_file("a/tree/grader/my run.sh", "#!/bin/sh\n");
        write_file("a/tree/grader/suite/main.py", "");
        write_file("a/tree/run", "x");
        cr_assert_eq(symlink("../../grader/run.sh", "a/tree/usr/bin/grade"), 0);
        cr_assert_eq(symlink("loop", "a/tree/loop"), 0);
        store = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        cr_assert_eq(merged_open(&merged, store, (char *[]){layer}, 1, &err), 0);
        fd_close(store);
}

static void remove_tree(void)
{
        static const char *const all[] = {"a/tree/bin/sh", "a/tree/usr/bin/python3",
                "a/tree/usr/bin/pytest", "a/tree/usr/bin/grade", "a/tree/grader/run.sh",
                "a/tree/grader/bin/tool", "a/tree/grader/check", "a/tree/grader/my run.sh",
                "a/tree/grader/suite/main.py", "a/tree/grader/suite", "a/tree/run", "a/tree/loop",
                "a/tree/grader/bin", "a/tree/grader", "a/tree/usr/bin", "a/tree/usr", "a/tree/bin",
                "a/tree", "a", place};

        merged_close(&merged);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                remove(all[i]);
}

TestSuite(unpack_script, .init = make_tree, .fini = remove_tree);

static int note(void *to, enum script_kind kind, const char *path, struct error *err)
{
        (void)err;
        buffer_add_format(to, "%s%s ", path,
                kind == SCRIPT_DIRECTORY ? "(directory)"
                : kind == SCRIPT_UNKNOWN ? "(unknown)"
                                         : "");
        return 0;
}

static const struct {
        const char *words[4], *workdir, *found;
} commands[] = {
        {{"/grader/run.sh"}, "/", "/grader/run.sh "},
        {{"/bin/sh", "/grader/run.sh"}, "/", "/grader/run.sh "},
        {{"sh", "run.sh"}, "/grader", "/grader/run.sh "},
        {{"./run.sh"}, "/grader", "/grader/./run.sh "},
        {{"grade"}, "/", "/usr/bin/grade "},
        {{"pytest", "-q"}, "", "/usr/bin/pytest "},
        {{"python3", "-m", "pytest"}, "/", "/usr/bin/pytest "},
        {{"/usr/bin/env", "grade"}, "/", "/usr/bin/grade "},
        {{"sh", "-c", "grade"}, "/", "/usr/bin/grade "},
        {{"python3", "-m", "suite.main"}, "/grader", "/grader/suite/main.py "},
        {{"sh", "-c", "(/grader/run.sh)>/x"}, "/", "/grader/run.sh "},
        {{"sh", "-c", "'/grader/my run.sh' \"x\""}, "/", "/grader/my run.sh "},
        {{"sh", "-c", "$RUN /grader/*.sh ~/x"}, "/",
                "$RUN(unknown) /grader/*.sh(unknown) ~/x(unknown) "},
        {{"sh", "-c", "cd /grader && cd /usr && ./run.sh"}, "/",
                "/grader(directory) /usr(directory) /grader/./run.sh "},
        {{"/bin/sh", "-c", "python3 -m pytest; grade"}, "/", "/usr/bin/pytest /usr/bin/grade "},
        {{"/bin/sh", "-c", "exec /grader/run.sh>log"}, "/", "/grader/run.sh "},
        {{"/bin/sh", "-c", "cd /grader && ./run.sh"}, "/", "/grader(directory) /grader/./run.sh "},
        {{"sh", "--init=/grader/run.sh"}, "/", "/grader/run.sh "},
        /* Programs of machine code: those in bin are tools. */
        {{"/grader/check", "/grader/bin/tool"}, "/", "/grader/check "},
        /* The root, the working directory, and what is not there. */
        {{"sh", "/", "/grader", "/nowhere/x"}, "/grader", ""},
        {{"/loop/x", "/bin/sh/x", "", "/../run"}, "/loop", "/../run "},
};

Test(unpack_script, commands)
{
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
                _cleanup_buffer_ struct buffer found = BUFFER_INIT;
                struct command c = {.words = (char **)(uintptr_t)commands[i].words,
                        .workdir = (char *)(uintptr_t)commands[i].workdir,
                        .search = (char[]){"/usr/bin:/bin:"}};
                struct error err = {0};

                while (c.count < 4 && c.words[c.count])
                        c.count++;
                cr_expect_eq(script_find(&merged, &c, note, &found, &err), 0, "row %zu: %s", i,
                        err.text);
                cr_expect_str_eq(buffer_text(&found), commands[i].found, "row %zu: found %s", i,
                        buffer_text(&found));
        }
}

Test(unpack_script, a_command_without_bound_is_refused)
{
        static char line[20000];
        char *words[] = {line};
        const struct command c = {.words = words,
                .count = 1,
                .workdir = line + sizeof line - 1,
                .search = line + sizeof line - 1};
        struct error err = {0};

        memset(line, ' ', sizeof line - 1);
        for (size_t i = 0; i + 2 < sizeof line; i += 2)
                line[i] = 'a';
        cr_assert_eq(script_find(&merged, &c, note, NULL, &err), -1);
        cr_assert_eq(err.code, CODE_IMAGE_UNSUPPORTED);
}
