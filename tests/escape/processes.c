/* Exhausting and outliving: KIND, then a marker in argv by which a test finds what is left. */
#include "attempt.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void hang(void)
{
        for (;;)
                pause();
}

/* Deaf to every signal that can be ignored. */
static void be_deaf(void)
{
        for (int sig = 1; sig < NSIG; sig++)
                signal(sig, SIG_IGN);
        prlimit(0, RLIMIT_CPU, &(struct rlimit){1, 1}, NULL);
}

static void fork_bomb(void)
{
        signal(SIGCHLD, SIG_IGN);
        for (;;)
                if (fork() < 0)
                        usleep(1000);
}

/* Each process is gone before anybody can list it: its child goes on. */
static void running_bomb(void)
{
        if (fork() > 0)
                hang();
        for (;;)
                if (fork() > 0)
                        _exit(0);
}

static void *sleep_for_ever(void *unused)
{
        hang();
        return unused;
}

static void thread_bomb(void)
{
        pthread_attr_t small;
        pthread_t thread;

        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 16384);
        while (pthread_create(&thread, &small, sleep_for_ever, NULL) == 0)
                continue;
        hang();
}

/* Processes that nobody waits for. */
static void zombies(void)
{
        while (true)
                if (fork() == 0)
                        _exit(0);
}

static void daemons(void)
{
        for (int i = 0; i < 8; i++) {
                if (fork() > 0)
                        continue;
                setsid();
                be_deaf();
                if (fork() == 0)
                        hang();
                _exit(0);
        }
        while (wait(NULL) > 0)
                continue;
}

static void stopped(void)
{
        for (int i = 0; i < 8; i++)
                if (fork() == 0)
                        for (;;)
                                raise(SIGSTOP);
        raise(SIGSTOP);
        hang();
}

static void deaf(void)
{
        sigset_t all;

        be_deaf();
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        hang();
}

/* In vfork() the parent waits where only a kill reaches it. */
static void unkillable(void)
{
        if (vfork() == 0)
                hang();
}

static void spin(void)
{
        for (;;)
                continue;
}

/* Short children one after another, none of which is the command or outlives a look. */
static void burn_children(void)
{
        for (;;) {
                if (fork() == 0) {
                        for (volatile int i = 0; i < 30000000; i++)
                                continue;
                        _exit(0);
                }
                wait(NULL);
        }
}

/* The command ends in time; what it leaves burns on. */
static void burn_after_exit(void)
{
        for (int i = 0; i < 4; i++)
                if (fork() == 0) {
                        setsid();
                        be_deaf();
                        spin();
                }
}

static void ignore_xcpu(void)
{
        be_deaf();
        spin();
}

static void dump_core(void)
{
        setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
        if (chdir("/tmp") == 0)
                abort();
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(void);
        } kinds[] = {{"fork-bomb", fork_bomb}, {"running-bomb", running_bomb},
                {"thread-bomb", thread_bomb}, {"zombies", zombies}, {"daemons", daemons},
                {"stopped", stopped}, {"deaf", deaf}, {"unkillable", unkillable}, {"sleep", hang},
                {"spin", spin}, {"ignore-xcpu", ignore_xcpu}, {"burn-children", burn_children},
                {"burn-after-exit", burn_after_exit}, {"dump-core", dump_core}};

        for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(argv[1], kinds[i].name) == 0) {
                        kinds[i].run();
                        return 0;
                }
        return 2;
}
