/* Checkers and interactors; see checker.h. What they say is the poster's word, and yet only bytes:
 * numbers go to assay-score as they stand. */
#include "checker.h"

#include "fd.h"
#include "scorer.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PLACE "/case"

enum { MOST_ARGUMENTS = 1100, KEPT = 4096, MOST_BYTES = 960 << 10 };

static const char input_place[] = PLACE "/input", expected_place[] = PLACE "/expected",
                  actual_place[] = PLACE "/actual", feedback_place[] = PLACE "/feedback";

/* --- what its end means --------------------------------------------------------------------- */

static const struct {
        unsigned right, wrong, also_wrong, points;
} protocols[CHECKER_COUNT] = {
        [CHECKER_PLAIN] = {0, 1, 1, 256},
        [CHECKER_KATTIS] = {42, 43, 43, 256},
        [CHECKER_TESTLIB] = {0, 1, 2, 7},
};

/* The first line of what it said, as far as it fits; made safe when it becomes an error. */
static void first_line(const struct log *said, char *ret, size_t size)
{
        const size_t len = said->head_len < size - 1 ? said->head_len : size - 1;

        memcpy(ret, said->head, len);
        ret[len] = '\0';
        ret[strcspn(ret, "\r\n")] = '\0';
}

/* "points 0.5 …": a part of the points. */
static int take_points(const char *line, struct checked *ret, struct error *err)
{
        static const char word[] = "points ";
        const char *number =
                strncmp(line, word, sizeof word - 1) == 0 ? line + sizeof word - 1 : line;

        snprintf(ret->part, sizeof ret->part, "%.*s", (int)strcspn(number, " \t"), number);
        if (scorer_is_decimal(ret->part) && *ret->part != '-' &&
                (*ret->part == '0' || strcmp(ret->part, "1") == 0))
                return 0;
        return error_set(
                err, CODE_CHECKER, "the checker says points, but no part from 0 to 1: %s", line);
}

static int judge_end(enum checker_protocol protocol, const struct cell_outcome *o,
        const struct log *said, struct checked *ret, struct error *err)
{
        char line[256];

        if (o->failed.code != CODE_NONE) {
                *err = o->failed;
                return -1;
        }
        if (o->stopped == CODE_INTERRUPTED)
                return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        if (o->stopped != CODE_NONE)
                return error_set(err, CODE_CHECKER, "the checker was stopped by a limit (%s)",
                        code_info(o->stopped)->name);
        if (o->end != CELL_EXITED)
                return error_set(err, CODE_CHECKER, "the checker %s: %s",
                        o->end == CELL_SIGNALED ? "died from a signal" : "cannot be executed",
                        o->end == CELL_SIGNALED ? strsignal((int)o->status)
                                                : strerror((int)o->status));
        first_line(said, line, sizeof line);
        snprintf(ret->reason, sizeof ret->reason, "%s", *line ? line : "the checker says no");
        snprintf(ret->part, sizeof ret->part, "%d", o->status == protocols[protocol].right);
        if (o->status == protocols[protocol].points)
                return take_points(line, ret, err);
        if (o->status == protocols[protocol].right || o->status == protocols[protocol].wrong ||
                o->status == protocols[protocol].also_wrong)
                return 0;
        return error_set(err, CODE_CHECKER, "the checker exited with status %u: %s",
                (unsigned)o->status, line);
}

