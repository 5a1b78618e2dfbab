/* Whose result it is that is appended, and which one; see append.h. */
#include "store/append.h"

static int find_submission(struct append *a, struct error *err)
{
        struct store_submission s = {.task = a->task, .archive = a->archive, .agent = a->agent};

        snprintf(s.id, sizeof s.id, "%s", a->submission_id);
        if (store_find_submission(a->store, &s, err) < 0)
                return -1;
        snprintf(a->submission_id, sizeof a->submission_id, "%s", s.id);
        return 0;
}

static int take_job(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct append *a = to;
        char task[STORE_MAX_NAME], archive[STORE_MAX_NAME];

        (void)count;
        value_copy(&row[0], a->submission_id, sizeof a->submission_id);
        value_copy(&row[1], task, sizeof task);
        value_copy(&row[2], archive, sizeof archive);
        value_copy(&row[3], a->agent, sizeof a->agent);
        value_copy(&row[4], a->task_sha256, sizeof a->task_sha256);
        if (strcmp(task, a->task) == 0 && strcmp(archive, a->archive) == 0)
                return 0;
        return error_set(err, CODE_JOB_FILE,
                "what was graded is not what job %s is about: task %s, archive %s", a->job.job,
                a->task, a->archive);
}

/* That of the job, whatever the evaluation says. */
static int find_job(struct append *a, struct error *err)
{
        const struct value job = value_text(a->job.job);
        enum job_fate unused;

        return job_decide(a->store, &a->job, false, &unused, err) < 0 ||
                               a->store->engine->run(a->store->database,
                                       "SELECT submission_id, task, archive_sha256,"
                                       " coalesce(agent, ''), task_sha256 FROM jobs"
                                       " WHERE id = $1",
                                       &job, 1, take_job, a, err) < 0
                       ? -1
                       : 0;
}

/* The next attempt of the submission. */
static bool can_count_on(int64_t number)
{
        return number >= 0 && number < UINT32_MAX;
}

static int tampered(struct error *err)
{
        return error_set(err, CODE_INFRA_STORE,
                "its results were changed (`assay results URL verify` says more)");
}

static int find_attempt(struct append *a, struct error *err)
{
        const struct value submission = value_text(a->submission_id);

        if (store_ask_number(a->store,
                    "SELECT max(attempt) FROM evaluation_results WHERE submission_id = $1",
                    &submission, 1, &a->attempt, err) < 0)
                return -1;
        if (!can_count_on(a->attempt))
                return tampered(err);
        a->attempt++;
        a->revision = 1;
        return 0;
}

/* The next revision of the attempt that waits. */
static int find_revision(struct append *a, struct error *err)
{
        if (superseded_find(&a->old, a->store, a->supersedes, err) < 0)
                return -1;
        value_copy(&a->old.values[STORED_SUBMISSION], a->submission_id, sizeof a->submission_id);
        a->attempt = a->old.values[STORED_ATTEMPT].number;
        a->revision = a->old.values[STORED_REVISION].number;
        if (!can_count_on(a->attempt) || !can_count_on(a->revision))
                return tampered(err);
        a->revision++;
        return 0;
}

static int find_place(struct append *a, struct error *err)
{
        struct value submission;
        struct store *s = a->store;
        int r;

        if (*a->supersedes)
                r = find_revision(a, err);
        else
                r = (*a->job.job ? find_job(a, err) : find_submission(a, err)) < 0 ||
                                    find_attempt(a, err) < 0
                            ? -1
                            : 0;
        if (r < 0)
                return -1;
        submission = value_text(a->submission_id);
        if (store_ask_number(s, "SELECT max(number) FROM evaluation_results", NULL, 0, &a->number,
                    err) < 0 ||
                store_ask_text(s,
                        "SELECT mac FROM evaluation_results WHERE submission_id = $1"
                        " ORDER BY number DESC LIMIT 1",
                        &submission, 1, a->before, sizeof a->before, err) < 0)
                return -1;
        if (a->number < 0 || a->number == INT64_MAX)
                return tampered(err);
        a->number++;
        return 0;
}

int append_find_place(struct append *a, struct error *err)
{
        const struct engine *e = a->store->engine;
        struct database *d = a->store->database;

        return e->begin(d, false, err) < 0 || e->lock(d, "results", err) < 0 ||
                               find_place(a, err) < 0
                       ? -1
                       : 0;
}
