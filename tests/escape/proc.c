/* What /proc of a cell gives away or takes: the first process's entries, settings of the kernel,
 * and the program that the first process runs. */
#include "attempt.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char *const of_first[] = {"mem", "environ", "exe", "fd", "fdinfo", "cwd", "root",
        "maps", "smaps", "numa_maps", "map_files", "pagemap", "auxv", "syscall", "stack", "io",
        "personality", "ns/mnt", "ns/user", "ns/pid", "task/1/mem", "task/1/fd", "task/1/root",
        "root/etc", "fd/0", "map_files/0-1", "exe/..", "cwd/..", "seccomp_cache", "timers"};

static const char *const of_first_written[] = {"mem", "oom_score_adj", "oom_adj", "clear_refs",
        "comm", "coredump_filter", "timerslack_ns", "uid_map", "gid_map", "projid_map", "setgroups",
        "loginuid", "attr/current", "sched", "autogroup", "latency", "timens_offsets", "exe",
        "make-it-fail", "fail-nth", "task/1/comm", "fd/0"};

static const char *const secrets[] = {"/proc/kcore", "/proc/kmsg", "/proc/kpageflags",
        "/proc/kpagecount", "/proc/kpagecgroup", "/proc/slabinfo", "/proc/vmallocinfo",
        "/proc/timer_list", "/proc/sched_debug", "/proc/kallsyms_all", "/proc/pagetypeinfo",
        "/proc/sys/kernel/usermodehelper/bset"};

/* Some files open for everybody, and look only at who writes. */
static void write_first(const char *file)
{
        char path[64];
        int fd;

        snprintf(path, sizeof path, "/proc/1/%s", file);
        fd = open(path, O_WRONLY);
        refused(path, fd < 0 ? -1 : write(fd, "1", 1));
        close(fd);
}

static int try_write(const char *path, const struct stat *st, int type, struct FTW *where)
{
        int fd;

        (void)where;
        if (type != FTW_F || !S_ISREG(st->st_mode))
                return 0;
        fd = open(path, O_WRONLY | O_NONBLOCK);
        if (fd >= 0) {
                printf("ESCAPED write(%s): REACHED\n", path);
                close(fd);
        }
        return 0;
}

/* Every file of /proc outside of processes' directories. What is covered is the null device. */
static void write_everywhere(void)
{
        DIR *dir = opendir("/proc");
        struct dirent *e;
        struct stat st;
        char path[300];
        int pids = 0;

        while (dir && (e = readdir(dir))) {
                snprintf(path, sizeof path, "/proc/%s", e->d_name);
                if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
                        pids++;
                else if (e->d_name[0] != '.' && lstat(path, &st) == 0 && !S_ISLNK(st.st_mode))
                        nftw(path, try_write, 32, FTW_PHYS);
        }
        escaped_if("processes other than pid 1 and mine", pids > 2);
}

static void overwrite_first(void)
{
        char *const argv[] = {(char[]){"x"}, NULL}, *const no_env[] = {NULL};
        char target[256];

        refused("readlink(/proc/1/exe)", readlink("/proc/1/exe", target, sizeof target));
        refused("execve(/proc/1/exe)", execve("/proc/1/exe", argv, no_env));
        refused("rename(/proc/1/exe)", rename("/proc/1/exe", "/tmp/exe"));
        refused("link(/proc/1/exe)",
                linkat(AT_FDCWD, "/proc/1/exe", AT_FDCWD, "/tmp/exe", AT_SYMLINK_FOLLOW));
        closed("/proc/self/exe", O_WRONLY);
        for (int sig = 1; sig < 65; sig++)
                kill(1, sig);
        kill(-1, SIGSTOP);
        tgkill(1, 1, SIGKILL);
        refused("ptrace(SEIZE, 1)", ptrace(PTRACE_SEIZE, 1, 0, 0));
        refused("prlimit(1), garbage above",
                syscall(SYS_prlimit64, 0x100000001L, RLIMIT_NOFILE, &(struct rlimit){0}, NULL));
        refused("pidfd_getfd(1, 0)", syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, 1, 0), 0, 0));
        note("signals to pid 1", "it lives");
}

int main(void)
{
        char path[300], line[4096];
        FILE *f;

        for (size_t i = 0; i < sizeof of_first / sizeof *of_first; i++) {
                snprintf(path, sizeof path, "/proc/1/%s", of_first[i]);
                closed(path, O_RDONLY);
        }
        for (size_t i = 0; i < sizeof of_first_written / sizeof *of_first_written; i++)
                write_first(of_first_written[i]);
        for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
                struct stat st;

                if (stat(secrets[i], &st) == 0 && S_ISCHR(st.st_mode))
                        note(secrets[i], "covered");
                else
                        closed(secrets[i], O_RDONLY);
        }
        write_everywhere();
        overwrite_first();
        f = fopen("/proc/kallsyms", "r");
        escaped_if("addresses of the kernel",
                f && fgets(line, sizeof line, f) && strtoull(line, NULL, 16) != 0);
        f = fopen("/proc/self/cgroup", "r");
        while (f && fgets(line, sizeof line, f))
                escaped_if("a group's path", strcmp(strrchr(line, ':'), ":/\n") != 0);
        f = fopen("/proc/self/mountinfo", "r");
        while (f && fgets(line, sizeof line, f))
                escaped_if("a mount that passes on or is passed",
                        strstr(line, " shared:") || strstr(line, " master:"));
        closed("/sys/fs/cgroup", O_RDONLY);
        closed("/sys", O_RDONLY);
        return 0;
}
