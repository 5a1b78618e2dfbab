/* What processes that were taken over say to who started them, and that nobody waits for them:
 * runner/aside. */
#include "aside.h"

#include "fd.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that sends such a frame, or none, and then stays, whoever tells it to end. */
static struct aside one_that_stays(uint16_t type)
{
        const struct buffer nothing = BUFFER_INIT;
        struct aside a = {.said = BUFFER_INIT};
        struct error err;
        int pair[2];

        cr_assert_eq(fd_socketpair(pair, &err), 0);
        a.pid = fork();
        if (a.pid == 0) {
                signal(SIGTERM, SIG_IGN);
                prctl(PR_SET_PDEATHSIG, SIGKILL); /* but not longer than this test */
                if (type > 0)
                        frame_send(pair[1], type, &nothing, NULL, 0, &err);
                fd_close(pair[0]);
                fd_close(pair[1]);
                for (;;)
                        pause();
        }
        fd_close(pair[1]);
        a.socket = pair[0];
        return a;
}

static void check_ended(struct aside *a, enum code code)
{
        const pid_t pid = a->pid;

        while (!a->ended)
                aside_take(a);
        cr_expect_eq(a->result.failed.code, code);
        cr_expect_eq(waitpid(pid, NULL, WNOHANG), -1, "it is still there");
        aside_free(a);
}

Test(aside, one_that_closes_its_socket_and_stays_is_ended, .timeout = 30)
{
        struct aside a = one_that_stays(0);

        check_ended(&a, CODE_INTERNAL_HELPER);
}

Test(aside, one_that_says_nonsense_and_stays_is_ended, .timeout = 30)
{
        struct aside a = one_that_stays(UINT16_MAX);

        check_ended(&a, CODE_INTERNAL_FRAME);
}
