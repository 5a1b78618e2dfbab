/* The tables of the queue: a migration of SQLite; see schema.h. Times are ms since 1970; `round`
 * and `place` are a job's turn (jobs.c). */
#include "store/schema.h"

const char *const schema_sqlite_queue[] = {
        "CREATE TABLE files ("
        " sha256 TEXT NOT NULL PRIMARY KEY,"
        " size INTEGER NOT NULL,"
        " stored_at TEXT NOT NULL"
        ") STRICT, WITHOUT ROWID",
        "CREATE TABLE file_parts ("
        " sha256 TEXT NOT NULL REFERENCES files (sha256),"
        " position INTEGER NOT NULL,"
        " bytes BLOB NOT NULL,"
        " UNIQUE (sha256, position)"
        ") STRICT",

        "CREATE TABLE jobs ("
        " id TEXT NOT NULL PRIMARY KEY,"
        " submission_id TEXT NOT NULL REFERENCES submissions (id),"
        " task TEXT NOT NULL,"
        " task_sha256 TEXT NOT NULL,"
        " archive_sha256 TEXT NOT NULL,"
        " agent TEXT," /* NULL: erased */
        " llm_score TEXT,"
        " time_used TEXT,"
        " seed TEXT,"
        " match_id TEXT,"
        " rejudges TEXT," /* the result that it is done again for */
        " idempotency_key TEXT UNIQUE,"
        " request_sha256 TEXT NOT NULL," /* of what was asked with that key */
        " state TEXT NOT NULL"
        "  CHECK (state IN ('queued', 'waiting', 'running', 'done', 'parked', 'cancelled')),"
        " round INTEGER NOT NULL,"
        " place INTEGER NOT NULL,"
        " tries INTEGER NOT NULL,"
        " max_tries INTEGER NOT NULL,"
        " lease INTEGER NOT NULL," /* one more each time that somebody takes it */
        " lease_until INTEGER,"
        " not_before INTEGER,"
        " worker TEXT,"
        " queued_at INTEGER NOT NULL,"
        " started_at INTEGER,"
        " ended_at INTEGER,"
        " result_id TEXT,"
        " code TEXT,"
        " reason TEXT"
        ") STRICT, WITHOUT ROWID",
        "CREATE INDEX jobs_next ON jobs (state, round, place, id)",
        "CREATE INDEX jobs_of_agent ON jobs (agent, round) WHERE state <> 'cancelled'",
        "CREATE INDEX jobs_of_task ON jobs (state, round, task, place)",
        "CREATE INDEX jobs_due ON jobs (state, not_before)",
        "CREATE INDEX jobs_leased ON jobs (state, lease_until)",
        "CREATE INDEX jobs_by_state ON jobs (state, queued_at)",
        "CREATE INDEX jobs_of_submission ON jobs (submission_id)",
        "CREATE INDEX jobs_of_result ON jobs (result_id)",
        "CREATE TRIGGER jobs_no_delete BEFORE DELETE ON jobs"
        " BEGIN SELECT RAISE(ABORT, 'jobs is never deleted from'); END",
        /* What has ended stays so, but for a job that was parked, and is tried again. */
        "CREATE TRIGGER jobs_no_update BEFORE UPDATE ON jobs"
        " WHEN NEW.id IS NOT OLD.id OR NEW.submission_id IS NOT OLD.submission_id"
        " OR NEW.task IS NOT OLD.task OR NEW.task_sha256 IS NOT OLD.task_sha256"
        " OR NEW.archive_sha256 IS NOT OLD.archive_sha256 OR NEW.lease < OLD.lease"
        " OR (NEW.agent IS NOT OLD.agent AND NEW.agent IS NOT NULL)"
        " OR (OLD.state IN ('done', 'cancelled') AND (NEW.state IS NOT OLD.state"
        "  OR NEW.result_id IS NOT OLD.result_id))"
        " BEGIN SELECT RAISE(ABORT, 'a job ends once, and stays what it is'); END",

        "CREATE TABLE queue ("
        " only_row INTEGER PRIMARY KEY CHECK (only_row = 1),"
        " paused INTEGER NOT NULL CHECK (paused IN (0, 1)),"
        " round INTEGER NOT NULL,"
        " place INTEGER NOT NULL"
        ") STRICT",
        "INSERT INTO queue (only_row, paused, round, place) VALUES (1, 0, 0, 0)",

        /* Who has submitted within the last minute, for the limit of that. */
        "CREATE TABLE arrivals ("
        " address TEXT NOT NULL,"
        " at INTEGER NOT NULL"
        ") STRICT",
        "CREATE INDEX arrivals_of ON arrivals (address, at)",
        "CREATE INDEX arrivals_at ON arrivals (at)",
        NULL,
};
