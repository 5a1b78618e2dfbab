/* Watching a cell through /proc; see weak.h. Runs in the supervisor. The tree is complete: orphans
 * become children of the cell's first process. */
#include "weak.h"

#include "fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_PROCESSES = 4096 };

static ssize_t read_file(const char *path, char *out, size_t size)
{
        _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

        out[n > 0 ? n : 0] = '\0';
        return n;
}

static void add_stat(pid_t pid, struct weak_usage *u)
{
        char path[64], text[1024], *at;
        uint64_t field[16] = {0};

        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        if (read_file(path, text, sizeof text) <= 0 || !(at = strrchr(text, ')')))
                return;
        /* Fields 14 to 17 are user, system, children's user and system time; 20 the threads. */
        for (int i = 0; i < 24 && at; i++) {
                at = strchr(at + 1, ' ');
                if (at && i >= 11 && i <= 21)
                        field[i - 11] = strtoull(at + 1, NULL, 10);
        }
        u->cpu_us += (field[0] + field[1] + field[2] + field[3]) * 1000000ULL /
                     (uint64_t)sysconf(_SC_CLK_TCK);
        u->processes += field[6];
        u->memory += field[10] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Append the children of every thread of `pid` to the list. */
static unsigned add_children(pid_t pid, pid_t *list, unsigned count)
{
        char path[320], text[65536];
        DIR *dir;

        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        dir = opendir(path);
        for (struct dirent *thread; dir && (thread = readdir(dir));) {
                char *at = text, *end;

                if (thread->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread->d_name);
                if (read_file(path, text, sizeof text) <= 0)
                        continue;
                for (; count < MAX_PROCESSES; at = end) {
                        long child = strtol(at, &end, 10);

                        if (end == at)
                                break;
                        list[count++] = (pid_t)child;
                }
        }
        if (dir)
                closedir(dir);
        return count;
}

void weak_look(pid_t first, struct weak_usage *ret)
{
        static pid_t list[MAX_PROCESSES];
        unsigned count = add_children(first, list, 0);
        struct weak_usage reaped = {0};

        add_stat(first, &reaped);
        *ret = (struct weak_usage){.cpu_us = reaped.cpu_us};
        for (unsigned i = 0; i < count; i++) {
                add_stat(list[i], ret);
                count = add_children(list[i], list, count);
        }
}
