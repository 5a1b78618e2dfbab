/* Control group hierarchies from /proc/self/mountinfo and /proc/self/cgroup, which the kernel
 * wrote. Called by the supervisor. */
#include "hierarchy.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the comma-separated list hold the word? */
static bool list_has(const char *list, const char *word)
{
        size_t len = strlen(word);

        for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
                        return true;
        return false;
}

/* One line of mountinfo: "id parent dev root place options … - type source super-options". */
struct mount_line {
        char *root, *place, *type, *options;
};

static bool parse_mount(char *line, struct mount_line *ret)
{
        char *field[6], *at = line;

        for (int i = 0; i < 6; i++)
                if (!(field[i] = strsep(&at, " ")) || !at)
                        return false;
        /* Any number of optional fields, then a lone dash. */
        while (at && strncmp(at, "- ", 2) != 0)
                strsep(&at, " ");
        if (!at)
                return false;
        at += 2;
        ret->root = field[3];
        ret->place = field[4];
        ret->type = strsep(&at, " ");
        if (!at || !strsep(&at, " ") || !at)
                return false;
        ret->options = at;
        ret->options[strcspn(at, "\n")] = '\0';
        return true;
}

static bool find_mount(const char *controller, char *ret_place, char *ret_root, size_t size)
{
        FILE *file = fopen("/proc/self/mountinfo", "re");
        char *line = NULL;
        size_t cap = 0;
        bool found = false;
        struct mount_line m;

        while (file && !found && getline(&line, &cap, file) > 0) {
                if (!parse_mount(line, &m))
                        continue;
                found = controller
                                ? strcmp(m.type, "cgroup") == 0 && list_has(m.options, controller)
                                : strcmp(m.type, "cgroup2") == 0;
                if (found) {
                        snprintf(ret_place, size, "%s", m.place);
                        snprintf(ret_root, size, "%s", m.root);
                }
        }
        free(line);
        if (file)
                fclose(file);
        return found;
}

/* Our group: the third field of "7:memory:/a/b", or of "0::/a/b". */
static bool find_group(const char *controller, char *ret_path, size_t size)
{
        FILE *file = fopen("/proc/self/cgroup", "re");
        char *line = NULL;
        size_t cap = 0;
        bool found = false;

        while (file && !found && getline(&line, &cap, file) > 0) {
                char *at = line, *list;

                line[strcspn(line, "\n")] = '\0';
                strsep(&at, ":");
                list = strsep(&at, ":");
                if (!at)
                        continue;
                found = controller ? list_has(list, controller) : *list == '\0';
                if (found)
                        snprintf(ret_path, size, "%s", at);
        }
        free(line);
        if (file)
                fclose(file);
        return found;
}

int hierarchy_open_own(const char *controller)
{
        char place[PATH_MAX], root[PATH_MAX], group[PATH_MAX], path[2 * PATH_MAX];
        const char *below = group;
        size_t len;

        if (!find_mount(controller, place, root, sizeof place) ||
                !find_group(controller, group, sizeof group))
                return -1;
        /* In a container the mount shows only a part of the tree, named by its root. */
        len = strlen(root);
        if (strcmp(root, "/") != 0 && strncmp(group, root, len) == 0 &&
                (group[len] == '/' || group[len] == '\0'))
                below = group + len;
        snprintf(path, sizeof path, "%s%s", place, below);
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int hierarchy_open_parent(int dir)
{
        struct stat here, above;
        int fd;

        if (faccessat(dir, "../cgroup.procs", F_OK, 0) < 0)
                return -1;
        fd = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && fstat(dir, &here) == 0 && fstat(fd, &above) == 0 &&
                here.st_dev == above.st_dev)
                return fd;
        fd_close(fd);
        return -1;
}
