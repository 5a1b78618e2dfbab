/* Appending the rows of one evaluation, in one transaction; see messages.h. What assay says is
 * taken for its own evaluation only: the ids and the agent were said before it met anything of a
 * submitter's, the rest is made here. */
#include "store/match.h"
#include "store/queue.h"
#include "store/superseded.h"

#include "text.h"

#include <unistd.h>

enum { SECONDS_TO_SAY_ALL = 20 };

struct pending {
        enum store_table table;
        struct buffer texts[STORED_COLUMNS];
        struct value values[STORED_COLUMNS];
};

struct append {
        struct store *store;
        char agent[STORE_MAX_AGENT + 1], result_id[STORE_MAX_NAME], submission_id[STORE_MAX_NAME];
        char supersedes[STORE_MAX_NAME]; /* "": it is an attempt of its own */
        struct superseded old;           /* that one */
        struct job_lease job;            /* which it ends; "": none */
        struct append_order order;       /* whose result it is */
        struct match_entry entry;        /* of a match */
        char task[STORE_MAX_NAME], archive[STORE_MAX_NAME];
        char task_sha256[DIGEST_SIZE]; /* which the job is to be graded by */
        char before[DIGEST_SIZE];      /* the mac of the submission's last result */
        int64_t number, attempt, revision;
        bool begun, committed;
        struct pending *rows[STORE_MAX_ROWS], *current[TABLE_GIVEN];
        unsigned row_count, result_rows;
        size_t bytes; /* of all texts */
};

struct append *append_new(struct store *s, const struct append_order *order, struct error *err)
{
        struct append *a = calloc(1, sizeof *a);

        if (!a) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        a->store = s;
        a->order = *order;
        snprintf(a->agent, sizeof a->agent, "%s", order->agent);
        snprintf(a->result_id, sizeof a->result_id, "%s", order->result_id);
        snprintf(a->submission_id, sizeof a->submission_id, "%s", order->submission_id);
        snprintf(a->supersedes, sizeof a->supersedes, "%s", order->supersedes);
        if (order->job)
                a->job = *order->job;
        return a;
}

static void pending_free(struct pending *p)
{
        for (unsigned i = 0; p && i < STORED_COLUMNS; i++)
                buffer_free(&p->texts[i]);
        free(p);
}

void append_free(struct append *a)
{
        if (!a)
                return;
        if (a->begun && !a->committed)
                a->store->engine->rollback(a->store->database);
        for (unsigned i = 0; i < a->row_count; i++)
                pending_free(a->rows[i]);
        for (unsigned i = 0; i < TABLE_GIVEN; i++)
                pending_free(a->current[i]);
        superseded_free(&a->old);
        free(a);
}

/* --- whose result it is --------------------------------------------------------------------- */

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

static int begin_transaction(struct append *a, struct error *err)
{
        const struct engine *e = a->store->engine;
        struct database *d = a->store->database;

        return e->begin(d, false, err) < 0 || e->lock(d, "results", err) < 0 ||
                               find_place(a, err) < 0
                       ? -1
                       : 0;
}

static int begin(struct append *a, int socket, struct reader *r, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        get_text(r, a->task, sizeof a->task);
        get_text(r, a->archive, sizeof a->archive);
        if (!reader_done(r) || !text_utf8_valid(a->task, strlen(a->task)) ||
                strspn(a->archive, "0123456789abcdef") != strlen(a->archive) ||
                (*a->supersedes && (*a->task || *a->archive)))
                return store_malformed(err);
        /* Nobody else writes until this ends: so it may not take for ever. */
        alarm(SECONDS_TO_SAY_ALL);
        a->begun = true;
        while (begin_transaction(a, err) < 0)
                if (store_connect_again(a->store, err) < 0)
                        return -1;
        put_u32(&out, (uint32_t)a->attempt);
        return frame_send(socket, STORE_ATTEMPT, &out, NULL, 0, err);
}

/* --- rows ----------------------------------------------------------------------------------- */

static struct pending *current(struct append *a, unsigned table, struct error *err)
{
        /* The rubric of a result that waits is that of the one that it becomes. */
        if (table >= TABLE_GIVEN || (table == TABLE_CRITERIA && *a->supersedes)) {
                store_malformed(err);
                return NULL;
        }
        if (!a->current[table]) {
                struct pending *p = calloc(1, sizeof *p);

                if (!p) {
                        error_set(err, CODE_INFRA_MEMORY, "out of memory");
                        return NULL;
                }
                p->table = table;
                for (unsigned i = 0; i < STORED_COLUMNS; i++)
                        p->texts[i] = (struct buffer)BUFFER_INIT;
                a->current[table] = p;
        }
        return a->current[table];
}

static bool is_given(enum store_table table, unsigned column, enum value_kind kind)
{
        const struct table *t = &store_tables[table];

        return column < t->count && t->columns[column].given && t->columns[column].kind == kind;
}

