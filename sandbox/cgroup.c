/* Control groups of cells; see cgroup.h. Runs in the supervisor. */
#include "cgroup.h"

#include "fd.h"
#include "hierarchy.h"
#include "messages.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name_prefix[] = "assay-";

/* How a limit is written: one row a file. Optional files are those that a kernel may lack. */
struct limit_file {
        enum hierarchy hierarchy;
        const char *file;
        enum limit limit;
        const char *format; /* of the value */
        bool optional;
};

enum {
        CPU_PERIOD_US = 100000,
};

/* The cell's first process comes on top of what a task may start. */
enum { OWN_PIDS = 1 };

static const struct limit_file files_v2[] = {
        {HIERARCHY_MEMORY, "memory.max", LIMIT_MEMORY, "%llu", false},
        {HIERARCHY_MEMORY, "memory.swap.max", LIMIT_MEMORY, "0", true},
        {HIERARCHY_PIDS, "pids.max", LIMIT_PIDS, "%llu", false},
        {HIERARCHY_CPU, "cpu.max", LIMIT_CPUS, "%llu 100000", true},
};

static const struct limit_file files_v1[] = {
        {HIERARCHY_MEMORY, "memory.limit_in_bytes", LIMIT_MEMORY, "%llu", false},
        {HIERARCHY_MEMORY, "memory.memsw.limit_in_bytes", LIMIT_MEMORY, "%llu", true},
        {HIERARCHY_MEMORY, "memory.kmem.tcp.limit_in_bytes", LIMIT_MEMORY, "%llu", true},
        {HIERARCHY_PIDS, "pids.max", LIMIT_PIDS, "%llu", false},
        {HIERARCHY_CPU, "cpu.cfs_quota_us", LIMIT_CPUS, "%llu", true},
};

