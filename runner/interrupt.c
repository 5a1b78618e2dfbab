/* Signals that end an evaluation; see interrupt.h. */
#include "interrupt.h"

#include <signal.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { COUNT = sizeof signals / sizeof *signals };

static sigset_t before;
static volatile sig_atomic_t came;

static void on_signal(int number)
{
        (void)number;
        came = 1;
}

void interrupt_hold(void)
{
        const struct sigaction action = {.sa_handler = on_signal};
        struct sigaction old;
        sigset_t held;

        sigemptyset(&held);
        for (int i = 0; i < COUNT; i++)
                if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
                        sigaction(signals[i], &action, NULL);
                        sigaddset(&held, signals[i]);
                }
        sigprocmask(SIG_BLOCK, &held, &before);
        for (int i = 0; i < COUNT; i++)
                sigdelset(&before, signals[i]);
}

bool interrupt_came(void)
{
        sigset_t pending;

        sigpending(&pending);
        for (int i = 0; i < COUNT; i++)
                if (sigismember(&pending, signals[i]))
                        came = 1;
        return came;
}

int interrupt_poll(struct pollfd *fds, unsigned count, int milliseconds)
{
        const struct timespec time = {
                .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};

        return ppoll(fds, count, milliseconds < 0 ? NULL : &time, &before);
}
