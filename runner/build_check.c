/* The build check: where a judge is to be asked and the task declares no build, the build that the
 * submission's manifest suggests is tried in a cell. Whatever comes of it is told, never scored.
 * What it leaves is thrown away: the judge and the suite have the files as they were submitted. */
#include "evaluation.h"

#include "beneath.h"
#include "fd.h"

#include <unistd.h>

enum { MOST_WALL_S = 120, MOST_WORDS = 5, MOST_SIGNS = 5 };

/* In order: the first that is there is tried. */
static const struct manifest {
        const char *file;
        const char *command[MOST_WORDS];
        const char *signs[MOST_SIGNS]; /* in what it prints: it wanted a network */
} manifests[] = {
        {"Makefile", {"make"}, {NULL}},
        {"makefile", {"make"}, {NULL}},
        {"GNUmakefile", {"make"}, {NULL}},
        {"CMakeLists.txt", {"sh", "-c", "cmake -S . -B build && cmake --build build"},
                {"Could not resolve host", "Failed to clone"}},
        {"Cargo.toml", {"cargo", "build", "--offline"},
                {"--offline", "no matching package", "failed to get"}},
        {"go.mod", {"go", "build", "./..."},
                {"dial tcp", "no required module provides", "missing go.sum entry",
                        "cannot find module"}},
        {"package.json", {"npm", "run", "build", "--if-present"},
                {"not found", "Cannot find module", "Cannot find package", "ENOTFOUND",
                        "EAI_AGAIN"}},
        {"pyproject.toml", {"python3", "-m", "compileall", "-q"}, {NULL}},
        {"requirements.txt", {"python3", "-m", "compileall", "-q"}, {NULL}},
};

static const struct manifest *find_manifest(const struct evaluation *e)
{
        for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
                const int fd = beneath_open(e->submission.root, manifests[i].file, O_PATH, 0);

                if (fd_close(fd), fd >= 0)
                        return &manifests[i];
        }
        return NULL;
}

bool build_check_is_due(const struct evaluation *e)
{
        return build_check_is_wanted(e) && find_manifest(e);
}

bool build_check_is_wanted(const struct evaluation *e)
{
        return e->task.build == BUILD_NONE && !e->options->llm_score &&
               (e->task.mode == MODE_LLM || e->task.mode == MODE_HYBRID);
}

/* Did it print a sign that it wanted a network? */
static const char *find_sign(const struct manifest *m, const struct log *output)
{
        for (unsigned i = 0; i < 2; i++)
                for (const char *const *sign = m->signs; sign < m->signs + MOST_SIGNS && *sign;
                        sign++)
                        if (memmem(output[i].head, output[i].head_len, *sign, strlen(*sign)))
                                return *sign;
        return NULL;
}

static void judge(const struct manifest *m, struct build_result *b)
{
        const struct cell_outcome *o = &b->outcome;
        const bool exited = o->end == CELL_EXITED && o->stopped == CODE_NONE;

        if (exited && o->status == 0) {
                b->good = true;
                return;
        }
        b->unknown = true;
        if (o->end == CELL_EXEC_FAILED || (exited && o->status == 127))
                snprintf(b->reason, sizeof b->reason, "there is no %s in the image", m->command[0]);
        else if (o->stopped != CODE_NONE)
                snprintf(b->reason, sizeof b->reason, "it was stopped by its limit (%s)",
                        code_info(o->stopped)->name);
        else if (find_sign(m, b->output))
                snprintf(b->reason, sizeof b->reason, "it seems to need a network (\"%s\")",
                        find_sign(m, b->output));
        else
                b->unknown = false;
}

/* -1: it cannot be tried here. */
static int try(struct evaluation *e, const struct manifest *m, struct error *err)
{
        struct limits limits = e->task.limits[CELL_SUITE];
        struct cell_outcome *o = &e->build.outcome;

        if (channel_ready(&e->channel, err) < 0)
                return -1;
        if (e->channel.facts.weak && !e->options->allow_weak)
                return error_set(
                        err, CODE_INFRA_LIMITS, "this machine cannot hold a cell to its limits");
        if (strcmp(e->task.image, "host") == 0 && !policy_allows_host(&e->policy))
                return error_set(err, CODE_TASK_NOT_PERMITTED,
                        "the operator does not allow \"host\" as image");
        if (limits.value[LIMIT_WALL] > MOST_WALL_S * 1000000ULL)
                limits.value[LIMIT_WALL] = MOST_WALL_S * 1000000ULL;
        if (submission_cell_prepare(e, err) < 0 ||
                build_execute(e, e->build.command, &limits, false, err) < 0)
                return -1;
        if (o->stopped == CODE_INTERRUPTED)
                return error_set(err, CODE_INTERRUPTED, "the build check was interrupted");
        judge(m, &e->build);
        return 0;
}

int build_check_run(struct evaluation *e, struct error *err)
{
        const struct manifest *m = find_manifest(e);
        struct build_result *b = &e->build;

        if (!m)
                return 0;
        b->detected = m->file;
        b->command = m->command;
        if (try(e, m, err) == 0)
                return 0;
        if (err->code == CODE_INTERRUPTED)
                return -1;
        b->unknown = true;
        snprintf(b->reason, sizeof b->reason, "%s", err->text);
        return 0;
}