static int write_at(int dir, const char *file, const char *text)
{
        _cleanup_fd_ int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

        return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

static ssize_t read_at(int dir, const char *file, char *out, size_t size)
{
        _cleanup_fd_ int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

        out[n > 0 ? n : 0] = '\0';
        return n;
}

/* What a group tells is a number, behind a key or at the start of a file. */
struct told {
        enum hierarchy hierarchy;
        const char *file, *key;
        bool optional; /* an older kernel may lack it */
};

static const struct told told_v2[CGROUP_FILES] = {
        [CGROUP_CPU_TIME] = {HIERARCHY_UNIFIED, "cpu.stat", "usage_usec", true},
        [CGROUP_OOM_KILLS] = {HIERARCHY_MEMORY, "memory.events", "oom_kill", false},
        [CGROUP_MEMORY_PEAK] = {HIERARCHY_MEMORY, "memory.peak", NULL, true},
        [CGROUP_PIDS_PEAK] = {HIERARCHY_PIDS, "pids.peak", NULL, true},
        [CGROUP_PIDS_EVENTS] = {HIERARCHY_PIDS, "pids.events", "max", false},
};

static const struct told told_v1[CGROUP_FILES] = {
        [CGROUP_CPU_TIME] = {HIERARCHY_CPU, "cpuacct.usage", NULL,
                true}, /* without a version 2 tree */
        [CGROUP_OOM_KILLS] = {HIERARCHY_MEMORY, "memory.oom_control", "oom_kill", false},
        [CGROUP_MEMORY_PEAK] = {HIERARCHY_MEMORY, "memory.max_usage_in_bytes", NULL, true},
        [CGROUP_PIDS_PEAK] = {HIERARCHY_PIDS, "pids.peak", NULL, true},
        [CGROUP_PIDS_EVENTS] = {HIERARCHY_PIDS, "pids.events", "max", false},
};

static const struct told *told(const struct cgroup *g, enum cgroup_file file)
{
        bool v2 = g->root->version == 2 ||
                  (file == CGROUP_CPU_TIME && g->dirs[HIERARCHY_UNIFIED] >= 0);

        return &(v2 ? told_v2 : told_v1)[file];
}

/* 0 if the kernel does not tell. Read by the same descriptor that is polled: only that makes it
 * quiet until the next event. */
static uint64_t number(const struct cgroup *g, enum cgroup_file file)
{
        const char *key = told(g, file)->key;
        char text[1024];
        const char *at = text;
        ssize_t n = g->files[file] < 0 ? -1 : pread(g->files[file], text, sizeof text - 1, 0);

        if (n <= 0)
                return 0;
        text[n] = '\0';
        if (key) {
                size_t len = strlen(key);

                while (at && (strncmp(at, key, len) != 0 || at[len] != ' '))
                        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
                if (!at)
                        return 0;
                at += len + 1;
        }
        return strtoull(at, NULL, 10);
}

/* --- finding a place ----------------------------------------------------------------------- */

static bool may_make(int dir)
{
        return dir >= 0 && faccessat(dir, ".", W_OK, AT_EACCESS) == 0;
}

/* Is the word in a list with spaces between? "cpu" is not in "cpuset memory". */
static bool has_word(const char *list, const char *word)
{
        size_t len = strlen(word);

        for (const char *at = list; (at = strstr(at, word)); at += len)
                if ((at == list || at[-1] == ' ') &&
                        (at[len] == ' ' || at[len] == '\n' || !at[len]))
                        return true;
        return false;
}

/* A group whose children get memory and pids. Only a group without processes of its own (or the
 * root) may hand controllers down, so the search climbs. */
static int find_v2_parent(int own)
{
        int here = own;

        while (here >= 0) {
                char text[256];
                int above;

                if (may_make(here)) {
                        /* One by one: together, one that is not there would refuse all. */
                        write_at(here, "cgroup.subtree_control", "+memory");
                        write_at(here, "cgroup.subtree_control", "+pids");
                        write_at(here, "cgroup.subtree_control", "+cpu");
                        read_at(here, "cgroup.subtree_control", text, sizeof text);
                        if (has_word(text, "memory") && has_word(text, "pids"))
                                return here;
                }
                above = hierarchy_open_parent(here);
                fd_close(here);
                here = above;
        }
        return -1;
}

static void find_v1(struct cgroup_root *ret)
{
        if (may_make(ret->parents[HIERARCHY_MEMORY]) && may_make(ret->parents[HIERARCHY_PIDS]))
                ret->version = 1;
        else
                snprintf(ret->why_not, sizeof ret->why_not,
                        "the memory and pids groups of version 1 belong to root");
        if (!may_make(ret->parents[HIERARCHY_CPU]))
                ret->parents[HIERARCHY_CPU] = fd_close(ret->parents[HIERARCHY_CPU]);
        if (!may_make(ret->parents[HIERARCHY_UNIFIED]))
                ret->parents[HIERARCHY_UNIFIED] = fd_close(ret->parents[HIERARCHY_UNIFIED]);
}

static void find_v2(struct cgroup_root *ret)
{
        char text[256];
        int parent;

        parent = find_v2_parent(take_fd(&ret->parents[HIERARCHY_UNIFIED]));
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                ret->parents[i] = fd_close(ret->parents[i]);
        if (parent < 0) {
                snprintf(ret->why_not, sizeof ret->why_not,
                        "no group of version 2 that this user may use");
                return;
        }
        ret->version = 2;
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                ret->parents[i] = parent;
        read_at(parent, "cgroup.subtree_control", text, sizeof text);
        if (!has_word(text, "cpu"))
                ret->parents[HIERARCHY_CPU] = -EBADF;
}

bool cgroup_counts_cpu(const struct cgroup_root *root)
{
        return root->version != 0 &&
               (root->parents[HIERARCHY_UNIFIED] >= 0 ||
                       faccessat(root->parents[HIERARCHY_CPU], "cpuacct.usage", F_OK, 0) == 0);
}

/* Memory belongs to one version at a time; where it is mounted decides. */
void cgroup_find(struct cgroup_root *ret)
{
        static const char *const controllers[HIERARCHY_COUNT] = {
                [HIERARCHY_MEMORY] = "memory",
                [HIERARCHY_PIDS] = "pids",
                [HIERARCHY_CPU] = "cpu",
                [HIERARCHY_UNIFIED] = NULL,
        };

        *ret = (struct cgroup_root){0};
        hierarchy_open_own(controllers, HIERARCHY_COUNT, ret->parents);
        if (ret->parents[HIERARCHY_MEMORY] >= 0)
                find_v1(ret);
        else
                find_v2(ret);
}

/* --- making and removing -------------------------------------------------------------------- */

static bool is_shared(const struct cgroup_root *root, unsigned hierarchy)
{
        return root->version == 2 && hierarchy != HIERARCHY_UNIFIED;
}

/* Lock a directory that nobody has, and that still is the one of that name: what was opened may
 * have been removed since, and its name be another cell's. */
static bool take_over(int parent, const char *name, int dir)
{
        struct stat mine, there;

        return flock(dir, LOCK_EX | LOCK_NB) == 0 && fstat(dir, &mine) == 0 &&
               fstatat(parent, name, &there, 0) == 0 && mine.st_ino == there.st_ino;
}

/* The directory of one hierarchy, made by us and locked: another supervisor that sweeps leaves it
 * alone then. 0, or -1 with errno EEXIST when the slot is somebody else's. */
static int make_dir(struct cgroup *g, unsigned hierarchy)
{
        int parent = g->root->parents[hierarchy];
        int dir;

        if (mkdirat(parent, g->name, 0755) < 0)
                return -1;
        dir = openat(parent, g->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0 && errno != ENOENT) {
                unlinkat(parent, g->name, AT_REMOVEDIR); /* made in vain: it must not stay */
                return -1;
        }
        if (dir >= 0 && take_over(parent, g->name, dir)) {
                g->dirs[hierarchy] = dir;
                return 0;
        }
        /* A sweep came between our making and locking it. */
        fd_close(dir);
        errno = EEXIST;
        return -1;
}

/* The hierarchy that decides about a slot: the one that a process can be born in, or memory. */
static unsigned first_hierarchy(const struct cgroup_root *root)
{
        return root->parents[HIERARCHY_UNIFIED] >= 0 ? HIERARCHY_UNIFIED : HIERARCHY_MEMORY;
}

static int set_limits(const struct cgroup *g, const struct limits *limits, struct error *err)
{
        bool v2 = g->root->version == 2;
        const struct limit_file *row = v2 ? files_v2 : files_v1;
        size_t count = v2 ? sizeof files_v2 / sizeof *row : sizeof files_v1 / sizeof *row;

        for (; count > 0; row++, count--) {
                unsigned long long value = limits->value[row->limit];
                char text[64];

                if (g->dirs[row->hierarchy] < 0)
                        continue;
                if (row->limit == LIMIT_PIDS)
                        value += OWN_PIDS;
                if (row->limit == LIMIT_CPUS)
                        value = value * CPU_PERIOD_US / 1000;
                        /* The rows are ours; each takes one number or none. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                snprintf(text, sizeof text, row->format, value);
#pragma GCC diagnostic pop
                if (write_at(g->dirs[row->hierarchy], row->file, text) < 0 &&
                        !(row->optional && (errno == ENOENT || errno == EOPNOTSUPP)))
                        return error_errno(
                                err, CODE_INFRA_CGROUP, errno, "cannot set %s", row->file);
        }
        return 0;
}

int cgroup_claim(
        const struct cgroup_root *root, unsigned slot, struct cgroup *ret, struct error *err)
{
        struct cgroup g = CGROUP_INIT;

        g.slot = slot;
        if (root->version != 0) {
                g.root = root;
                snprintf(g.name, sizeof g.name, "%s%u", name_prefix, slot);
                if (make_dir(&g, first_hierarchy(root)) < 0)
                        return errno == EEXIST ? 0
                                               : error_errno(err, CODE_INFRA_CGROUP, errno,
                                                         "cannot make the group %s", g.name);
        }
        *ret = g;
        return 1;
}

void cgroup_remove(struct cgroup *g)
{
        bool left = false;

        for (unsigned i = 0; i < CGROUP_FILES; i++)
                g->files[i] = fd_close(g->files[i]);
        cgroup_close_doors(g);
        for (unsigned i = HIERARCHY_COUNT; i-- > 0;) {
                if (!g->root || g->dirs[i] < 0)
                        continue;
                if (!is_shared(g->root, i)) {
                        /* What cannot go now, the next sweep finds by the first. */
                        if (!left)
                                left = unlinkat(g->root->parents[i], g->name, AT_REMOVEDIR) < 0 &&
                                       errno != ENOENT;
                        fd_close(g->dirs[i]);
                }
                g->dirs[i] = -EBADF;
        }
}

