/* assay rejudge: new jobs for what a queue has graded; the results of before stay. */
#include "verbs.h"

#include "fd.h"
#include "queue.h"
#include "report/json.h"
#include "task_facts.h"

#include <unistd.h>

struct rejudge {
        struct common_options common;
        const char *store, *task, *result, *with;
        bool infra;
        struct task_facts facts; /* of `with` */
        struct queue queue;
        int snapshot;
};

static int rejudge(struct rejudge *j, uint64_t *ret_count, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        char sha256[DIGEST_SIZE] = "";

        if (queue_open(&j->queue, j->store, err) < 0 ||
                (j->with && queue_offer_task(&j->queue, j->with, sha256, &j->snapshot, err) < 0))
                return -1;
        /* A version of a task is for the submissions of that one. */
        put_text(&payload, j->with ? j->facts.name : j->task ? j->task : "");
        put_text(&payload, j->result ? j->result : "");
        put_u8(&payload, j->infra);
        put_text(&payload, sha256);
        if (queue_ask_number(&j->queue, STORE_REJUDGE, &payload, &j->snapshot, j->snapshot >= 0,
                    ret_count, err) < 0)
                return -1;
        if (*ret_count == 0)
                return error_set(err, CODE_USAGE,
                        "rejudge: the queue has graded nothing like that, or it waits already "
                        "(what `assay run --store` stored has no archive there)");
        return 0;
}

static int check_names(const struct rejudge *j, struct error *err)
{
        if (j->task && (!*j->task || strlen(j->task) >= STORE_MAX_NAME))
                return error_set(err, CODE_USAGE, "--task %.60s: no task has such a name", j->task);
        if (j->result && (!*j->result || strlen(j->result) >= STORE_MAX_ID))
                return error_set(
                        err, CODE_USAGE, "--result %.60s: no result has such an id", j->result);
        return 0;
}

/* Before there is a store that a process beside this one could inherit. */
static int read_task(struct rejudge *j, struct error *err)
{
        if (!j->with)
                return 0;
        if (task_facts_read(&j->facts, j->with, NULL, err) < 0)
                return -1;
        return !j->task || strcmp(j->task, j->facts.name) == 0
                       ? 0
                       : error_set(err, CODE_USAGE, "--with %s: is task %.60s, not %.60s", j->with,
                                 j->facts.name, j->task);
}

static int print(const struct rejudge *j, uint64_t count, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out, .compact = true};

        if (j->common.quiet)
                return 0;
        if (j->common.json) {
                json_open_object(&w, NULL);
                json_number(&w, "queued", count);
                json_close(&w);
                buffer_add_char(&out, '\n');
        } else {
                buffer_add_format(&out, "%llu queued again\n", (unsigned long long)count);
        }
        return fd_write_all(STDOUT_FILENO, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

int verb_rejudge(int argc, char **argv, struct error *err)
{
        struct rejudge j = {.queue = QUEUE_INIT, .snapshot = -EBADF};
        const struct option table[] = {
                {"--store", OPTION_TEXT, &j.store, "URL",
                        "sqlite:PATH or a path; else the machine's own"},
                {"--task", OPTION_TEXT, &j.task, "NAME",
                        "all submissions for the task of that name"},
                {"--result", OPTION_TEXT, &j.result, "ID", "the submission that has this result"},
                {"--infra", OPTION_FLAG, &j.infra, NULL,
                        "those whose last result is a fault of the machines, and parked ones"},
                {"--with", OPTION_TEXT, &j.with, "TASK",
                        "by this version of the task; else by the one of then"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &j.common, argc, argv, err);
        uint64_t count = 0;
        int r;

        if (rest < 0)
                return -1;
        if (j.common.help)
                return options_help("rejudge --task NAME|--result ID|--infra [OPTIONS]",
                        "Queues again what the queue of a store has graded: each submission's next "
                        "attempt.\nWhat was stored stays.",
                        table, sizeof table / sizeof *table);
        if (rest != 0 || (!j.task && !j.result && !j.infra))
                return error_set(
                        err, CODE_USAGE, "rejudge: needs --task NAME, --result ID or --infra");
        r = check_names(&j, err) < 0 || read_task(&j, err) < 0 ? -1 : rejudge(&j, &count, err);
        if (r == 0)
                r = print(&j, count, err);
        queue_close(&j.queue);
        fd_close(j.snapshot);
        task_facts_free(&j.facts);
        return r;
}
