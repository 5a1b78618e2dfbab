/* A suite for tests/cli/forging.bats: asks the submission each question of /tests/answers by
 * $ASSAY_EXEC, and writes the score. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ask(const char *question, char *ret, size_t size)
{
        const char *const argv[] = {getenv("ASSAY_EXEC"), "--timeout", getenv("TIMEOUT"), "--",
                "python3", "solution.py", NULL};
        int in[2], out[2];
        size_t have = 0;
        ssize_t n;
        pid_t pid;

        if (pipe(in) < 0 || pipe(out) < 0 || (pid = fork()) < 0)
                exit(2);
        if (pid == 0) {
                dup2(in[0], 0);
                dup2(out[1], 1);
                close(in[1]);
                close(out[0]);
                execv(argv[0], (char *const *)argv);
                _exit(127);
        }
        close(in[0]);
        close(out[1]);
        (void)!write(in[1], question, strlen(question));
        close(in[1]);
        while ((n = read(out[0], ret + have, size - 1 - have)) > 0)
                have += (size_t)n;
        ret[have] = '\0';
        close(out[0]);
        waitpid(pid, NULL, 0);
}

int main(void)
{
        FILE *answers = fopen("/tests/answers", "r"), *result;
        char question[64], expected[64], said[256];
        unsigned right = 0, count = 0;

        if (!answers)
                return 2;
        for (; fscanf(answers, "the-answer-to %60s %60s\n", question, expected) == 2; count++) {
                strcat(question, "\n");
                strcat(expected, "\n");
                ask(question, said, sizeof said);
                right += strcmp(said, expected) == 0;
        }
        result = fopen("/results/score.json", "w");
        if (!result || count == 0)
                return 2;
        fprintf(result, "{\"score\": %u, \"pass\": %s}\n", 100 * right / count,
                right == count ? "true" : "false");
        return fclose(result) != 0;
}