/* Only names that we give: a prefix and the number of a slot. */
static bool is_our_name(const char *name)
{
        size_t prefix = sizeof name_prefix - 1;
        const char *number = name + prefix;

        return strncmp(name, name_prefix, prefix) == 0 && *number &&
               strspn(number, "0123456789") == strlen(number) && strlen(number) <= 4 &&
               strtoul(number, NULL, 10) < IDS_BLOCKS;
}

static void forget_dirs(struct cgroup *g)
{
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                g->dirs[i] = fd_close(g->dirs[i]);
}

/* Kill what is in a group that no living supervisor has locked, and remove its directories from
 * `first` on. */
static void sweep_one(const struct cgroup_root *root, unsigned first, const char *name)
{
        struct cgroup g = CGROUP_INIT;

        g.root = root;
        snprintf(g.name, sizeof g.name, "%s", name);
        g.dirs[first] = openat(root->parents[first], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (g.dirs[first] < 0)
                return;
        if (!take_over(root->parents[first], name, g.dirs[first])) {
                fd_close(g.dirs[first]);
                return;
        }
        for (unsigned i = first + 1; i < HIERARCHY_COUNT; i++)
                if (root->parents[i] >= 0 && !is_shared(root, i)) {
                        g.dirs[i] =
                                openat(root->parents[i], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                        if (g.dirs[i] < 0 && errno != ENOENT) {
                                forget_dirs(&g); /* out of descriptors, say: the next one will */
                                return;
                        }
                }
        for (int tries = 0; tries < 200 && !cgroup_is_empty(&g); tries++) {
                cgroup_kill(&g);
                usleep(1000);
        }
        cgroup_remove(&g);
}

/* What a supervisor that was killed left under this number is removed first. */
static int make_dirs(struct cgroup *g, struct error *err)
{
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++) {
                if (g->root->parents[i] < 0 || g->dirs[i] >= 0)
                        continue;
                if (g->root->version == 2) {
                        g->dirs[i] = g->dirs[HIERARCHY_UNIFIED];
                        continue;
                }
                if (make_dir(g, i) == 0)
                        continue;
                if (errno == EEXIST)
                        sweep_one(g->root, i, g->name);
                if (make_dir(g, i) < 0)
                        return error_errno(
                                err, CODE_INFRA_CGROUP, errno, "cannot make the group %s", g->name);
        }
        return 0;
}

/* Version 1's `tasks` takes one thread, which spares the wait; version 2 has only whole processes.
 */
static int open_doors(struct cgroup *g, bool born_inside, struct error *err)
{
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++) {
                bool unified = i == HIERARCHY_UNIFIED;

                if (g->dirs[i] < 0 || (unified ? born_inside : g->root->version == 2))
                        continue;
                g->doors[i] = openat(
                        g->dirs[i], unified ? "cgroup.procs" : "tasks", O_WRONLY | O_CLOEXEC);
                if (g->doors[i] < 0)
                        return error_errno(
                                err, CODE_INFRA_CGROUP, errno, "cannot open the group %s", g->name);
        }
        return 0;
}

