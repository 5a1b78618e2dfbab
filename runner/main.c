/* assay: the command line. It reads no byte that an outsider wrote, but for the small checked
 * frames of its other programs:
 *
 *   assay ─┬─ assay-store     a store of results, where one is asked for; runner/store/
 *          ├─ assay-cell      makes and kills cells, starts the two below; sandbox/
 *          ├─ assay-unpack    archive → tree; images/
 *          └─ assay-score     JSON → checked values, and all arithmetic; evaluators/
 *
 * Of archives it sees no more than bytes to hash, of tests/ the names. A verb is a row here and a
 * file in cli/. */
#include "verbs.h"

#include "fd.h"

#include <signal.h>

struct verb {
        const char *name;
        int (*run)(int argc, char **argv, struct error *err);
        const char *what;
};

static const struct verb verbs[] = {
        {"run", verb_run, "grade one submission"},
        {"batch", verb_batch, "grade a folder of submissions"},
        {"check", verb_check, "validate a task without running anything"},
        {"verify", verb_verify,
                "grade a task's own solutions, and compare with what they must get"},
        {"describe", verb_describe, "tell what a submitter may know of a task"},
        {"init", verb_init, "make a new task from a template"},
        {"submission", verb_submission,
                "check a submission before an upload; a SUBMISSION.md to fill in"},
        {"exec", verb_exec, "run one command in a cell"},
        {"shell", verb_shell, "look around where a suite or a submission runs"},
        {"submit", verb_submit, "put a submission into the queue of a store"},
        {"worker", verb_worker, "grade what is in the queue of a store"},
        {"queue", verb_queue, "what waits, runs and failed in the queue of a store"},
        {"rejudge", verb_rejudge, "grade again what a queue has graded"},
        {"finalize", verb_finalize, "give a result that waits for its judge the score that came"},
        {"results", verb_results, "what a store of results has, and whether it was changed"},
        {"leaderboard", verb_leaderboard, "the agents of a store, by their best scores"},
        {"image", verb_image, "container images on this machine"},
        {"score", verb_score, "score an answer without a cell"},
        {"workflow", verb_workflow, "composite scores of workflows, and windows of them"},
        {"match", verb_match, "matches of agents, and what they do to ratings"},
        {"doctor", verb_doctor, "show what this machine can enforce"},
        {"explain", verb_explain, "say what an error code means and what to do"},
};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static int help(void)
{
        puts("usage: assay VERB …\n\nGrades untrusted submissions in confined cells.\n");
        for (unsigned i = 0; i < VERB_COUNT; i++)
                printf("  %-12s%s\n", verbs[i].name, verbs[i].what);
        puts("\n`assay VERB --help` tells more; so does the manual page, assay(1).");
        return 0;
}

static const struct verb *find(const char *name)
{
        for (unsigned i = 0; i < VERB_COUNT; i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}

static int fail(const struct error *err)
{
        error_print(err);
        return code_info(err->code)->ending;
}

int main(int argc, char **argv)
{
        struct error err = {0};
        const struct verb *verb;
        int status;

        if (fd_fill_stdio(&err) < 0)
                return fail(&err);
        /* A full pipe or a file size limit is an error to report, not a death. */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                strcmp(argv[1], "help") == 0) {
                help();
                return argc < 2 ? END_USAGE : 0;
        }
        if (strcmp(argv[1], "--version") == 0) {
                puts("assay " ASSAY_VERSION);
                return 0;
        }
        verb = find(argv[1]);
        if (!verb) {
                error_set(&err, CODE_USAGE, "%s: no such verb", argv[1]);
                return fail(&err);
        }
        status = verb->run(argc - 2, argv + 2, &err);
        if (status < 0)
                status = fail(&err);
        if (fflush(stdout) != 0 || ferror(stdout)) {
                error_errno(&err, CODE_INFRA_IO, errno, "cannot write to standard output");
                status = fail(&err);
        }
        return status;
}
