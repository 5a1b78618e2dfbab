/* Descriptors that a process beside this one closes: sandbox/undertaker. Each test is a process of
 * its own, and so a supervisor of its own. */
#include "sandbox/undertaker.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 2 * UNDERTAKER_MOST };

static pid_t start(void)
{
        char path[64];
        FILE *file;
        int pid = 0;

        undertaker_start();
        cr_assert(undertaker_works());
        snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
        file = fopen(path, "re");
        cr_assert(file && fscanf(file, "%d", &pid) == 1);
        fclose(file);
        return pid;
}

static int make(void)
{
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_open(int fd)
{
        return fcntl(fd, F_GETFD) >= 0;
}

static int count_open(void)
{
        int count = 0;

        for (int fd = 0; fd < 4 * MANY; fd++)
                count += is_open(fd);
        return count;
}

/* What is handed over while others are made, with numbers that are used again, is closed once, and
 * nothing else is. */
static void hand_over_many(void)
{
        const int before = count_open();
        int own[MANY];

        for (int i = 0; i < MANY; i++) {
                const int gone[] = {make(), -EBADF, make(), make()};

                undertaker_close(gone, 4);
                own[i] = make();
        }
        undertaker_finish();
        cr_expect_eq(count_open(), before + MANY);
        for (int i = 0; i < MANY; i++) {
                cr_expect(is_open(own[i]), "%d", own[i]);
                close(own[i]);
        }
}

Test(undertaker, closes_what_it_is_given_and_nothing_else)
{
        start();
        hand_over_many();
        cr_expect(undertaker_works());
}

Test(undertaker, where_it_was_stopped_nothing_stays_open)
{
        const pid_t pid = start();

        kill(pid, SIGSTOP);
        waitpid(pid, NULL, WUNTRACED);
        hand_over_many();
        kill(pid, SIGCONT);
        hand_over_many();
}

Test(undertaker, where_it_was_killed_nothing_stays_open)
{
        const pid_t pid = start();
        siginfo_t info;

        kill(pid, SIGKILL);
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
        hand_over_many();
}

Test(undertaker, without_one_they_are_closed_at_once)
{
        const int fd = make();

        undertaker_finish();
        undertaker_close(&fd, 1);
        cr_expect(!is_open(fd));
        cr_expect(!undertaker_works());
}
