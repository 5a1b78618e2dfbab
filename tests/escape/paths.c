/* Ways out of the cell's root, by `..`, links and magic links. The argument names a file of the
 * host that must not be reached. */
#include "attempt.h"

#include <ftw.h>
#include <linux/openat2.h>
#include <sys/stat.h>

static const char *canary;
static struct stat root;

static void try_base(const char *base)
{
        char path[4096];
        int fd;

        snprintf(path, sizeof path, "%s/%s", base, canary);
        closed(path, O_RDONLY);
        fd = open(base, O_PATH | O_DIRECTORY);
        if (fd < 0)
                return;
        for (int up = 0; up < 64; up++) {
                int above = openat(fd, "..", O_PATH | O_DIRECTORY);
                struct stat st;

                if (above < 0)
                        break;
                close(fd);
                fd = above;
                if (up == 63 && fstat(fd, &st) == 0)
                        escaped_if("a root above the root",
                                st.st_ino != root.st_ino || st.st_dev != root.st_dev);
        }
        refused("openat(64 times .., canary)", openat(fd, canary + 1, O_RDONLY));
        close(fd);
}

static int is_canary(const char *path, const struct stat *st, int type, struct FTW *where)
{
        (void)st;
        (void)type;
        if (strcmp(path, "/usr") == 0 || strcmp(path, "/proc") == 0)
                return FTW_SKIP_SUBTREE;
        if (strcmp(path + where->base, strrchr(canary, '/') + 1) == 0)
                printf("ESCAPED %s: REACHED\n", path);
        return FTW_CONTINUE;
}

/* A working directory that leaves what it was below must not become a way up. */
static void moved_directory(void)
{
        mkdir("/tmp/a", 0700);
        mkdir("/tmp/a/b", 0700);
        mkdir("/tmp/a/b/c", 0700);
        if (chdir("/tmp/a/b/c") == 0 && rename("/tmp/a/b/c", "/tmp/c") == 0)
                try_base(".");
        rmdir("/tmp/c");
        try_base(".");
        escaped_if("chdir(..) of a removed directory",
                chdir("..") == 0 && open(canary + 1, O_PATH) >= 0);
}

int main(int argc, char **argv)
{
        static const char *const bases[] = {"/", "/..", "/proc/self/root", "/proc/self/root/..",
                "/proc/1/root", "/proc/1/cwd", "/proc/self/cwd/..", "/proc/thread-self/root",
                "/proc/self/task/../root", "/proc/self/fd/..", "/usr/..", "/proc/..", "/dev/pts/..",
                "/escape/..", "/tmp/up", "/tmp/root"};
        struct open_how anywhere = {.flags = O_RDONLY};

        if (argc != 2 || stat("/", &root) < 0)
                return 2;
        canary = argv[1];
        if (symlink("../../../../../../../../../..", "/tmp/up") < 0 ||
                symlink("/proc/1/root", "/tmp/root") < 0)
                return 2;
        for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
                try_base(bases[i]);
        refused("openat2", syscall(SYS_openat2, AT_FDCWD, canary, &anywhere, sizeof anywhere));
        moved_directory();
        nftw("/", is_canary, 64, FTW_PHYS | FTW_ACTIONRETVAL);
        return 0;
}
