/* Many processes that ignore every signal and stop each other; says when all are there.
 *
 *   stubborn COUNT */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        int count = argc > 1 ? atoi(argv[1]) : 400;

        for (int sig = 1; sig < NSIG; sig++)
                signal(sig, SIG_IGN);
        for (int i = 1; i < count; i++)
                if (fork() == 0) {
                        setsid();
                        if (i % 3 == 0)
                                raise(SIGSTOP);
                        for (;;)
                                pause();
                }
        (void)!write(1, "all", 3);
        for (;;)
                pause();
}
