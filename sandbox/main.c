/* assay-cell: the supervisor, the one program with privilege. It makes cells, watches and
 * measures them, kills them, and starts our confined helpers under ids of their own.
 *
 *   assay ── socket (3) ── assay-cell serve, or keep: for one evaluation after the other
 *                            ├─ assay-unpack, assay-score     helper.c; confined by themselves
 *                            ├─ pasta                         network.c; where a cell has a network
 *                            └─ first process of a cell       cell.c → inside.c; pid 1 inside
 *                                 └─ the command              inside.c, confine_cell.c
 *
 *   assay exec becomes      assay-cell exec: one cell, no runner, status passed on
 *
 * It parses no JSON, no archive, no image and no path that these control: a request is a fixed
 * frame (messages.h) with descriptors; arguments and environment are handed through unread. The
 * files: request (decoding), admission (who waits for memory), slot + ids (numbers of a cell),
 * mounts + view (what a cell sees), cgroup + hierarchy + weak (limits), machine (what is possible
 * here), start + cell (the life of one), inside + confine_cell (its first process), network +
 * network_filter (its way out), supervisor (the loop), verbs + answers (what is asked and said),
 * helper, report and trace (for `assay exec`). */
#include "supervisor.h"

#include "fd.h"
#include "undertaker.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

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

/* As many as the caller may have. */
static uint64_t take_descriptors(void)
{
        struct rlimit most = {0};

        if (prlimit(0, RLIMIT_NOFILE, NULL, &most) == 0) {
                most.rlim_cur = most.rlim_max;
                prlimit(0, RLIMIT_NOFILE, &most, NULL);
        }
        return most.rlim_cur;
}

/* The descriptors of a cell that runs, and those that one needs while it starts. */
enum { CELL_FDS = 26, STARTING_FDS = 136, PLENTY = 4 };

/* Where there are few, none are spent on mounts that wait to be let go of. The rest is shared: half
 * for cells that run, half for requests that wait. Two may always try to run: a suite waits for the
 * cell that it asked for, which must not wait for the suite's. */
static void share_descriptors(struct supervisor *s, uint64_t descriptors)
{
        struct admission *a = &s->admission;
        uint64_t half, most;

        s->undertaker = descriptors >= PLENTY * UNDERTAKER_MOST;
        if (s->undertaker)
                descriptors -= UNDERTAKER_MOST;
        half = descriptors > STARTING_FDS ? (descriptors - STARTING_FDS) / 2 : 0;
        most = half / CELL_FDS;
        a->most = most < 2                      ? 2
                  : most < SUPERVISOR_MAX_CELLS ? (unsigned)most
                                                : SUPERVISOR_MAX_CELLS;
        a->most_descriptors = half < INT_MAX ? (unsigned)half : INT_MAX;
}

int main(int argc, char **argv)
{
        struct supervisor s = {.programs = {-EBADF, -EBADF},
                .image_ids = -EBADF,
                .keeper = -EBADF,
                .now = {.judge_key = -EBADF}};
        static const struct {
                const char *name;
                int (*run)(struct supervisor *s);
        } ways[] = {
                {"serve", supervisor_serve},
                {"keep", supervisor_keep},
                {"exec", supervisor_exec},
        };
        struct stat st;
        const unsigned count = sizeof ways / sizeof *ways;
        unsigned way = 0;

        while (argc == 2 && way < count && strcmp(argv[1], ways[way].name) != 0)
                way++;
        if (argc != 2 || way == count || fstat(SUPERVISOR_SOCKET, &st) < 0 ||
                !S_ISSOCK(st.st_mode)) {
                fputs("assay-cell is started by assay; see `assay --help`\n", stderr);
                return END_USAGE;
        }
        umask(022);
        share_descriptors(&s, take_descriptors());
        s.signals = watch_signals();
        if (s.signals < 0)
                return 125;
        machine_find(&s.machine);
        if (s.machine.root)
                machine_keep_rights();
        return ways[way].run(&s);
}
