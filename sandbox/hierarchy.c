/* Control group hierarchies from /proc/self/mountinfo and /proc/self/cgroup, which the kernel
 * wrote. Called by the supervisor. */
#include "hierarchy.h"

#include "buffer.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20 };

/* Does the comma-separated list hold the word? */
static bool list_has(const char *list, const char *word)
{
        size_t len = strlen(word);

        for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
                        return true;
        return false;
}

/* Spaces and the like stand in mountinfo as \ooo. */
static void unescape(char *text)
{
        char *to = text;

        for (const char *at = text; *at; to++) {
                if (at[0] == '\\' && at[1] && at[2] && at[3]) {
                        char octal[] = {at[1], at[2], at[3], '\0'};

                        *to = (char)strtoul(octal, NULL, 8);
                        at += 4;
                } else
                        *to = *at++;
        }
        *to = '\0';
}

/* "id parent dev root place options … - type source super-options" */
bool hierarchy_match_mount(char *line, const char *controller, struct hierarchy_mount *ret)
{
        char *field[6], *at = line, *type;

        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < 6; i++)
                if (!(field[i] = strsep(&at, " ")) || !at)
                        return false;
        /* Any number of optional fields, then a lone dash. */
        while (at && strncmp(at, "- ", 2) != 0)
                strsep(&at, " ");
        if (!at)
                return false;
        at += 2;
        type = strsep(&at, " ");
        if (!at || !strsep(&at, " ") || !at)
                return false;
        if (controller ? strcmp(type, "cgroup") != 0 || !list_has(at, controller)
                       : strcmp(type, "cgroup2") != 0)
                return false;
        unescape(field[3]);
        unescape(field[4]);
        snprintf(ret->root, sizeof ret->root, "%s", field[3]);
        snprintf(ret->place, sizeof ret->place, "%s", field[4]);
        return true;
}

/* "7:memory:/a/b", or "0::/a/b" */
const char *hierarchy_match_group(char *line, const char *controller)
{
        char *at = line, *list;

        line[strcspn(line, "\n")] = '\0';
        strsep(&at, ":");
        list = strsep(&at, ":");
        if (!at)
                return NULL;
        return (controller ? list_has(list, controller) : *list == '\0') ? at : NULL;
}

/* In a container the mount shows only a part of the tree, named by its root. */
const char *hierarchy_below(const char *group, const char *root)
{
        size_t len = strlen(root);

        if (strcmp(root, "/") != 0 && strncmp(group, root, len) == 0 &&
                (group[len] == '/' || group[len] == '\0'))
                return group + len;
        return group;
}

/* A whole file of /proc; "" without it. */
static void read_whole(const char *path, struct buffer *ret)
{
        _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || fd_read_all(fd, ret, MOST_BYTES, CODE_INFRA_CGROUP, NULL) < 0)
                buffer_clear(ret);
}

/* The matchers change their line, so each gets a copy. */
static const char *next_line(const char **at, char *line, size_t size)
{
        size_t len = strcspn(*at, "\n");

        if (**at == '\0')
                return NULL;
        snprintf(line, size, "%.*s", (int)len, *at);
        *at += len + ((*at)[len] == '\n');
        return line;
}

static const char *find_group(const char *groups, const char *controller, char *line, size_t size)
{
        const char *group = NULL;

        while (!group && next_line(&groups, line, size))
                group = hierarchy_match_group(line, controller);
        return group;
}

/* Where almost every system has it; what lies there must be a hierarchy. In a container that sees
 * only a part of it, the path is another, and the list of mounts tells which. */
static int open_usual(const char *group, const char *controller)
{
        static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
        const unsigned long wanted = controller ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC;
        char path[2 * PATH_MAX];

        for (unsigned i = 0; i < (controller ? 1 : 2); i++) {
                _cleanup_fd_ int dir = -EBADF;
                struct statfs st;

                snprintf(path, sizeof path, "%s%s%s%s", places[i], controller ? "/" : "",
                        controller ? controller : "", group);
                dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (dir >= 0 && fstatfs(dir, &st) == 0 && (unsigned long)st.f_type == wanted)
                        return take_fd(&dir);
        }
        return -1;
}

static int open_mounted(const char *mounts, const char *group, const char *controller)
{
        struct hierarchy_mount mount;
        char line[2 * PATH_MAX], path[2 * PATH_MAX];
        bool found = false;

        while (!found && next_line(&mounts, line, sizeof line))
                found = hierarchy_match_mount(line, controller, &mount);
        if (!found)
                return -1;
        snprintf(path, sizeof path, "%s%s", mount.place, hierarchy_below(group, mount.root));
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void hierarchy_open_own(const char *const *controllers, unsigned count, int *ret)
{
        _cleanup_buffer_ struct buffer groups = BUFFER_INIT, mounts = BUFFER_INIT;

        read_whole("/proc/self/cgroup", &groups);
        for (unsigned i = 0; i < count; i++) {
                char line[2 * PATH_MAX];
                const char *group =
                        find_group(buffer_text(&groups), controllers[i], line, sizeof line);

                ret[i] = group ? open_usual(group, controllers[i]) : -1;
                if (ret[i] >= 0 || !group)
                        continue;
                if (mounts.len == 0)
                        read_whole("/proc/self/mountinfo", &mounts);
                ret[i] = open_mounted(buffer_text(&mounts), group, controllers[i]);
        }
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
