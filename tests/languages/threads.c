/* Threads and subprocesses, as a program of an ordinary C library uses them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile last; /* what a leak check shall find, in the build that has one */

static void *add(void *sum)
{
        __atomic_add_fetch((int *)sum, 1, __ATOMIC_SEQ_CST);
        return NULL;
}

int main(void)
{
        pthread_t threads[8];
        int sum = 0, status = 0;

        for (int i = 0; i < 8; i++)
                if (pthread_create(&threads[i], NULL, add, &sum) != 0)
                        return 1;
        for (int i = 0; i < 8; i++)
                pthread_join(threads[i], NULL);
        if (fork() == 0)
                execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
        wait(&status);
        printf("%d threads, child %d\n", sum, WEXITSTATUS(status));
#ifdef LEAK
        for (int i = 0; i < 10; i++)
                last = malloc(64);
#endif
        return fflush(stdout) == 0 ? 0 : 1;
}
