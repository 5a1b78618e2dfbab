/* The tables of a store; see schema.h. A migration that was ever released is never changed: what a
 * later version needs is a list of its own behind it. */
#include "store/schema.h"

#include "store/schema_rules.h"

#define OWN                               false
#define GIVEN                             true
#define X(table, column, kind, name, who) {name, VALUE_##kind, who},
static const struct column results[] = {STORE_RESULT_COLUMNS(X)};
static const struct column dimensions[] = {STORE_DIMENSION_COLUMNS(X)};
static const struct column criteria[] = {STORE_CRITERION_COLUMNS(X)};
static const struct column matches[] = {STORE_MATCH_COLUMNS(X)};
static const struct column history[] = {STORE_HISTORY_COLUMNS(X)};
static const struct column workflows[] = {STORE_WORKFLOW_COLUMNS(X)};
#undef X

const struct table store_tables[TABLE_COUNT] = {
        [TABLE_RESULTS] = {"evaluation_results", results, STORED_COLUMNS},
        [TABLE_DIMENSIONS] = {"evaluation_dimensions", dimensions, DIMENSION_COLUMNS},
        [TABLE_CRITERIA] = {"rubric_criteria", criteria, CRITERION_COLUMNS},
        [TABLE_MATCHES] = {"matches", matches, PLAYED_COLUMNS},
        [TABLE_HISTORY] = {"rating_history", history, HISTORY_COLUMNS},
        [TABLE_WORKFLOWS] = {"workflow_scores", workflows, FLOW_COLUMNS},
};

static void add_names(struct buffer *sql, const struct table *t)
{
        for (unsigned i = 0; i < t->count; i++)
                buffer_add_format(sql, "%s%s", i > 0 ? ", " : "", t->columns[i].name);
}

void schema_insert(struct buffer *sql, enum store_table t)
{
        buffer_add_format(sql, "INSERT INTO %s (", store_tables[t].name);
        add_names(sql, &store_tables[t]);
        buffer_add_text(sql, ") VALUES (");
        for (unsigned i = 0; i < store_tables[t].count; i++)
                buffer_add_format(sql, "%s$%u", i > 0 ? ", " : "", i + 1);
        buffer_add_char(sql, ')');
}

void schema_select(struct buffer *sql, enum store_table t)
{
        buffer_add_text(sql, "SELECT ");
        add_names(sql, &store_tables[t]);
        buffer_add_format(sql, " FROM %s", store_tables[t].name);
}

static const char *const first[] = {
        "CREATE TABLE store (only_row INTEGER PRIMARY KEY CHECK (only_row = 1),"
        " key_mac TEXT NOT NULL) STRICT",
        NEVER_CHANGED("store", "only_row = NEW.only_row"),

        "CREATE TABLE submissions ("
        " id TEXT NOT NULL PRIMARY KEY,"
        " task TEXT NOT NULL,"
        " archive_sha256 TEXT,"
        " agent TEXT," /* NULL: erased */
        " source_ip TEXT,"
        " received_at TEXT NOT NULL,"
        " status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),"
        " evaluated INTEGER NOT NULL CHECK (evaluated IN (0, 1)),"
        " completed_at TEXT"
        ") STRICT, WITHOUT ROWID",
        "CREATE INDEX submissions_same ON submissions (archive_sha256, task, agent)",
        "CREATE TRIGGER submissions_no_update BEFORE UPDATE ON submissions"
        " WHEN NEW.id IS NOT OLD.id OR NEW.task IS NOT OLD.task"
        " OR NEW.archive_sha256 IS NOT OLD.archive_sha256"
        " OR NEW.received_at IS NOT OLD.received_at"
        " OR (NEW.agent IS NOT OLD.agent AND NEW.agent IS NOT NULL)"
        " BEGIN SELECT RAISE(ABORT, 'a submission stays the same'); END",
        "CREATE TRIGGER submissions_no_delete BEFORE DELETE ON submissions"
        " BEGIN SELECT RAISE(ABORT, 'submissions is never deleted from'); END",
        "CREATE TRIGGER submissions_no_replace BEFORE INSERT ON submissions"
        " WHEN EXISTS (SELECT 1 FROM submissions WHERE id = NEW.id)"
        " BEGIN SELECT RAISE(ABORT, 'a submission stays the same'); END",

        "CREATE TABLE rubric_criteria ("
        " rubric_sha256 TEXT NOT NULL,"
        " position INTEGER NOT NULL,"
        " name TEXT NOT NULL,"
        " description TEXT,"
        " weight INTEGER NOT NULL,"
        " source TEXT NOT NULL,"
        " PRIMARY KEY (rubric_sha256, position)"
        ") STRICT, WITHOUT ROWID",
        NEVER_CHANGED(
                "rubric_criteria", "rubric_sha256 = NEW.rubric_sha256 AND position = NEW.position"),

        "CREATE TABLE evaluation_results ("
        " number INTEGER NOT NULL PRIMARY KEY,"
        " id TEXT NOT NULL UNIQUE,"
        " submission_id TEXT NOT NULL REFERENCES submissions (id),"
        " attempt INTEGER NOT NULL,"
        " revision INTEGER NOT NULL,"
        " supersedes TEXT,"
        " task TEXT NOT NULL,"
        " archive_sha256 TEXT,"
        " agent_mac TEXT NOT NULL,"
        " rubric_sha256 TEXT,"
        " completed_at TEXT NOT NULL,"
        " task_sha256 TEXT,"
        " status TEXT NOT NULL"
        "  CHECK (status IN ('graded', 'pending', 'rejected', 'ungradable', 'error')),"
        " class TEXT,"
        " code TEXT,"
        " reason TEXT,"
        " outcome TEXT,"
        " eval_mode TEXT NOT NULL,"
        " scale INTEGER NOT NULL,"
        " final_score TEXT CHECK (status = 'graded' OR final_score IS NULL),"
        " final_score_exact TEXT,"
        " final_score_number REAL GENERATED ALWAYS AS (CAST(final_score AS REAL)) VIRTUAL,"
        " test_score TEXT,"
        " llm_score TEXT,"
        " llm_reasoning TEXT,"
        " eval_pass_data TEXT NOT NULL,"
        " result TEXT NOT NULL,"
        " mac TEXT NOT NULL,"
        " UNIQUE (submission_id, attempt, revision)"
        ") STRICT",
        NEVER_CHANGED("evaluation_results",
                "number = NEW.number OR id = NEW.id OR (submission_id = NEW.submission_id"
                " AND attempt = NEW.attempt AND revision = NEW.revision)"),

        "CREATE TABLE evaluation_dimensions ("
        " result_id TEXT NOT NULL REFERENCES evaluation_results (id),"
        " position INTEGER NOT NULL,"
        " name TEXT NOT NULL,"
        " source TEXT,"
        " weight TEXT,"
        " score TEXT,"
        " score_number REAL GENERATED ALWAYS AS (CAST(score AS REAL)) VIRTUAL,"
        " reasoning TEXT,"
        " PRIMARY KEY (result_id, position)"
        ") STRICT, WITHOUT ROWID",
        NEVER_CHANGED(
                "evaluation_dimensions", "result_id = NEW.result_id AND position = NEW.position"),
        NULL,
};

const char *const *const schema_sqlite[SCHEMA_VERSION] = {
        first, schema_sqlite_queue, schema_sqlite_matches};
