/* The rows of an evaluation, and what they end: a job, a match; see append.h. */
#include "store/append.h"

#include "text.h"

struct value *append_result_row(struct append *a)
{
        for (unsigned i = 0; i < a->row_count; i++)
                if (a->rows[i]->table == TABLE_RESULTS)
                        return a->rows[i]->values;
        return NULL;
}

static int insert(
        struct append *a, enum store_table table, const struct value *row, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;

        schema_insert(&sql, table);
        return store_do(a->store, buffer_text(&sql), row, store_tables[table].count, err);
}

/* Number the rows of a table and add them to what is authenticated. */
static int64_t number_rows(
        struct append *a, enum store_table table, unsigned position, struct buffer *encoded)
{
        int64_t count = 0;

        for (unsigned i = 0; i < a->row_count; i++) {
                if (a->rows[i]->table != table)
                        continue;
                a->rows[i]->values[position] = value_number(++count);
                if (encoded)
                        chain_add_row(encoded, table, a->rows[i]->values);
        }
        return count;
}

static int insert_all(struct append *a, enum store_table table, unsigned owner,
        const struct value *name, struct error *err)
{
        for (unsigned i = 0; i < a->row_count; i++) {
                if (a->rows[i]->table != table)
                        continue;
                a->rows[i]->values[owner] = *name;
                if (insert(a, table, a->rows[i]->values, err) < 0)
                        return -1;
        }
        return 0;
}

/* One rubric is stored once, by its digest. */
static int insert_rubric(struct append *a, char digest[DIGEST_SIZE], struct error *err)
{
        _cleanup_buffer_ struct buffer encoded = BUFFER_INIT;
        struct value name;
        int64_t there;

        *digest = '\0';
        if (number_rows(a, TABLE_CRITERIA, CRITERION_POSITION, &encoded) == 0)
                return 0;
        if (!buffer_ok(&encoded))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_digest(&encoded, digest);
        name = value_text(digest);
        if (store_ask_number(a->store,
                    "SELECT count(*) FROM rubric_criteria WHERE rubric_sha256 = $1", &name, 1,
                    &there, err) < 0)
                return -1;
        return there > 0 ? 0 : insert_all(a, TABLE_CRITERIA, CRITERION_RUBRIC, &name, err);
}

static int set_status(
        struct append *a, const struct value *status, const char *now, struct error *err)
{
        char word[32];
        const char *becomes;

        value_copy(status, word, sizeof word);
        becomes = strcmp(word, "graded") == 0    ? "completed"
                  : strcmp(word, "pending") == 0 ? "pending"
                                                 : "failed";
        const bool waits = strcmp(becomes, "pending") == 0;
        const struct value values[] = {value_text(becomes),
                value_number(strcmp(becomes, "completed") == 0),
                value_text_or_null(waits ? "" : now), value_text(a->submission_id)};

        return store_do(a->store,
                "UPDATE submissions SET status = $1, evaluated = $2, completed_at = $3"
                " WHERE id = $4",
                values, 4, err);
}

static int insert_result(
        struct append *a, struct value *row, const char *rubric, const char *now, struct error *err)
{
        _cleanup_buffer_ struct buffer encoded = BUFFER_INIT;
        const struct value id = value_text(a->result_id);
        char agent[DIGEST_SIZE], mac[DIGEST_SIZE];

