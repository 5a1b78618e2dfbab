/* Rights that a process in a cell may try to win: capabilities, ids, limits, priority, clocks. */
#include "attempt.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/xattr.h>
#include <time.h>

static void capabilities(void)
{
        struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct sets[2] = {0};

        syscall(SYS_capget, &head, sets);
        for (int i = 0; i < 2; i++)
                escaped_if("a capability",
                        sets[i].effective || sets[i].permitted || sets[i].inheritable);
        for (int cap = 0; cap < 64; cap++) {
                if (prctl(PR_CAPBSET_READ, cap) > 0 ||
                        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) > 0)
                        escaped_if("a capability in the bounding or ambient set", true);
                if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == 0)
                        escaped_if("raising an ambient capability", true);
        }
        sets[0].effective = sets[0].permitted = ~0U;
        refused("capset(all)", syscall(SYS_capset, &head, sets));
        refused("PR_SET_SECUREBITS", prctl(PR_SET_SECUREBITS, 0));
        refused("PR_SET_NO_NEW_PRIVS, 0", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
        refused("PR_SET_KEEPCAPS", prctl(PR_SET_KEEPCAPS, 1));
        refused("PR_SET_MM", prctl(PR_SET_MM, 1, 0, 0, 0));
}

/* What a set-id program of ours, or one of the machine's, would run as. */
static void set_id(char *self)
{
        char *const argv[] = {self, (char[]){"as-whom"}, NULL};
        struct statvfs fs;
        char copy[] = "/tmp/set-id";
        int in = open("/proc/self/exe", O_RDONLY), out = open(copy, O_WRONLY | O_CREAT, 0755);
        char bytes[65536];

        for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
                if (write(out, bytes, (size_t)n) != n)
                        break;
        close(out);
        refused("setxattr(security.capability)",
                setxattr(copy, "security.capability",
                        "\1\0\0\2\377\377\377\377\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0));
        refused("chown(1000)", chown(copy, 1000, 1000));
        chmod(copy, 06755);
        escaped_if("set-id honoured on /tmp", statvfs(copy, &fs) == 0 && !(fs.f_flag & ST_NOSUID));
        escaped_if(
                "set-id honoured on /usr", statvfs("/usr", &fs) == 0 && !(fs.f_flag & ST_NOSUID));
        fflush(stdout);
        if (fork() == 0) {
                execv(copy, argv);
                _exit(1);
        }
        wait(NULL);
        for (unsigned id = 1; id < 70000; id = id * 3 + 1)
                if (setresuid(id, id, id) == 0 || setresgid(id, id, id) == 0 ||
                        (setfsuid(id), setfsuid((uid_t)-1)) == (int)id)
                        escaped_if("another id", true);
        refused("setgroups", (long)syscall(SYS_setgroups, 1, &(unsigned){4}));
        refused("mknod(/dev/mem)", mknod("/tmp/mem", S_IFCHR | 0666, makedev(1, 1)));
        refused("mknod(a disk)", mknod("/dev/disk", S_IFBLK | 0666, makedev(254, 0)));
}

static void limits(void)
{
        for (int which = 0; which < RLIM_NLIMITS; which++) {
                struct rlimit now, more;

                if (getrlimit((__rlimit_resource_t)which, &now) < 0 ||
                        now.rlim_max == RLIM_INFINITY)
                        continue;
                more = (struct rlimit){now.rlim_max, now.rlim_max + 1};
                refused("raising a limit", setrlimit((__rlimit_resource_t)which, &more));
        }
        refused("mlock(1 MiB)", mlock(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                                        1 << 20));
}

static void priority(void)
{
        const struct sched_param one = {.sched_priority = 1}, none = {0};
        struct {
                uint32_t size, policy;
                uint64_t flags;
                int32_t nice;
                uint32_t priority;
                uint64_t runtime, deadline, period;
        } deadline = {48, 6 /* SCHED_DEADLINE */, 0, 0, 0, 1000000, 10000000, 10000000};
        int fd = open("/proc/self/oom_score_adj", O_WRONLY);

        refused("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &one));
        refused("SCHED_RR", sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &one));
        refused("SCHED_DEADLINE", syscall(SYS_sched_setattr, 0, &deadline, 0));
        note("SCHED_BATCH", "%d", sched_setscheduler(0, SCHED_BATCH, &none));
        errno = 0;
        refused("nice -1", setpriority(PRIO_PROCESS, 0, -1));
        refused("nice -1 of the user", setpriority(PRIO_USER, 0, -1));
        refused("ioprio real time", syscall(SYS_ioprio_set, 1, 0, 1 << 13));
        refused("oom_score_adj -1", write(fd, "-1", 2));
        refused("oom_score_adj -1000", write(fd, "-1000", 5));
}

static void clocks(void)
{
        struct timex fast = {.modes = ADJ_TICK, .tick = 11000};

        refused("clock_settime", clock_settime(CLOCK_REALTIME, &(struct timespec){1, 0}));
        refused("settimeofday", settimeofday(&(struct timeval){1, 0}, NULL));
        refused("adjtimex", adjtimex(&fast));
        refused("CLOCK_BOOTTIME_ALARM", timer_create(CLOCK_BOOTTIME_ALARM, NULL, &(timer_t){0}));
        refused("PTP clock", open("/dev/ptp0", O_RDWR));
}

int main(int argc, char **argv)
{
        uid_t r, e, s;

        if (argc > 1) {
                getresuid(&r, &e, &s);
                escaped_if("an id of a set-id program", r != e || r != s);
                capabilities();
                return 0;
        }
        capabilities();
        set_id(argv[0]);
        limits();
        priority();
        clocks();
        note("personality", "%x", (unsigned)personality(0xffffffff));
        return 0;
}
