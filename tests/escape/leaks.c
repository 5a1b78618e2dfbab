/* What of the caller's state reaches a process in a cell. Arguments: NAME=VALUE for each limit that
 * the caller has lowered, which must not be what the cell has. */
#include "attempt.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

static const struct {
        const char *name;
        int which;
} limits[] = {{"fsize", RLIMIT_FSIZE}, {"core", RLIMIT_CORE}, {"nofile", RLIMIT_NOFILE},
        {"stack", RLIMIT_STACK}, {"data", RLIMIT_DATA}, {"as", RLIMIT_AS}};

static void signals(void)
{
        struct sigaction action;
        sigset_t set;

        sigprocmask(SIG_BLOCK, NULL, &set);
        for (int sig = 1; sig < NSIG; sig++) {
                escaped_if("a blocked signal", sigismember(&set, sig) == 1);
                if (sigaction(sig, NULL, &action) == 0)
                        escaped_if("an ignored signal", action.sa_handler != SIG_DFL);
        }
        sigpending(&set);
        for (int sig = 1; sig < NSIG; sig++)
                escaped_if("a pending signal", sigismember(&set, sig) == 1);
}

int main(int argc, char **argv, char **environment)
{
        static const char *const known[] = {
                "PATH=", "HOME=", "LANG=", "TMPDIR=", "TERM=", "USER=", "LOGNAME=", "SHELL=",
                "PWD=", "LC_ALL=", "TZ=", "PYTHONHASHSEED=", "SOURCE_DATE_EPOCH="};
        char cwd[256], line[512];
        struct rlimit now;
        FILE *f;

        for (char **e = environment; *e; e++) {
                size_t i = 0;

                while (i < sizeof known / sizeof *known &&
                        strncmp(*e, known[i], strlen(known[i])) != 0)
                        i++;
                escaped_if(*e, i == sizeof known / sizeof *known);
        }
        for (int i = 1; i < argc; i++)
                for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
                        size_t len = strlen(limits[l].name);

                        if (strncmp(argv[i], limits[l].name, len) != 0 || argv[i][len] != '=')
                                continue;
                        getrlimit((__rlimit_resource_t)limits[l].which, &now);
                        escaped_if(argv[i], now.rlim_cur == strtoull(argv[i] + len + 1, NULL, 10));
                }
        signals();
        escaped_if("the working directory", !getcwd(cwd, sizeof cwd) || strcmp(cwd, "/") != 0);
        escaped_if("the umask", umask(0) != 022);
        escaped_if("a terminal", open("/dev/tty", O_RDWR) >= 0);
        escaped_if("a session that another leads", getsid(0) != getpid() || getpgrp() != getpid());
        f = fopen("/proc/self/status", "r");
        while (f && fgets(line, sizeof line, f))
                if (strncmp(line, "NSpid:", 6) == 0 || strncmp(line, "Groups:", 7) == 0 ||
                        strncmp(line, "THP_", 4) == 0)
                        note("status", "%.*s", (int)strcspn(line, "\n"), line);
        f = fopen("/proc/self/mountinfo", "r");
        while (f && fgets(line, sizeof line, f))
                escaped_if("the host's path of the caller's home", strstr(line, "/home/") != NULL);
        note("nice", "%d", getpriority(PRIO_PROCESS, 0));
        return 0;
}