        chain_mac_text(&a->store->key, "assay.store.agent/1", a->agent, agent);
        row[STORED_NUMBER] = value_number(a->number);
        row[STORED_ID] = id;
        row[STORED_SUBMISSION] = value_text(a->submission_id);
        row[STORED_ATTEMPT] = value_number(a->attempt);
        row[STORED_REVISION] = value_number(a->revision);
        row[STORED_SUPERSEDES] = value_text_or_null(a->supersedes);
        row[STORED_TASK] = value_text(a->task);
        row[STORED_ARCHIVE] = value_text_or_null(a->archive);
        row[STORED_AGENT_MAC] = value_text(agent);
        row[STORED_RUBRIC] = value_text_or_null(rubric);
        row[STORED_COMPLETED] = value_text(now);
        if (*a->supersedes)
                superseded_keep(&a->old, row);
        for (unsigned i = 0; i < a->row_count; i++)
                if (a->rows[i]->table == TABLE_DIMENSIONS)
                        a->rows[i]->values[DIMENSION_RESULT] = id;
        chain_add_row(&encoded, TABLE_RESULTS, row);
        number_rows(a, TABLE_DIMENSIONS, DIMENSION_POSITION, &encoded);
        if (!buffer_ok(&encoded))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_mac(&a->store->key, a->before, &encoded, mac);
        row[STORED_MAC] = value_text(mac);
        return insert(a, TABLE_RESULTS, row, err) < 0 ||
                               insert_all(a, TABLE_DIMENSIONS, DIMENSION_RESULT, &id, err) < 0
                       ? -1
                       : 0;
}

static int end_match(struct append *a, const struct value *row, const char *now, struct error *err)
{
        const struct match_end end = {
                .match = a->order.match,
                .supersedes = a->supersedes,
                .entry = &a->entry,
                .result = row,
                .now = now,
        };

        return match_settle(a->store, &end, err);
}

/* What a worker had unpacked may have been changed since. */
static int check_task(const struct append *a, const struct value *row, struct error *err)
{
        char graded_by[DIGEST_SIZE];

        value_copy(&row[STORED_TASK_SHA256], graded_by, sizeof graded_by);
        if (!*a->job.job || !*graded_by || strcmp(graded_by, a->task_sha256) == 0)
                return 0;
        return error_set(err, CODE_TASK_CHANGED,
                "the worker's tasks/%s in the state directory was changed, remove it",
                a->task_sha256);
}

/* Infra's faults are tried again, and only the last of them is a result. */
static int find_fate(
        struct append *a, const struct value *row, enum job_fate *ret, struct error *err)
{
        char class[32];

        *ret = JOB_ENDS;
        value_copy(&row[STORED_CLASS], class, sizeof class);
        return *a->job.job ? job_decide(a->store, &a->job,
                                     strcmp(class, error_class_name(CLASS_INFRA)) == 0, ret, err)
                           : 0;
}

static int end_job(struct append *a, const struct value *row, enum job_fate fate, struct error *err)
{
        char code[STORE_MAX_NAME], reason[STORE_MAX_NAME];

        if (!*a->job.job)
                return 0;
        value_copy(&row[STORED_CODE], code, sizeof code);
        value_copy(&row[STORED_REASON], reason, sizeof reason);
        reason[text_cut(reason, strlen(reason), STORE_MAX_NAME / 2)] = '\0';
        return job_settle(a->store, &a->job, fate, a->result_id, code, reason, err);
}

int append_write(struct append *a, struct value *row, struct error *err)
{
        char now[STORE_TIME_SIZE], rubric[DIGEST_SIZE];
        enum job_fate fate;

        store_now(now);
        if (check_task(a, row, err) < 0 || find_fate(a, row, &fate, err) < 0)
                return -1;
        if (fate != JOB_WAITS &&
                (insert_rubric(a, rubric, err) < 0 || insert_result(a, row, rubric, now, err) < 0 ||
                        set_status(a, &row[STORED_STATUS], now, err) < 0 ||
                        end_match(a, row, now, err) < 0 ||
                        match_workflow_add(a->store, row, a->agent, err) < 0))
                return -1;
        return end_job(a, row, fate, err) < 0 ||
                               a->store->engine->commit(a->store->database, err) < 0
                       ? -1
                       : 0;
}

int append_is_there(struct append *a, struct error *err)
{
        const struct value values[] = {
                value_text(a->result_id), value_text(a->job.job), value_number(a->job.lease)};
        int64_t count;

        if (store_ask_number(a->store,
                    "SELECT (SELECT count(*) FROM evaluation_results WHERE id = $1) +"
                    " (SELECT count(*) FROM jobs WHERE id = $2 AND lease = $3"
                    "  AND state IN ('waiting', 'parked', 'done'))",
                    values, 3, &count, err) < 0)
                return -1;
        return count > 0;
}
