/* The tables of a store in PostgreSQL: the same as in schema.c, in a schema of their own, which a
 * session has first in its path (postgres_connect.c). Texts are compared byte by byte, so that no
 * index depends on what a system's C library makes of a language. */
#include "store/schema_postgres.h"

static const char *const first[] = {
        "DO $$ BEGIN IF to_regnamespace('assay') IS NULL THEN CREATE SCHEMA assay; END IF; END $$",
        "CREATE TABLE schema_version (only_row bigint PRIMARY KEY CHECK (only_row = 1),"
        " number bigint NOT NULL)",
        FUNCTION("never_changed",
                "BEGIN RAISE EXCEPTION ''% is never changed'', TG_TABLE_NAME; END"),
        FUNCTION("never_deleted",
                "BEGIN RAISE EXCEPTION ''% is never deleted from'', TG_TABLE_NAME; END"),
        FUNCTION("submission_stays",
                "BEGIN IF NEW.id IS DISTINCT FROM OLD.id OR NEW.task IS DISTINCT FROM OLD.task"
                " OR NEW.archive_sha256 IS DISTINCT FROM OLD.archive_sha256"
                " OR NEW.received_at IS DISTINCT FROM OLD.received_at"
                " OR (NEW.agent IS DISTINCT FROM OLD.agent AND NEW.agent IS NOT NULL)"
                " THEN RAISE EXCEPTION ''a submission stays the same''; END IF;"
                " RETURN NEW; END"),

        "CREATE TABLE store (only_row bigint PRIMARY KEY CHECK (only_row = 1),"
        " key_mac " TEXT_C " NOT NULL)",
        NEVER_CHANGED("store"),

        "CREATE TABLE submissions ("
        " id " TEXT_C " PRIMARY KEY,"
        " task " TEXT_C " NOT NULL,"
        " archive_sha256 " TEXT_C ","
        " agent " TEXT_C "," /* NULL: erased */
        " source_ip " TEXT_C ","
        " received_at " TEXT_C " NOT NULL,"
        " status " TEXT_C " NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),"
        " evaluated bigint NOT NULL CHECK (evaluated IN (0, 1)),"
        " completed_at " TEXT_C ")",
        /* An entry of an index has room for some 2,700 bytes: not for the task as well. */
        "CREATE INDEX submissions_same ON submissions (archive_sha256, agent)",
        "CREATE TRIGGER submissions_no_update BEFORE UPDATE ON submissions"
        " FOR EACH ROW EXECUTE FUNCTION submission_stays()",
        ALWAYS("submissions", "no_update"),
        NEVER_GONE("submissions"),

        "CREATE TABLE rubric_criteria ("
        " rubric_sha256 " TEXT_C ","
        " position bigint,"
        " name " TEXT_C " NOT NULL,"
        " description " TEXT_C ","
        " weight bigint NOT NULL,"
        " source " TEXT_C " NOT NULL,"
        " PRIMARY KEY (rubric_sha256, position))",
        NEVER_CHANGED("rubric_criteria"),

        "CREATE TABLE evaluation_results ("
        " number bigint PRIMARY KEY,"
        " id " TEXT_C " NOT NULL UNIQUE,"
        " submission_id " TEXT_C " NOT NULL REFERENCES submissions (id),"
        " attempt bigint NOT NULL,"
        " revision bigint NOT NULL,"
        " supersedes " TEXT_C ","
        " task " TEXT_C " NOT NULL,"
        " archive_sha256 " TEXT_C ","
        " agent_mac " TEXT_C " NOT NULL,"
        " rubric_sha256 " TEXT_C ","
        " completed_at " TEXT_C " NOT NULL,"
        " task_sha256 " TEXT_C ","
        " status " TEXT_C " NOT NULL"
        "  CHECK (status IN ('graded', 'pending', 'rejected', 'ungradable', 'error')),"
        " class " TEXT_C ","
        " code " TEXT_C ","
        " reason " TEXT_C ","
        " outcome " TEXT_C ","
        " eval_mode " TEXT_C " NOT NULL,"
        " scale bigint NOT NULL,"
        " final_score " TEXT_C " CHECK (status = 'graded' OR final_score IS NULL),"
        " final_score_exact " TEXT_C ","
        " final_score_number " REAL " GENERATED ALWAYS AS (CAST(final_score AS " REAL ")) STORED,"
        " test_score " TEXT_C ","
        " llm_score " TEXT_C ","
        " llm_reasoning " TEXT_C ","
        " eval_pass_data " TEXT_C " NOT NULL,"
        " result " TEXT_C " NOT NULL,"
        " mac " TEXT_C " NOT NULL,"
        " UNIQUE (submission_id, attempt, revision))",
        NEVER_CHANGED("evaluation_results"),

        "CREATE TABLE evaluation_dimensions ("
        " result_id " TEXT_C " REFERENCES evaluation_results (id),"
        " position bigint,"
        " name " TEXT_C " NOT NULL,"
        " source " TEXT_C ","
        " weight " TEXT_C ","
        " score " TEXT_C ","
        " score_number " REAL " GENERATED ALWAYS AS (CAST(score AS " REAL ")) STORED,"
        " reasoning " TEXT_C ","
        " PRIMARY KEY (result_id, position))",
        NEVER_CHANGED("evaluation_dimensions"),

        /* Whoever else may log in; and a role that needs nothing but to add, where there is one. */
        "REVOKE ALL ON SCHEMA assay FROM PUBLIC",
        RIGHTS("GRANT USAGE ON SCHEMA assay TO assay_worker;"
               " GRANT SELECT ON store, schema_version TO assay_worker;"
               " GRANT SELECT, INSERT ON evaluation_results, evaluation_dimensions,"
               "  rubric_criteria, submissions TO assay_worker;"
               " GRANT UPDATE (status, evaluated, completed_at) ON submissions TO assay_worker;"),
        NULL,
};

const char *const *const schema_postgres[SCHEMA_VERSION] = {
        first, schema_postgres_queue, schema_postgres_matches};
