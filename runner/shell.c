/* A shell in a cell; see shell.h. Time is not limited, everything else is. */
#include "shell.h"

#include "ended.h"
#include "evaluators/contract.h"
#include "fd.h"
#include "terminal.h"
#include "text.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_CASE_FILE = 256 << 10, MOST_VARIABLES = 512 };

struct shell {
        struct terminal terminal;
        struct running cell;
        struct cell_order order;
        struct case_look look;
        const char *env[MOST_VARIABLES];
        char *term; /* TERM=… */
};

static volatile sig_atomic_t resized;

static void note_resize(int unused)
{
        (void)unused;
        resized = 1;
}

/* --- what it is given ----------------------------------------------------------------------- */

static int prepare_suite(struct evaluation *e, struct cell_order *order, struct error *err)
{
        if (!task_runs_something(&e->task))
                return error_set(err, CODE_USAGE,
                        "this task has no suite; --cell submission shows the submission's cell");
        if (task_has_suite(&e->task))
                return suite_cell_prepare(e, order, err);
        if (suite_cell_prepare_checker(e, err) < 0)
                return -1;
        if (e->task.workflow.given)
                suite_cell_order_tool(e, order);
        else
                suite_cell_order_checker(e, order);
        return 0;
}

static int prepare_submission(struct evaluation *e, struct cell_order *order, struct error *err)
{
        if (submission_cell_prepare(e, err) < 0)
                return -1;
        submission_cell_order(&e->cell, order);
        return 0;
}

static void add_file(struct cell_order *order, const char *place, const struct buffer *bytes)
{
        if (bytes->len > MOST_CASE_FILE) {
                fprintf(stderr, "assay: %s is left out: it has more than %d bytes\n", place,
                        MOST_CASE_FILE);
                return;
        }
        order->files[order->file_count].place = place;
        order->files[order->file_count].bytes = bytes->data;
        order->files[order->file_count++].size = bytes->len;
}

static int add_case(struct evaluation *e, const char *name, struct shell *s, struct error *err)
{
        const struct cases_order all = {.task = &e->task, .submission = &e->cell};

        if (cases_look(&all, name, &s->look, err) < 0)
                return -1;
        add_file(&s->order, "/case/input", &s->look.input);
        if (s->look.has_expected)
                add_file(&s->order, "/case/expected", &s->look.expected);
        return 0;
}

static bool is_plain(const char *text)
{
        return text[strspn(text,
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-")] ==
               '\0';
}

/* A terminal's name is all that is taken over from the caller. */
static void add_term(struct shell *s)
{
        const char *term = getenv("TERM");
        unsigned count = 0;

        if (s->terminal.master < 0 || !term || !is_plain(term) ||
                asprintf(&s->term, "TERM=%s", term) < 0)
                return;
        while (count < MOST_VARIABLES - 2 && s->order.envp[count]) {
                s->env[count] = s->order.envp[count];
                count++;
        }
        s->env[count] = s->term;
        s->order.envp = s->env;
}

/* --- the words before ----------------------------------------------------------------------- */

static void say_command(const char *what, const char *const *words)
{
        fprintf(stderr, "assay: %s:", what);
        for (; words && *words; words++)
                fprintf(stderr, " %s", *words);
        fputc('\n', stderr);
}

/* Why it is not as a submission that builds is. */
static void say_what_shaped(const struct evaluation *e)
{
        if (e->shaped.code != CODE_NONE)
                fprintf(stderr, "assay: %s: %s\n", code_info(e->shaped.code)->name, e->shaped.text);
}

static void introduce(
        const struct evaluation *e, const struct shell_order *o, const struct shell *s)
{
        fprintf(stderr, "assay: a shell in the cell of the %s; what is changed here is lost\n",
                o->submission ? "submission" : "suite");
        for (unsigned i = 0; i < s->order.mount_count; i++)
                fprintf(stderr, "assay: %s\n", s->order.mounts[i].place);
        if (s->look.command)
                say_command("the case runs", (const char *const *)s->look.command);
        else if (!o->submission && e->suite_cell.command)
                say_command("the suite runs", e->suite_cell.command);
}

static int exit_status(const struct cell_outcome *o, const char *command)
{
        const struct ended ended = {.end = o->end, .status = o->status, .stopped = o->stopped};
        char safe[256];

        if (o->end == CELL_EXEC_FAILED) {
                text_escape(safe, sizeof safe, command, strlen(command));
                fprintf(stderr, "assay: %s: %s\n", safe, strerror((int)o->status));
        }
        return ended_exit_status(&ended);
}

/* --- all ------------------------------------------------------------------------------------ */

static int prepare(
        struct evaluation *e, const struct shell_order *o, struct shell *s, struct error *err)
{
        static const char *const shell[] = {"sh", NULL};

        if ((o->submission ? prepare_submission : prepare_suite)(e, &s->order, err) < 0 ||
                (o->case_name && add_case(e, o->case_name, s, err) < 0))
                return -1;
        if (!o->quiet)
                say_what_shaped(e);
        if (!*o->command && !o->quiet)
                introduce(e, o, s);
        s->order.argv = *o->command ? o->command : shell;
        s->order.limits.value[LIMIT_WALL] = limit_info(LIMIT_WALL)->most;
        s->order.limits.value[LIMIT_CPU] = limit_info(LIMIT_CPU)->most;
        return 0;
}

static int run(struct evaluation *e, struct shell *s, struct error *err)
{
        sigset_t held;
        int r;

        sigemptyset(&held);
        sigaddset(&held, SIGWINCH);
        sigprocmask(SIG_BLOCK, &held, NULL); /* it comes while we wait, as others do */
        if (terminal_open(&s->terminal, &e->cells.loop, s->order.stdio, err) < 0)
                return -1;
        add_term(s);
        signal(SIGWINCH, note_resize);
        signal(SIGPIPE, SIG_IGN);
        suite_take_calls(e, &s->cell);
        r = cells_start(&e->cells, &s->cell, &s->order, NULL, err);
        for (int i = 0; i < CELL_STDIO; i++)
                fd_close(s->order.stdio[i]);
        while (r == 0 && !s->cell.ended) {
                r = cells_turn(&e->cells, err);
                if (resized) {
                        resized = 0;
                        terminal_resize(&s->terminal);
                }
        }
        return r;
}

int shell_run(struct evaluation *e, const struct shell_order *o, int *ret_status, struct error *err)
{
        struct shell *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        s->terminal.master = -EBADF;
        r = prepare(e, o, s, err);
        if (r == 0)
                r = run(e, s, err);
        terminal_close(&s->terminal);
        if (r == 0)
                r = broker_close(&e->broker, err);
        if (r == 0 && s->cell.outcome.failed.code != CODE_NONE) {
                *err = s->cell.outcome.failed;
                r = -1;
        }
        if (r == 0)
                *ret_status = exit_status(&s->cell.outcome, s->order.argv[0]);
        cell_outcome_free(&s->cell.outcome);
        case_look_free(&s->look);
        free(s->term);
        free(s);
        return r;
}
