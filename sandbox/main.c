/* assay-cell: the supervisor, the one program with privilege. It makes cells, watches and
 * measures them, kills them, and starts our confined helpers under ids of their own.
 *
 *   assay ── socket (3) ── assay-cell serve
 *                            ├─ assay-unpack, assay-score     helper.c; confined by themselves
 *                            ├─ pasta                         network.c; where a cell has a network
 *                            └─ first process of a cell       cell.c → inside.c; pid 1 inside
 *                                 └─ the command              inside.c, confine_cell.c
 *
 *   assay exec becomes      assay-cell exec: one cell, no runner, status passed on
 *
 * It parses no JSON, no archive, no image and no path that these control: a request is a fixed
 * frame (messages.h) with descriptors; arguments and environment are handed through unread. The
 * files: request (decoding), ids, mounts + view (what a cell sees), cgroup + hierarchy + weak
 * (limits), machine (what is possible here), start + cell (the life of one), inside + confine_cell
 * (its first process), network + network_filter (its way out), supervisor (the loop), helper,
 * report and trace (for `assay exec`). */
#include "supervisor.h"

#include "fd.h"

#include <signal.h>
#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

/* What making cells takes; everything else root may do is given up. */
static void keep_needed_capabilities(void)
{
        static const cap_value_t needed[] = {
                CAP_SYS_ADMIN,
                CAP_SETUID,
                CAP_SETGID,
                CAP_SETPCAP,
                CAP_SETFCAP,
                CAP_CHOWN,
                CAP_DAC_OVERRIDE,
                CAP_FOWNER,
                CAP_MKNOD,
                CAP_KILL,
                CAP_SYS_CHROOT,
                CAP_SYS_PTRACE,
                CAP_SYS_RESOURCE,
        };
        cap_t now = cap_get_proc(), keep = cap_init();
        cap_flag_value_t have;

        for (size_t i = 0; now && keep && i < sizeof needed / sizeof *needed; i++)
                if (cap_get_flag(now, needed[i], CAP_PERMITTED, &have) == 0 && have == CAP_SET) {
                        cap_set_flag(keep, CAP_PERMITTED, 1, &needed[i], CAP_SET);
                        cap_set_flag(keep, CAP_EFFECTIVE, 1, &needed[i], CAP_SET);
                }
        if (keep)
                cap_set_proc(keep);
        cap_free(now);
        cap_free(keep);
        /* Taking on a cell's id for a moment (cell.c) must not take capabilities away. */
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
}

static int watch_signals(void)
{
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGHUP);
        sigprocmask(SIG_BLOCK, &set, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGCHLD, SIG_DFL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Each cell takes some: as many as the caller may have. */
static void take_descriptors(void)
{
        struct rlimit most;

        if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
                most.rlim_cur = most.rlim_max;
                setrlimit(RLIMIT_NOFILE, &most);
        }
}

int main(int argc, char **argv)
{
        struct supervisor s = {.programs = {-EBADF, -EBADF}};
        bool exec = argc == 2 && strcmp(argv[1], "exec") == 0;

        if (!exec && (argc != 2 || strcmp(argv[1], "serve") != 0)) {
                fputs("assay-cell is started by assay; see `assay --help`\n", stderr);
                return END_USAGE;
        }
        umask(022);
        take_descriptors();
        s.signals = watch_signals();
        if (s.signals < 0)
                return 125;
        machine_find(&s.machine);
        if (s.machine.root)
                keep_needed_capabilities();
        return exec ? supervisor_exec(&s) : supervisor_serve(&s);
}