int cgroup_make(struct cgroup *g, const struct limits *limits, bool born_inside, struct error *err)
{
        if (make_dirs(g, err) < 0 || set_limits(g, limits, err) < 0 ||
                open_doors(g, born_inside, err) < 0)
                return -1;
        return 0;
}

int cgroup_watch(struct cgroup *g, struct error *err)
{
        for (unsigned i = 0; i < CGROUP_FILES; i++) {
                const struct told *t = told(g, i);

                if (g->dirs[t->hierarchy] < 0)
                        continue;
                g->files[i] = openat(g->dirs[t->hierarchy], t->file, O_RDONLY | O_CLOEXEC);
                /* Older kernels have no peaks; what limits are judged by must be there. */
                if (g->files[i] < 0 && (errno != ENOENT || !t->optional))
                        return error_errno(
                                err, CODE_INFRA_CGROUP, errno, "cannot read %s", t->file);
        }
        cgroup_pids_refused(g); /* from here on poll() waits for a change */
        return 0;
}

void cgroup_sweep(const struct cgroup_root *root)
{
        unsigned first = first_hierarchy(root);
        int fd = root->version == 0
                         ? -1
                         : openat(root->parents[first], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir)
                return;
        for (struct dirent *entry; (entry = readdir(dir));)
                if (is_our_name(entry->d_name))
                        sweep_one(root, first, entry->d_name);
        closedir(dir);
}

