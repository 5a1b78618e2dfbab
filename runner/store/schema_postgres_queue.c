/* The tables of the queue in PostgreSQL; see schema_queue.c. */
#include "store/schema_postgres.h"

const char *const schema_postgres_queue[] = {
        FUNCTION("job_stays",
                "BEGIN IF NEW.id IS DISTINCT FROM OLD.id"
                " OR NEW.submission_id IS DISTINCT FROM OLD.submission_id"
                " OR NEW.task IS DISTINCT FROM OLD.task"
                " OR NEW.task_sha256 IS DISTINCT FROM OLD.task_sha256"
                " OR NEW.archive_sha256 IS DISTINCT FROM OLD.archive_sha256"
                " OR NEW.lease < OLD.lease"
                " OR (NEW.agent IS DISTINCT FROM OLD.agent AND NEW.agent IS NOT NULL)"
                " OR (OLD.state IN (''done'', ''cancelled'')"
                "  AND (NEW.state IS DISTINCT FROM OLD.state"
                "   OR NEW.result_id IS DISTINCT FROM OLD.result_id))"
                " THEN RAISE EXCEPTION ''a job ends once, and stays what it is''; END IF;"
                " RETURN NEW; END"),
        "CREATE TABLE files ("
        " sha256 " TEXT_C " NOT NULL PRIMARY KEY,"
        " size bigint NOT NULL,"
        " stored_at " TEXT_C " NOT NULL"
        ")",
        "CREATE TABLE file_parts ("
        " sha256 " TEXT_C " NOT NULL REFERENCES files (sha256),"
        " position bigint NOT NULL,"
        " bytes bytea NOT NULL,"
        " UNIQUE (sha256, position)"
        ")",

        "CREATE TABLE jobs ("
        " id " TEXT_C " NOT NULL PRIMARY KEY,"
        " submission_id " TEXT_C " NOT NULL REFERENCES submissions (id),"
        " task " TEXT_C " NOT NULL,"
        " task_sha256 " TEXT_C " NOT NULL,"
        " archive_sha256 " TEXT_C " NOT NULL,"
        " agent " TEXT_C "," /* NULL: erased */
        " llm_score " TEXT_C ","
        " time_used " TEXT_C ","
        " seed " TEXT_C ","
        " match_id " TEXT_C ","
        " rejudges " TEXT_C "," /* the result that it is done again for */
        " idempotency_key " TEXT_C " UNIQUE,"
        " request_sha256 " TEXT_C " NOT NULL," /* of what was asked with that key */
        " state " TEXT_C " NOT NULL"
        "  CHECK (state IN ('queued', 'waiting', 'running', 'done', 'parked', 'cancelled')),"
        " round bigint NOT NULL,"
        " place bigint NOT NULL,"
        " tries bigint NOT NULL,"
        " max_tries bigint NOT NULL,"
        " lease bigint NOT NULL," /* one more each time that somebody takes it */
        " lease_until bigint,"
        " not_before bigint,"
        " worker " TEXT_C ","
        " queued_at bigint NOT NULL,"
        " started_at bigint,"
        " ended_at bigint,"
        " result_id " TEXT_C ","
        " code " TEXT_C ","
        " reason " TEXT_C ")",
        "CREATE INDEX jobs_next ON jobs (state, round, place, id)",
        "CREATE INDEX jobs_of_agent ON jobs (agent, round) WHERE state <> 'cancelled'",
        "CREATE INDEX jobs_of_task ON jobs (state, round, task, place)",
        "CREATE INDEX jobs_due ON jobs (state, not_before)",
        "CREATE INDEX jobs_leased ON jobs (state, lease_until)",
        "CREATE INDEX jobs_by_state ON jobs (state, queued_at)",
        "CREATE INDEX jobs_of_submission ON jobs (submission_id)",
        "CREATE INDEX jobs_of_result ON jobs (result_id)",
        /* What has ended stays so, but for a job that was parked, and is tried again. */
        "CREATE TRIGGER jobs_no_update BEFORE UPDATE ON jobs"
        " FOR EACH ROW EXECUTE FUNCTION job_stays()",
        ALWAYS("jobs", "no_update"),
        NEVER_GONE("jobs"),

        "CREATE TABLE queue ("
        " only_row bigint PRIMARY KEY CHECK (only_row = 1),"
        " paused bigint NOT NULL CHECK (paused IN (0, 1)),"
        " round bigint NOT NULL,"
        " place bigint NOT NULL"
        ")",
        "INSERT INTO queue (only_row, paused, round, place) VALUES (1, 0, 0, 0)",

        /* Who has submitted within the last minute, for the limit of that. */
        "CREATE TABLE arrivals ("
        " address " TEXT_C " NOT NULL,"
        " at bigint NOT NULL"
        ")",
        "CREATE INDEX arrivals_of ON arrivals (address, at)",
        "CREATE INDEX arrivals_at ON arrivals (at)",
        RIGHTS("GRANT SELECT, INSERT ON jobs TO assay_worker;"
               " GRANT UPDATE (state, round, place, tries, lease, lease_until, not_before, worker,"
               "  started_at, ended_at, result_id, code, reason) ON jobs TO assay_worker;"
               " GRANT SELECT, INSERT ON files, file_parts TO assay_worker;"
               " GRANT SELECT, UPDATE ON queue TO assay_worker;"
               " GRANT SELECT, INSERT, DELETE ON arrivals TO assay_worker;"
               " GRANT UPDATE (source_ip) ON submissions TO assay_worker;"),
        NULL,
};
