/* A supervisor that is gone is said to be, whatever is asked of it: runner/channel. */
#include "channel.h"

#include "fd.h"

#include <criterion/criterion.h>

static struct channel one_that_is_gone(void)
{
        struct channel c = CHANNEL_INIT;
        int pair[2];

        cr_assert_eq(fd_socketpair(pair, NULL), 0);
        fd_close(pair[1]);
        c.socket = pair[0];
        c.ready = true;
        return c;
}

Test(channel, a_cell_that_a_lost_supervisor_is_asked_for)
{
        const char *const words[] = {"true", NULL}, *const none[] = {NULL};
        const struct cell_order order = {
                .workdir = "/", .argv = words, .envp = none, .stdio = {0, 1, 2}};
        struct channel c = one_that_is_gone();
        struct error err = {0};

        cr_expect_eq(channel_start_cell(&c, &order, &err), 0);
        cr_expect_eq(err.code, CODE_INFRA_SUPERVISOR, "%s", err.text);
        channel_close(&c);
}

Test(channel, a_helper_that_a_lost_supervisor_is_asked_for)
{
        const int fds[] = {0, 1};
        struct channel c = one_that_is_gone();
        struct error err = {0};

        cr_expect_eq(channel_start_helper(&c, HELPER_SCORE, HELPER_TASK, fds, 2, &err), 0);
        cr_expect_eq(err.code, CODE_INFRA_SUPERVISOR, "%s", err.text);
        channel_close(&c);
}
