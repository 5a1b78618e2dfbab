/* assay batch TASK DIR|FILE…: a folder of submissions, several at a time, a result file each.
 *
 * This process keeps the caller's rights, to open submissions and to name results; each evaluation
 * has a process of its own (aside.h), which gives them up. A result is written as NAME.json.new and
 * gets its name when it is complete; then the journal has it too. */
#include "verbs.h"

#include "aside.h"
#include "batch/journal.h"
#include "batch/summary.h"
#include "fd.h"
#include "output.h"
#include "report/report.h"
#include "storing.h"
#include "task_facts.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

struct batch {
        struct common_options common;
        struct evaluation_options evaluation;
        const char *jobs, *csv, *results;
        bool resume;

        const char *task;
        struct task_facts facts;
        struct batch_rows rows;
        int results_dir, journal;
        unsigned done, running;
};

/* --- progress ------------------------------------------------------------------------------- */

static bool has_terminal(const struct batch *b)
{
        const char *terminal = getenv("TERM");

        return !b->common.json && !b->common.quiet && isatty(STDOUT_FILENO) && terminal &&
               strcmp(terminal, "dumb") != 0;
}

/* On a terminal one line that changes; what was not graded stays to be read. */
static void show(const struct batch *b, const struct batch_row *ended)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        const bool terminal = has_terminal(b), colour = report_wants_colour();

        if (b->common.json || b->common.quiet)
                return;
        if (terminal)
                buffer_add_text(&out, "\r\033[K");
        if (ended && (!terminal || ended->record.status != STATUS_GRADED))
                batch_add_line(&out, ended);
        if (terminal && b->done < b->rows.count)
                buffer_add_format(&out, "%s%u of %u%s, %u at work", colour ? "\033[1m" : "",
                        b->done, b->rows.count, colour ? "\033[0m" : "", b->running);
        fputs(buffer_text(&out), stdout);
        fflush(stdout);
}

/* --- one submission ------------------------------------------------------------------------- */

static void result_name(const struct batch_row *row, const char *ending, char *ret)
{
        snprintf(ret, NAME_MAX + 1, "%s%s", row->name, ending);
}

static void drop_new(const struct batch *b, const struct batch_row *row)
{
        char name[NAME_MAX + 1];

        result_name(row, ".json.new", name);
        unlinkat(b->results_dir, name, 0);
}

static int make_new(const struct batch *b, const struct batch_row *row, struct error *err)
{
        char name[NAME_MAX + 1];
        int fd;

        drop_new(b, row); /* what a batch left that was killed */
        result_name(row, ".json.new", name);
        fd = openat(
                b->results_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        return fd >= 0 ? fd : error_errno(err, CODE_INFRA_IO, errno, "%s/%s", b->results, name);
}

static int name_result(const struct batch *b, const struct batch_row *row, struct error *err)
{
        char from[NAME_MAX + 1], to[NAME_MAX + 1];

        result_name(row, ".json.new", from);
        result_name(row, ".json", to);
        return renameat(b->results_dir, from, b->results_dir, to) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "%s/%s", b->results, to);
}

/* Its result is there, it did not change, and no fault of ours kept it from a grade. */
static bool may_keep(const struct batch *b, struct batch_row *row)
{
        const struct batch_record before = row->record;
        const enum error_class class = code_info(before.code)->class;
        char name[NAME_MAX + 1];
        struct stat st;
        int fd = batch_row_open(row, NULL);
        bool same =
                fd >= 0 && row->record.size == before.size && row->record.changed == before.changed;

        fd_close(fd);
        result_name(row, ".json", name);
        same = same && fstatat(b->results_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(st.st_mode) && st.st_size > 0;
        if (same && !(before.status == STATUS_ERROR &&
                            (class == CLASS_INFRA || class == CLASS_INTERNAL)))
                return true;
        batch_record_free(&row->record);
        row->done = row->kept = row->evaluated = false;
        return false;
}

static bool copy_texts(struct batch_record *to, const struct aside_result *from)
{
        const bool failed = from->failed.code != CODE_NONE;
        const struct {
                char **to;
                const char *text;
        } texts[] = {
                {&to->reason, failed ? from->failed.text : from->reason},
                {&to->sha256, from->sha256},
                {&to->outcome, from->outcome},
                {&to->score, from->score},
                {&to->test_score, from->test_score},
                {&to->llm_score, from->llm_score},
        };

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                *texts[i].to = strdup(texts[i].text ? texts[i].text : "");
                if (!*texts[i].to)
                        return false;
        }
        return true;
}

