/* assay worker: grades what is in the queue of a store (worker.h). */
#include "verbs.h"

#include "privilege.h"
#include "quantity.h"
#include "worker.h"

enum { LEAST_LEASE_MS = 1000, LEASE_MS = 60000, RETRY_MS = 1000, HOUR_MS = 3600000 };
enum { DAY_HOURS = 24, MOST_HOURS = 1000 };

static int parse_time(const char *name, const char *text, uint32_t least_ms, uint32_t most_hours,
        uint64_t *ret_ms, struct error *err)
{
        uint64_t us;

        if (!text)
                return 0;
        if (quantity_parse_duration(text, &us) < 0 || us / 1000 < least_ms ||
                us / 1000 > (uint64_t)most_hours * HOUR_MS)
                return error_set(err, CODE_USAGE, "%s %s: must be a time from %u ms to %u h", name,
                        text, least_ms, most_hours);
        *ret_ms = us / 1000;
        return 0;
}

int verb_worker(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        uint64_t lease_ms = LEASE_MS, retry_ms = RETRY_MS, limit_ms = DAY_HOURS * (uint64_t)HOUR_MS;
        const char *jobs = NULL, *lease = NULL, *retry = NULL, *limit = NULL;
        struct worker_options o = {.store = NULL};
        const struct option table[] = {
                {"--store", OPTION_TEXT, &o.store, "URL",
                        "sqlite:PATH or a path; else the machine's own"},
                {"--jobs", OPTION_TEXT, &jobs, "N",
                        "so many at a time; else one for each processor"},
                {"--until-empty", OPTION_FLAG, &o.until_empty, NULL,
                        "end when nothing waits and nothing runs any more"},
                {"--pull", OPTION_FLAG, &o.pull, NULL,
                        "fetch the images of a task before its first job"},
                {"--lease", OPTION_TEXT, &lease, "TIME",
                        "how long after its last sign a worker's jobs become others' (60s)"},
                {"--retry-after", OPTION_TEXT, &retry, "TIME",
                        "how long a machine's fault waits for the second try; then twice as long "
                        "(1s)"},
                {"--job-limit", OPTION_TEXT, &limit, "TIME",
                        "how long a job may take, all in all, before it is a fault (24h)"},
                {"--status-file", OPTION_TEXT, &o.status_file, "FILE",
                        "what it does, as JSON, written anew every few seconds"},
                {"--metrics", OPTION_TEXT, &o.metrics, "PORT|FILE",
                        "counters for Prometheus, on a port of 127.0.0.1 or in a file"},
                {"--policy", OPTION_TEXT, &o.evaluation.policy, "FILE",
                        "what the operator allows; else /etc/assay/operator.json"},
                {"--allow-network", OPTION_FLAG, &o.evaluation.allow_network, NULL,
                        "give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &o.evaluation.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("worker [OPTIONS]",
                        "Takes jobs from the queue of a store and grades them, until it is told "
                        "to end:\nSIGTERM lets end what is at work; a second one, or SIGINT, "
                        "gives that back.\n\n"
                        "exit status: 0 told to end, or the queue is empty; 4 the store failed",
                        table, sizeof table / sizeof *table);
        if (rest != 0)
                return error_set(err, CODE_USAGE, "worker: takes no tasks; `assay submit` does");
        if (aside_parse_jobs(jobs, &o.jobs, err) < 0 ||
                parse_time("--lease", lease, LEAST_LEASE_MS, 1, &lease_ms, err) < 0 ||
                parse_time("--retry-after", retry, 1, 1, &retry_ms, err) < 0 ||
                parse_time("--job-limit", limit, 1, MOST_HOURS, &limit_ms, err) < 0)
                return -1;
        o.lease_ms = (uint32_t)lease_ms;
        o.retry_ms = (uint32_t)retry_ms;
        o.limit_us = limit_ms * 1000;
        o.quiet = common.quiet;
        return worker_run(&o, err);
}