static int take_value(struct append *a, enum value_kind kind, struct reader *r, struct error *err)
{
        const unsigned table = get_u8(r), column = get_u8(r);
        struct pending *p = current(a, table, err);

        if (!p)
                return -1;
        if (!is_given(table, column, kind))
                return store_malformed(err);
        p->values[column].kind = kind;
        if (kind == VALUE_NUMBER) {
                p->values[column].number = (int64_t)get_u64(r);
        } else {
                size_t len;
                const unsigned char *bytes = get_bytes(r, STORE_MAX_PIECE, &len);

                if (r->bad || p->texts[column].len + len > STORE_MAX_TEXT ||
                        (a->bytes += len) > STORE_MAX_ALL)
                        return store_malformed(err);
                buffer_add(&p->texts[column], bytes, len);
        }
        return reader_done(r) ? 0 : store_malformed(err);
}

/* Its texts are complete, and text. */
static int add_row(struct append *a, struct reader *r, struct error *err)
{
        const unsigned table = get_u8(r);
        struct pending *p =
                reader_done(r) && a->row_count < STORE_MAX_ROWS ? current(a, table, err) : NULL;

        if (!p || (table == TABLE_RESULTS && a->result_rows++ > 0))
                return store_malformed(err);
        for (unsigned i = 0; i < store_tables[table].count; i++) {
                const struct buffer *b = &p->texts[i];

                if (p->values[i].kind != VALUE_TEXT)
                        continue;
                if (!buffer_ok(b))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (!text_utf8_valid(b->data, b->len) || memchr(b->data, '\0', b->len))
                        return store_malformed(err);
                p->values[i].text = (const char *)b->data;
                p->values[i].len = b->len;
        }
        a->rows[a->row_count++] = p;
        a->current[table] = NULL;
        return 0;
}

/* --- all of them ---------------------------------------------------------------------------- */

static struct value *result_row(struct append *a)
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

/* What waited becomes graded, and nothing else. */
static bool may_become(const struct append *a, const struct value *row)
{
        char status[32];

        value_copy(&row[STORED_STATUS], status, sizeof status);
        return !*a->supersedes || strcmp(status, "graded") == 0;
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

static int write_all(struct append *a, struct value *row, struct error *err)
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

/* Was all of it committed before the connection was lost? */
static int is_there(struct append *a, struct error *err)
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

static int commit(struct append *a, int socket, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        struct value *row = result_row(a);
        int result;

        if (!reader_done(r) || !row || !may_become(a, row))
                return store_malformed(err);
        alarm(0);
        result = write_all(a, row, err);
        while (result < 0 && store_connect_again(a->store, err) == 0) {
                int64_t attempt = a->attempt;

                result = is_there(a, err);
                if (result < 0)
                        continue;
                if (result > 0) {
                        result = 0;
                        break;
                }
                result = begin_transaction(a, err) < 0 ? -1
                         : a->attempt != attempt
                                 ? error_set(err, CODE_INFRA_STORE,
                                           "the connection was lost, and another result of the "
                                           "submission was stored meanwhile")
                                 : write_all(a, row, err);
        }
        if (result < 0)
                return -1;
        a->committed = true;
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

/* What the agent had done in a match, as the scorer found it. */
static int take_valid(struct append *a, struct reader *r, struct error *err)
{
        a->entry.valid = get_u8(r);
        return reader_done(r) && *a->order.match ? 0 : store_malformed(err);
}

/* Before the rows of its answer, and after them. */
static int take_match(
        struct append *a, int socket, unsigned type, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        if (type == MATCH_ARRIVED)
                return match_enter_arrived(&a->entry, a->store, &a->order, r, err);
        if (type == MATCH_TRAJECTORY)
                return match_enter_trajectory(&a->entry, a->store, &a->order, r, err);
        if (type == MATCH_ENTER)
                return match_enter(&a->entry, a->store, &a->order, socket, r, err);
        if (type != MATCH_SHOW || !*a->order.match || !reader_done(r) ||
                match_show(a->store, socket, a->order.match, err) < 0)
                return store_malformed(err);
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

enum append_step append_step(const struct append *a)
{
        return a->committed ? APPEND_ENDED : a->begun ? APPEND_BEGUN : APPEND_WAITS;
}

int append_take(struct append *a, int socket, unsigned type, struct reader *r, struct error *err)
{
        if ((a->committed && type == MATCH_SHOW) ||
                (!a->begun && type >= MATCH_ARRIVED && type <= MATCH_ENTER))
                return take_match(a, socket, type, r, err);
        if (a->committed || a->begun != (type != STORE_BEGIN))
                return store_malformed(err);
        switch (type) {
        case STORE_BEGIN:
                return begin(a, socket, r, err);
        case STORE_TEXT:
                return take_value(a, VALUE_TEXT, r, err);
        case STORE_NUMBER:
                return take_value(a, VALUE_NUMBER, r, err);
        case STORE_ROW:
                return add_row(a, r, err);
        case MATCH_VALID:
                return take_valid(a, r, err);
        case STORE_COMMIT:
                return commit(a, socket, r, err);
        default:
                return store_malformed(err);
        }
}