/* A number of its own: score.txt, a part of the points of what is right. */
static int take_score(const struct cell_outcome *o, struct checked *ret, struct error *err)
{
        char text[64] = "";
        ssize_t n;

        if (strcmp(ret->part, "1") != 0 || o->results[0].state != RESULT_FILE)
                return 0;
        n = read(o->results[0].fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        text[strcspn(text, " \t\r\n")] = '\0';
        return take_points(text, ret, err);
}

/* --- checkers ------------------------------------------------------------------------------- */

static void add_file(struct cell_order *order, const char *place, const struct buffer *b)
{
        order->files[order->file_count].place = place;
        order->files[order->file_count].bytes = b->data;
        order->files[order->file_count++].size = b->len;
}

static unsigned put_command(const char **argv, char *const *command)
{
        unsigned count = 0;

        for (; count < MOST_ARGUMENTS - 5 && command[count]; count++)
                argv[count] = command[count];
        return count;
}

static int run(const struct check *c, struct cell_order *order, struct running *r,
        struct log logs[2], struct error *err)
{
        struct running_pipes pipes = {
                .logs = {&logs[0], &logs[1]},
                .most = order->limits.value[LIMIT_OUTPUT] * LOG_ENDLESS,
        };

        if (c->protocol == CHECKER_KATTIS) {
                pipes.feed = (const char *)c->actual.data;
                pipes.feed_size = c->actual.len;
        }
        return log_init(&logs[0], KEPT, 0, err) < 0 || log_init(&logs[1], KEPT, 0, err) < 0 ||
                               cells_start(c->cells, r, order, &pipes, err) < 0 ||
                               cells_wait(c->cells, r, err) < 0
                       ? -1
                       : 0;
}

int checker_run(const struct check *c, struct checked *ret, struct error *err)
{
        const bool testlib = c->protocol == CHECKER_TESTLIB, kattis = c->protocol == CHECKER_KATTIS;
        const char *argv[MOST_ARGUMENTS];
        unsigned count = put_command(argv, c->command);
        struct running running = {.on_end = NULL};
        struct log logs[2] = {{0}, {0}};
        struct cell_order order;
        int r;

        if (c->input->len + c->expected->len > MOST_BYTES)
                return error_set(err, CODE_CHECKER,
                        "input and expected output together have more than %d KiB, too much for a "
                        "checker",
                        MOST_BYTES >> 10);
        /* What it printed is no fault of the task's. */
        if (c->input->len + c->expected->len + c->actual.len > MOST_BYTES) {
                *ret = (struct checked){.part = "0"};
                snprintf(ret->reason, sizeof ret->reason,
                        "printed too much for a checker: with input and expected output more than "
                        "%d KiB",
                        MOST_BYTES >> 10);
                return 0;
        }
        c->checker_cell(c->to, &order);
        add_file(&order, input_place, c->input);
        add_file(&order, expected_place, c->expected);
        add_file(&order, actual_place, &c->actual);
        argv[count++] = input_place;
        argv[count++] = testlib ? actual_place : expected_place;
        argv[count++] = testlib ? expected_place : kattis ? feedback_place : actual_place;
        argv[count] = NULL;
        order.argv = argv;
        if (kattis) {
                order.result_dir = feedback_place;
                order.results[order.result_count++] = "score.txt";
        }
        r = run(c, &order, &running, logs, err);
        if (r == 0)
                r = judge_end(c->protocol, &running.outcome, logs[1].total ? &logs[1] : &logs[0],
                        ret, err);
        if (r == 0 && kattis)
                r = take_score(&running.outcome, ret, err);
        cell_outcome_free(&running.outcome);
        log_free(&logs[0]);
        log_free(&logs[1]);
        return r;
}

/* --- interactors ---------------------------------------------------------------------------- */

static int start_both(const struct interaction *i, struct cell_order *interactor,
        const int to_program[2], const int from_program[2], struct error *err)
{
        struct running_pipes pipes = {.wired = true, .most = UINT64_MAX};

        interactor->stdio[0] = from_program[0];
        interactor->stdio[1] = to_program[1];
        pipes.logs[1] = i->log[0];
        if (cells_start(i->cells, i->interactor_cell, interactor, &pipes, err) < 0)
                return -1;
        i->program->stdio[0] = to_program[0];
        i->program->stdio[1] = from_program[1];
        pipes.logs[1] = i->log[1];
        return cells_start(i->cells, i->program_cell, i->program, &pipes, err);
}

int interaction_start(const struct interaction *i, struct error *err)
{
        const char *argv[MOST_ARGUMENTS];
        unsigned count = put_command(argv, i->command);
        int to_program[2], from_program[2], r;
        struct cell_order order;

        i->checker_cell(i->to, &order);
        add_file(&order, input_place, i->input);
        argv[count++] = input_place;
        argv[count] = NULL;
        order.argv = argv;
        if (fd_pipe(to_program, err) < 0)
                return -1;
        r = fd_pipe(from_program, err);
        if (r == 0) {
                r = start_both(i, &order, to_program, from_program, err);
                fd_close(from_program[0]);
                fd_close(from_program[1]);
        }
        fd_close(to_program[0]);
        fd_close(to_program[1]);
        return r;
}

int interaction_judge(enum checker_protocol protocol, const struct running *interactor,
        const struct log *errors, struct checked *ret, struct error *err)
{
        return judge_end(protocol, &interactor->outcome, errors, ret, err);
}
