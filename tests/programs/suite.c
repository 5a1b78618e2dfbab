/* A suite with one behaviour a word: suite KIND. Each row is something that a suite, or the
 * submission code that it runs in its own cell, may do to its result or to the machine. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESULT "/results/score.json"

static void put(const char *text)
{
        int fd = open(RESULT, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
                _exit(99);
        close(fd);
}

static void good(void)
{
        put("{\"score\": 80, \"pass\": true, \"breakdown\": {\"Correctness\": 80}}");
}

static void fails(void)
{
        put("{\"score\": 40, \"pass\": false, \"breakdown\": {\"Correctness\": 40}}");
}

static void tests(void)
{
        put("{\"score\": 75, \"pass\": true, \"tests\": ["
            "{\"name\": \"good/a\", \"passed\": true}, {\"name\": \"good/b\", \"passed\": true},"
            "{\"name\": \"bad/c\", \"passed\": false}, {\"name\": \"d\", \"passed\": true}]}");
}

static void broken(void)
{
        put("{\"score\": 80,\n \"pass\": tru");
}

static void out_of_range(void)
{
        put("{\"score\": 101, \"pass\": true}");
}

static void not_a_number(void)
{
        put("{\"score\": NaN, \"pass\": true}");
}

static void twice(void)
{
        put("{\"score\": 80, \"score\": 100, \"pass\": true}");
}

static void no_tests(void)
{
        put("{\"score\": 100, \"pass\": true, \"tests\": []}");
}

/* Numbers in the forms that JSON writers of other languages give them. */
static void exponents(void)
{
        put("{\"score\": 8.0e1, \"pass\": true, \"breakdown\": {\"Correctness\": 1E-05},"
            " \"tests\": [{\"name\": \"a\", \"passed\": true, \"duration_ms\": 1.5e3}]}");
}

/* What floating point makes of 100 - 99.99999999999999. */
static void tiny(void)
{
        put("{\"score\": 1.4210854715202004e-14, \"pass\": false}");
}

static void nothing(void)
{
}

static void empty(void)
{
        put("");
}

static void exits(void)
{
        good();
        exit(3);
}

static void crashes(void)
{
        good();
        raise(SIGSEGV);
}

static void forks(void)
{
        for (;;)
                fork();
}

static void sleeps(void)
{
        good();
        for (;;)
                pause();
}

static void spins(void)
{
        good();
        for (;;)
                ;
}

static void eats(void)
{
        for (;;) {
                char *block = malloc(1 << 20);

                if (block)
                        memset(block, 1, 1 << 20);
        }
}

static void fills_tmpfs(void)
{
        static char block[1 << 20];
        int fd = open("/tmp/big", O_WRONLY | O_CREAT, 0600);

        memset(block, 1, sizeof block);
        while (write(fd, block, sizeof block) > 0)
                ;
        good();
}

static void prints(void)
{
        static char line[1 << 16];

        memset(line, 'x', sizeof line);
        for (;;)
                if (write(1, line, sizeof line) < 0)
                        _exit(0);
}

/* More than is kept, less than is endless, with bytes that no terminal should see. */
static void prints_much(void)
{
        good();
        printf("first\033[31m\n");
        for (int i = 0; i < 300000; i++)
                printf("line %d\n", i);
        printf("\xff last\n");
}

static void result_link(void)
{
        if (symlink("/etc/passwd", RESULT) < 0)
                _exit(99);
}

static void result_hard_link(void)
{
        good();
        if (link(RESULT, "/results/other") < 0)
                _exit(99);
}

static void result_fifo(void)
{
        if (mkfifo(RESULT, 0600) < 0)
                _exit(99);
}

static void result_directory(void)
{
        if (mkdir(RESULT, 0700) < 0)
                _exit(99);
}

static void result_huge(void)
{
        int fd = open(RESULT, O_WRONLY | O_CREAT, 0600);

        if (ftruncate(fd, 2 << 20) < 0)
                _exit(99);
}

/* The suite ends; what it left behind waits for that and writes a better result. */
static void daemon_forges(void)
{
        pid_t suite = getpid();

        good();
        if (fork() == 0) {
                setsid();
                signal(SIGTERM, SIG_IGN);
                if (fork() == 0) {
                        while (kill(suite, 0) == 0)
                                ;
                        usleep(50000);
                        put("{\"score\": 100, \"pass\": true, \"breakdown\": {}}");
                }
                _exit(0);
        }
        wait(NULL);
}

/* Grades what a submission planted: the suite itself decides, so it is 0. */
static void submission_planted(void)
{
        struct stat st;
        int planted = stat("/agent_output/results/score.json", &st) == 0;
        int visible = stat(RESULT, &st) == 0;

        if (visible)
                put("{\"score\": 100, \"pass\": true, \"notes\": \"the result was there before\"}");
        else
                put(planted ? "{\"score\": 0, \"pass\": false}"
                            : "{\"score\": 50, \"pass\": false}");
}

static const struct {
        const char *name;
        void (*run)(void);
} kinds[] = {
        {"good", good},
        {"broken", broken},
        {"out-of-range", out_of_range},
        {"not-a-number", not_a_number},
        {"twice", twice},
        {"fails", fails},
        {"tests", tests},
        {"no-tests", no_tests},
        {"exponents", exponents},
        {"tiny", tiny},
        {"nothing", nothing},
        {"empty", empty},
        {"exits", exits},
        {"crashes", crashes},
        {"forks", forks},
        {"sleeps", sleeps},
        {"spins", spins},
        {"eats", eats},
        {"fills-tmpfs", fills_tmpfs},
        {"prints", prints},
        {"prints-much", prints_much},
        {"result-link", result_link},
        {"result-hard-link", result_hard_link},
        {"result-fifo", result_fifo},
        {"result-directory", result_directory},
        {"result-huge", result_huge},
        {"daemon-forges", daemon_forges},
        {"submission-planted", submission_planted},
};

int main(int argc, char **argv)
{
        for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(kinds[i].name, argv[1]) == 0) {
                        kinds[i].run();
                        return 0;
                }
        return 98;
}
