/* Which control group is ours, and where: sandbox/hierarchy. */
#include "sandbox/hierarchy.h"

#include <criterion/criterion.h>

Test(hierarchy, mounts)
{
        static const struct {
                const char *line, *controller, *place, *root; /* place NULL: not this one */
        } rows[] = {
                {"30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw", NULL,
                        "/sys/fs/cgroup", "/"},
                {"30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", NULL, "/sys/fs/cgroup",
                        "/"},
                {"30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "memory", NULL, NULL},
                {"33 30 0:30 /docker/abc /sys/fs/cgroup/memory ro master:9 - cgroup cgroup "
                 "rw,memory",
                        "memory", "/sys/fs/cgroup/memory", "/docker/abc"},
                {"33 30 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct", "cpuacct", "/cg/cpu",
                        "/"},
                {"33 30 0:30 / /cg/cpu rw - cgroup cgroup rw,cpuset", "cpu", NULL, NULL},
                {"33 30 0:30 / /with\\040space rw - cgroup2 none rw", NULL, "/with space", "/"},
                {"22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw", NULL, NULL, NULL},
                {"33 30 0:30 / /cg rw", NULL, NULL, NULL},
                {"", NULL, NULL, NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct hierarchy_mount got;
                char line[256];
                bool found;

                snprintf(line, sizeof line, "%s", rows[i].line);
                found = hierarchy_match_mount(line, rows[i].controller, &got);
                cr_assert_eq(found, rows[i].place != NULL, "%s", rows[i].line);
                if (found) {
                        cr_expect_str_eq(got.place, rows[i].place);
                        cr_expect_str_eq(got.root, rows[i].root);
                }
        }
}

Test(hierarchy, groups)
{
        static const struct {
                const char *line, *controller, *group;
        } rows[] = {
                {"0::/user.slice/a.scope\n", NULL, "/user.slice/a.scope"},
                {"0::/", "memory", NULL},
                {"7:memory:/a/b", "memory", "/a/b"},
                {"7:memory:/a/b", NULL, NULL},
                {"3:cpu,cpuacct:/c:d", "cpuacct", "/c:d"},
                {"9:name=systemd:/", "systemd", NULL},
                {"nonsense", NULL, NULL},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char line[128];
                const char *got;

                snprintf(line, sizeof line, "%s", rows[i].line);
                got = hierarchy_match_group(line, rows[i].controller);
                if (!rows[i].group)
                        cr_expect_null(got, "%s", rows[i].line);
                else
                        cr_expect_str_eq(got, rows[i].group);
        }
}

Test(hierarchy, the_part_below_what_a_container_shows)
{
        cr_expect_str_eq(hierarchy_below("/docker/abc/x", "/docker/abc"), "/x");
        cr_expect_str_eq(hierarchy_below("/docker/abc", "/docker/abc"), "");
        cr_expect_str_eq(hierarchy_below("/docker/abcd", "/docker/abc"), "/docker/abcd");
        cr_expect_str_eq(hierarchy_below("/a", "/"), "/a");
}
