/* Times of repeated runs, and their order statistics. */
#ifndef ASSAY_BENCH_MEASURE_H
#define ASSAY_BENCH_MEASURE_H

#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct series {
        uint64_t *us;
        unsigned count;
};

static inline struct series series_new(unsigned most)
{
        return (struct series){calloc(most, sizeof(uint64_t)), 0};
}

static inline int series_order(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* "median|p95|p99" in milliseconds. */
static inline void series_print(struct series *s)
{
        qsort(s->us, s->count, sizeof *s->us, series_order);
        printf("%.3f|%.3f|%.3f", (double)s->us[s->count / 2] / 1000,
                (double)s->us[s->count * 95 / 100] / 1000,
                (double)s->us[s->count * 99 / 100] / 1000);
}

/* Start a program, quietly. */
static inline pid_t measure_start(char **argv)
{
        pid_t pid = fork();

        if (pid == 0) {
                int null = open("/dev/null", O_WRONLY);

                dup2(null, 1);
                dup2(null, 2);
                execvp(argv[0], argv);
                _exit(127);
        }
        return pid;
}

#endif
