/* Filling the cell's disk: KIND, and where the limit lies. What is left is not cleaned up. */
#include "attempt.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

static const char *const places[] = {
        "/tmp", "/var/tmp", "/dev/shm", "/", "/run", "/root", "/home", "/usr/share", "/etc"};

/* All places together take no more than the limit. */
static void bytes(long limit)
{
        static char block[65536];
        long sum = 0;

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                char path[64];
                int fd;
                ssize_t n;

                snprintf(path, sizeof path, "%s/filled", places[i]);
                fd = open(path, O_WRONLY | O_CREAT, 0600);
                while (fd >= 0 && (n = write(fd, block, sizeof block)) > 0 && sum <= limit)
                        sum += n;
                if (fd >= 0)
                        note(path, "%s after %ld bytes in all", strerrorname_np(errno), sum);
        }
        escaped_if("more bytes than the limit", sum > limit);
}

static void inodes(long limit)
{
        enum { OF_THE_ROOT = 64 }; /* what every cell's root holds may come on top */
        long sum = 0;
        char path[64];

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                for (;; sum++) {
                        snprintf(path, sizeof path, "%s/%ld", places[i], sum);
                        if (mknod(path, S_IFREG | 0600, 0) < 0 || sum > limit + OF_THE_ROOT)
                                break;
                }
                note(places[i], "%s after %ld inodes in all", strerrorname_np(errno), sum);
        }
        escaped_if("more inodes than the limit", sum > limit + OF_THE_ROOT);
}

static void sparse(long limit)
{
        int fd = open("/tmp/sparse", O_RDWR | O_CREAT, 0600);
        struct stat st;

        note("a hole of 1 TiB", "%d", ftruncate(fd, 1L << 40));
        refused("fallocate(1 TiB)", fallocate(fd, 0, 0, 1L << 40));
        for (long at = 0; at < 4 * limit && pwrite(fd, "x", 1, at) == 1; at += 4096)
                continue;
        fstat(fd, &st);
        escaped_if("more blocks than the limit", st.st_blocks * 512 > limit);
}

/* From the inside out: where each step goes down, looking up what lies above takes ever longer. */
static void deep(long limit)
{
        long depth = 0;

        if (chdir("/tmp") < 0 || mkdir("d", 0700) < 0)
                return;
        while (depth < limit && mkdir("around", 0700) == 0 && rename("d", "around/d") == 0 &&
                rename("around", "d") == 0)
                depth++;
        note("depth", "%ld (%s)", depth, depth < limit ? strerrorname_np(errno) : "as wanted");
}

static void unreadable(long limit)
{
        char path[64];

        for (long i = 0; i < limit; i++) {
                snprintf(path, sizeof path, "/tmp/%ld", i);
                mkdir(path, 0700);
                snprintf(path, sizeof path, "/tmp/%ld/below", i);
                mkdir(path, 0);
                snprintf(path, sizeof path, "/tmp/%ld", i);
                chmod(path, 0);
        }
        chmod("/tmp", 0);
        chmod("/", 0);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(long limit);
        } kinds[] = {{"bytes", bytes}, {"inodes", inodes}, {"sparse", sparse}, {"deep", deep},
                {"unreadable", unreadable}};

        for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(argv[1], kinds[i].name) == 0) {
                        kinds[i].run(strtol(argv[2], NULL, 10));
                        return 0;
                }
        return 2;
}