/* --- while it runs -------------------------------------------------------------------------- */

int cgroup_birthplace(const struct cgroup *g)
{
        return g->dirs[HIERARCHY_UNIFIED];
}

int cgroup_enter(const int *doors, unsigned count)
{
        for (unsigned i = 0; i < count; i++)
                if (fd_write_all(doors[i], "0", 1) < 0)
                        return -1;
        return 0;
}

void cgroup_close_doors(struct cgroup *g)
{
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                g->doors[i] = fd_close(g->doors[i]);
}

bool cgroup_pids_refused(const struct cgroup *g)
{
        return number(g, CGROUP_PIDS_EVENTS) > 0;
}

/* Version 1 counts nanoseconds. */
uint64_t cgroup_cpu_us(const struct cgroup *g)
{
        return number(g, CGROUP_CPU_TIME) / (told(g, CGROUP_CPU_TIME)->key ? 1 : 1000);
}

void cgroup_kill(const struct cgroup *g)
{
        char text[4096] = "";
        const char *at = text;

        if (g->dirs[HIERARCHY_UNIFIED] >= 0 &&
                write_at(g->dirs[HIERARCHY_UNIFIED], "cgroup.kill", "1") == 0)
                return;
        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                if (g->dirs[i] >= 0 && read_at(g->dirs[i], "cgroup.procs", text, sizeof text) > 0)
                        break;
        /* A list longer than the buffer ends within a number, which would be another process. */
        text[strrchr(text, '\n') ? strrchr(text, '\n') - text + 1 : 0] = '\0';
        while (*at) {
                char *end;
                long pid = strtol(at, &end, 10);

                if (end == at)
                        return;
                if (pid > 0)
                        kill((pid_t)pid, SIGKILL);
                at = end + strspn(end, "\n");
        }
}

bool cgroup_is_empty(const struct cgroup *g)
{
        char text[64];

        for (unsigned i = 0; i < HIERARCHY_COUNT; i++)
                if (g->dirs[i] >= 0)
                        return read_at(g->dirs[i], "cgroup.procs", text, sizeof text) <= 0;
        return true;
}

void cgroup_usage(const struct cgroup *g, struct usage *ret)
{
        ret->cpu_us = cgroup_cpu_us(g);
        ret->oom_kills = number(g, CGROUP_OOM_KILLS);
        ret->memory_peak = number(g, CGROUP_MEMORY_PEAK);
        ret->pids_peak = number(g, CGROUP_PIDS_PEAK);
        if (ret->pids_peak > OWN_PIDS)
                ret->pids_peak -= OWN_PIDS;
}
