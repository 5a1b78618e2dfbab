/* Run commands in turns, so that noise hits all alike; print "median|p95|p99|cpu" of each in
 * milliseconds, a line each. A command is one argument, its words separated by spaces.
 *
 *   interleave RUNS COMMAND… */
#include "measure.h"

#include <string.h>
#include <sys/resource.h>

enum { MOST_WORDS = 64, MOST_COMMANDS = 16, WARM_UP = 2 };

static double milliseconds(struct timeval t)
{
        return (double)t.tv_sec * 1000 + (double)t.tv_usec / 1000;
}

/* Returns the wait status. */
static int run(char **argv, uint64_t *ret_us, double *cpu)
{
        uint64_t start = clock_us();
        struct rusage used;
        int status;
        pid_t pid = measure_start(argv);

        if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
                return -1;
        *ret_us = clock_us() - start;
        *cpu += milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
        return status;
}

int main(int argc, char **argv)
{
        static char *words[MOST_COMMANDS][MOST_WORDS];
        struct series times[MOST_COMMANDS];
        double cpu[MOST_COMMANDS] = {0};
        int runs = argc > 2 ? atoi(argv[1]) : 0, count = argc - 2;

        if (runs < 1 || count > MOST_COMMANDS)
                return 2;
        for (int i = 0; i < count; i++) {
                unsigned n = 0;

                for (char *w = strtok(argv[i + 2], " "); w && n < MOST_WORDS - 1;
                        w = strtok(NULL, " "))
                        words[i][n++] = w;
                times[i] = series_new((unsigned)runs);
        }
        for (int r = -WARM_UP; r < runs; r++)
                for (int i = 0; i < count; i++) {
                        uint64_t us = 0;
                        double used = 0;
                        int status = run(words[i], &us, &used);

                        if (status != 0 && r == -WARM_UP)
                                fprintf(stderr, "interleave: %s: wait status %d\n", words[i][0],
                                        status);
                        if (r < 0)
                                continue;
                        times[i].us[times[i].count++] = us;
                        cpu[i] += used;
                }
        for (int i = 0; i < count; i++) {
                series_print(&times[i]);
                printf("|%.3f\n", cpu[i] / runs);
        }
        return 0;
}