/* What was never evaluated is an error like another, but has no result file. */
static int settle(
        struct batch *b, struct batch_row *row, const struct aside_result *r, struct error *err)
{
        struct batch_record *to = &row->record;
        const bool failed = r->failed.code != CODE_NONE;

        to->status = failed ? STATUS_ERROR : r->status;
        to->exit = failed ? END_ERROR : r->exit;
        to->code = failed ? r->failed.code : r->code;
        to->ms = r->us / 1000;
        if (!copy_texts(to, r))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        row->done = true;
        row->evaluated = !failed;
        b->done++;
        show(b, row);
        return 0;
}

static int refuse(
        struct batch *b, struct batch_row *row, const struct error *why, struct error *err)
{
        const struct aside_result r = {.failed = *why};

        return settle(b, row, &r, err) < 0 ? -1 : 1;
}

static int begin(void *to, unsigned i, struct aside *a, struct error *err)
{
        struct batch *b = to;
        struct batch_row *row = &b->rows.all[i];
        _cleanup_fd_ int submission = -EBADF, output = -EBADF;
        struct aside_order order = ASIDE_ORDER_INIT;
        struct error why = {0};
        char path[64];

        if (row->done && may_keep(b, row)) {
                b->done++;
                show(b, row);
                return 1;
        }
        submission = batch_row_open(row, &why);
        if (submission < 0)
                return refuse(b, row, &why, err);
        output = make_new(b, row, err);
        if (output < 0)
                return -1;
        row->running = true;
        b->running++;
        snprintf(path, sizeof path, "/proc/self/fd/%d", submission);
        show(b, NULL);
        order.task = b->task;
        order.submission = path;
        order.options = &b->evaluation;
        order.output = output;
        return aside_begin(a, &order, err);
}

