/* Id maps of cells; called by the supervisor. */
#include "ids.h"

#include "fd.h"
#include "spawn.h"

#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const map_programs[] = {"/usr/bin/newuidmap", "/usr/bin/newgidmap"};

/* This user's name in /etc/passwd; "" without one. Name services are not asked. */
static void find_name(char *ret, size_t size)
{
        FILE *file = fopen("/etc/passwd", "re");
        const struct passwd *user;

        *ret = '\0';
        while (file && !*ret && (user = fgetpwent(file)))
                if (user->pw_uid == getuid())
                        snprintf(ret, size, "%s", user->pw_name);
        if (file)
                fclose(file);
}

/* The first range that a line like "name:100000:65536" of the file gives to this user. */
static bool find_range(const char *path, uint32_t *ret_first, uint32_t *ret_count)
{
        FILE *file = fopen(path, "re");
        char line[256], number[16], own_name[64], name[64];
        unsigned first, count;
        bool found = false;

        find_name(own_name, sizeof own_name);
        snprintf(number, sizeof number, "%u", (unsigned)getuid());
        while (file && !found && fgets(line, sizeof line, file))
                found = sscanf(line, "%63[^:]:%u:%u", name, &first, &count) == 3 && count > 0 &&
                        (strcmp(name, number) == 0 || strcmp(name, own_name) == 0);
        if (file)
                fclose(file);
        if (found) {
                *ret_first = first;
                *ret_count = count;
        }
        return found;
}

static bool find_ranges(struct ids *ids)
{
        uint32_t uids, gids;

        /* They are set-id programs, which a process without those rights in sight starts in vain.
         */
        if (prctl(PR_CAPBSET_READ, CAP_SETUID) <= 0 ||
                prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0 || access(map_programs[0], X_OK) < 0 ||
                access(map_programs[1], X_OK) < 0 ||
                !find_range("/etc/subuid", &ids->sub_uid, &uids) ||
                !find_range("/etc/subgid", &ids->sub_gid, &gids))
                return false;
        ids->count = 1 + (uids < gids ? uids : gids);
        if (ids->count > IDS_BLOCK_SIZE)
                ids->count = IDS_BLOCK_SIZE;
        return true;
}

enum id_map ids_find(bool root)
{
        struct ids unused;

        return root ? IDS_BLOCK : find_ranges(&unused) ? IDS_RANGE : IDS_SINGLE;
}

struct ids ids_for(enum id_map kind, unsigned slot)
{
        uint32_t first = IDS_FIRST + (slot + 1) * IDS_BLOCK_SIZE;
        struct ids ids = {.kind = kind, .uid = getuid(), .gid = getgid(), .count = 1};

        if (kind == IDS_BLOCK)
                return (struct ids){kind, first, first, IDS_BLOCK_SIZE, 0, 0};
        if (kind == IDS_RANGE && !find_ranges(&ids))
                ids.kind = IDS_SINGLE;
        return ids;
}

static int write_map(pid_t pid, const char *file, const char *text, struct error *err)
{
        char path[64];
        _cleanup_fd_ int fd = -EBADF;

        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
                return error_errno(
                        err, CODE_INFRA_CELL, errno, "cannot write the %s of a cell", file);
        return 0;
}

/* newuidmap PID 0 OWN 1 1 SUB COUNT: it has the right that the user lacks, and knows what it may.
 */
static int run_map_program(
        const char *path, const struct ids *ids, pid_t pid, uid_t own, uid_t sub, struct error *err)
{
        char texts[4][16];
        const char *const argv[] = {
                path, texts[0], "0", texts[1], "1", "1", texts[2], texts[3], NULL};
        _cleanup_fd_ int program = open(path, O_PATH | O_CLOEXEC);
        _cleanup_fd_ int pidfd = -EBADF;
        struct spawn spawn = SPAWN_INIT;

        snprintf(texts[0], sizeof texts[0], "%d", (int)pid);
        snprintf(texts[1], sizeof texts[1], "%u", (unsigned)own);
        snprintf(texts[2], sizeof texts[2], "%u", (unsigned)sub);
        snprintf(texts[3], sizeof texts[3], "%u", (unsigned)ids->count - 1);
        spawn.program = program;
        spawn.argv = argv;
        spawn.fd_count = 3;
        spawn.fds[0] = spawn.fds[1] = spawn.fds[2] = -EBADF;
        if (program < 0 || spawn_process(&spawn, &pidfd, err) < 0 || spawn_wait(pidfd, err) != 0)
                return error_set(err, CODE_INFRA_CELL, "%s refused to map the ids of a cell", path);
        return 0;
}