static int ended(void *to, unsigned i, struct aside_result *r, struct error *err)
{
        struct batch *b = to;
        struct batch_row *row = &b->rows.all[i];
        const enum code failed = r->failed.code;

        b->running--;
        if (failed != CODE_NONE || r->code == CODE_INTERRUPTED) {
                drop_new(b, row);
                row->running = false;
        }
        if (failed == CODE_INTERRUPTED || (failed == CODE_NONE && r->code == CODE_INTERRUPTED))
                return 0; /* as if it had not begun */
        /* The task cannot be evaluated here, so no other one can. */
        if (code_info(failed)->class == CLASS_USAGE && failed != CODE_SUBMISSION_MISSING) {
                *err = r->failed;
                return -1;
        }
        if (failed != CODE_NONE)
                return settle(b, row, r, err);
        if (name_result(b, row, err) < 0)
                return -1;
        row->running = false;
        return settle(b, row, r, err) < 0 || journal_add(b->journal, row, err) < 0 ? -1 : 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static int open_results(struct batch *b, struct error *err)
{
        if (mkdir(b->results, 0777) < 0 && errno != EEXIST)
                return error_errno(err, CODE_USAGE, errno, "%s: cannot be made", b->results);
        b->results_dir = open(b->results, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return b->results_dir >= 0 ? 0 : error_errno(err, CODE_USAGE, errno, "%s", b->results);
}

static int write_csv(const struct batch *b, struct output *to, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        batch_add_csv(&out, &b->rows);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for %s", b->csv);
        if (fd_write_all(to->fd, out.data, out.len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%s", b->csv);
        return output_keep(to, err) < 0 ? error_add(err, "%s", b->csv) : 0;
}

static int print(const struct batch *b, const struct batch_counts *c, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (b->common.json)
                batch_add_json(&out, &b->rows, b->facts.name);
        else if (!b->common.quiet)
                batch_add_summary(&out, c);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        fflush(stdout);
        return fd_write_all(STDOUT_FILENO, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

static int run_all(struct batch *b, struct error *err)
{
        struct aside_many many = {.count = b->rows.count, .begin = begin, .ended = ended, .to = b};
        int r = aside_parse_jobs(b->jobs, &many.jobs, err);

        if (r == 0)
                r = aside_run(&many, err);
        for (unsigned i = 0; i < b->rows.count; i++)
                if (b->rows.all[i].running)
                        drop_new(b, &b->rows.all[i]);
        if (has_terminal(b) && b->done < b->rows.count)
                puts("");
        if (r < 0 && err->code == CODE_INTERRUPTED)
                error_set(err, CODE_INTERRUPTED,
                        "%u of %u are done; the same command with --resume goes on from there",
                        b->done, b->rows.count);
        return r;
}

static int grade(struct batch *b, char *const *paths, unsigned count, struct error *err)
{
        struct output csv = OUTPUT_INIT;
        struct batch_counts counts;
        int r;

        if (storing_try(&b->evaluation, err) < 0 ||
                task_facts_read(&b->facts, b->task, b->evaluation.policy, err) < 0 ||
                open_results(b, err) < 0 ||
                batch_rows_find(&b->rows, paths, count, b->results_dir, err) < 0)
                return -1;
        b->journal = journal_open(b->results_dir, b->facts.name, b->resume, &b->rows, err);
        if (b->journal < 0)
                return error_add(err, "%s", b->results);
        if (b->csv && output_open(&csv, b->csv, true, err) < 0)
                return -1;
        r = run_all(b, err);
        batch_count(&b->rows, &counts);
        if (r == 0 && b->csv)
                r = write_csv(b, &csv, err);
        if (r == 0)
                r = print(b, &counts, err);
        output_close(&csv);
        return r == 0 ? batch_exit(&counts) : -1;
}

int verb_batch(int argc, char **argv, struct error *err)
{
        struct batch b = {.results = "results", .results_dir = -EBADF, .journal = -EBADF};
        const struct option table[] = {
                {"--jobs", OPTION_TEXT, &b.jobs, "N",
                        "so many at a time; else one for each processor"},
                {"--results", OPTION_TEXT, &b.results, "DIR", "where NAME.json go; else results/"},
                {"--resume", OPTION_FLAG, &b.resume, NULL,
                        "keep what an earlier batch graded there"},
                {"--csv", OPTION_TEXT, &b.csv, "FILE", "a table of all; - is standard output"},
                {"--store", OPTION_TEXT, &b.evaluation.store, "URL",
                        "store the results as well: sqlite:PATH, or sqlite: for the machine's"},
                {"--agent", OPTION_TEXT, &b.evaluation.agent, "NAME",
                        "with --store: whose submissions they are"},
                {"--seed", OPTION_TEXT, &b.evaluation.seed, "N", "ASSAY_SEED of the suite; else 0"},
                {"--policy", OPTION_TEXT, &b.evaluation.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
                {"--allow-network", OPTION_FLAG, &b.evaluation.allow_network, NULL,
                        "give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &b.evaluation.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &b.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (b.common.help)
                return options_help("batch [OPTIONS] TASK DIR|FILE…",
                        "Grades each entry of a folder, or each file, as one submission.\n\n"
                        "exit status: 0 all graded, 1 some rejected or ungradable, 2 usage or "
                        "task,\n4 some without a score for other reasons, 5 some pending, 130 "
                        "interrupted",
                        table, sizeof table / sizeof *table);
        if (evaluation_check_options(&b.evaluation, err) < 0)
                return -1;
        if (rest < 2)
                return error_set(
                        err, CODE_USAGE, "batch: needs a task, and folders or files to grade");
        b.task = argv[0];
        r = grade(&b, argv + 1, (unsigned)rest - 1, err);
        fd_close(b.results_dir);
        fd_close(b.journal);
        batch_rows_free(&b.rows);
        task_facts_free(&b.facts);
        return r;
}