int ids_map(const struct ids *ids, pid_t pid, bool all, struct error *err)
{
        char uids[64], gids[64];
        uint32_t count = ids->kind == IDS_BLOCK ? ids->count : 1;

        if (all && ids->kind == IDS_RANGE)
                return run_map_program(map_programs[0], ids, pid, ids->uid, ids->sub_uid, err) < 0
                               ? -1
                               : run_map_program(
                                         map_programs[1], ids, pid, ids->gid, ids->sub_gid, err);
        snprintf(uids, sizeof uids, "0 %u %u", (unsigned)ids->uid, (unsigned)count);
        snprintf(gids, sizeof gids, "0 %u %u", (unsigned)ids->gid, (unsigned)count);
        /* The kernel lets an ordinary user map a group only after giving up setgroups. */
        if (ids->kind != IDS_BLOCK && write_map(pid, "setgroups", "deny", err) < 0)
                return -1;
        if (write_map(pid, "uid_map", uids, err) < 0)
                return -1;
        return write_map(pid, "gid_map", gids, err);
}

static void take_effective(uid_t uid, gid_t gid)
{
        /* A change of ids takes away what was asked for with PDEATHSIG: nothing, when we are the
         * caller's own `assay exec`. */
        static int signal_of_parent = -1;

        if (signal_of_parent < 0)
                prctl(PR_GET_PDEATHSIG, &signal_of_parent);
        if (syscall(SYS_setresgid, -1, gid, -1) < 0 || syscall(SYS_setresuid, -1, uid, -1) < 0)
                abort(); /* to go on under the wrong id would be worse */
        if (signal_of_parent > 0)
                prctl(PR_SET_PDEATHSIG, signal_of_parent);
}

void ids_borrow(const struct ids *ids, bool borrow)
{
        take_effective(borrow ? ids->uid : 0, borrow ? ids->gid : 0);
}

void ids_be_anyone(const struct ids *ids, bool anyone)
{
        static const cap_value_t modes[] = {CAP_DAC_OVERRIDE};
        static cap_t caps; /* those we have: asked for once */

        if (!caps)
                caps = cap_get_proc();
        /* To go on with another right than meant would be worse than to end. */
        if (!caps ||
                cap_set_flag(caps, CAP_EFFECTIVE, 1, modes, anyone ? CAP_CLEAR : CAP_SET) < 0 ||
                cap_set_proc(caps) < 0)
                abort();
        ids_borrow(ids, !anyone);
}

int ids_open_namespace(pid_t pid)
{
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
        return open(path, O_RDONLY | O_CLOEXEC);
}

static int wait_to_be_killed(void *unused)
{
        (void)unused;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (pause() < 0)
                continue;
        return 0;
}

/* A user namespace needs a process to be made; it may end when the descriptor is there. */
static int make_namespace(int (*map)(pid_t pid, const void *how), const void *how)
{
        /* Not on our own, which would be touched, and copied, as deep as this is. */
        static char stack[8192] __attribute__((aligned(16)));
        int fd = -1;
        pid_t pid = clone(
                wait_to_be_killed, stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, NULL);

        if (pid < 0)
                return -1;
        if (map(pid, how) == 0)
                fd = ids_open_namespace(pid);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return fd;
}

struct mapping {
        uid_t owner;
        gid_t group;
        uint32_t count;
        const struct ids *ids;
};

static int map_owner(pid_t pid, const void *how)
{
        const struct mapping *m = how;
        char uids[64], gids[64];

        snprintf(uids, sizeof uids, "%u %u %u", (unsigned)m->owner, (unsigned)m->ids->uid,
                (unsigned)m->count);
        snprintf(gids, sizeof gids, "%u %u %u", (unsigned)m->group, (unsigned)m->ids->gid,
                (unsigned)m->count);
        return write_map(pid, "uid_map", uids, NULL) == 0 ? write_map(pid, "gid_map", gids, NULL)
                                                          : -1;
}

int ids_make_namespace(uid_t owner, gid_t group, uint32_t count, const struct ids *ids)
{
        return make_namespace(map_owner, &(struct mapping){owner, group, count, ids});
}

static int map_all(pid_t pid, const void *ids)
{
        return ids_map(ids, pid, true, NULL);
}

int ids_make_own_namespace(const struct ids *ids)
{
        return make_namespace(map_all, ids);
}
