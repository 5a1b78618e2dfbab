/* The tables of matches in PostgreSQL; see schema_matches.c. */
#include "store/schema_postgres.h"

const char *const schema_postgres_matches[] = {
        FUNCTION("match_stays",
                "BEGIN IF OLD.result IS NOT NULL"
                " OR NEW.number IS DISTINCT FROM OLD.number"
                " OR NEW.id IS DISTINCT FROM OLD.id"
                " OR NEW.agent IS DISTINCT FROM OLD.agent"
                " OR NEW.task IS DISTINCT FROM OLD.task"
                " OR NEW.task_sha256 IS DISTINCT FROM OLD.task_sha256"
                " OR NEW.task_path IS DISTINCT FROM OLD.task_path"
                " OR NEW.harness IS DISTINCT FROM OLD.harness"
                " OR NEW.memoryless IS DISTINCT FROM OLD.memoryless"
                " OR NEW.difficulty IS DISTINCT FROM OLD.difficulty"
                " OR NEW.opponent_elo IS DISTINCT FROM OLD.opponent_elo"
                " OR NEW.attempt_number IS DISTINCT FROM OLD.attempt_number"
                " OR NEW.started_at IS DISTINCT FROM OLD.started_at"
                " OR NEW.expires_at IS DISTINCT FROM OLD.expires_at"
                " OR NEW.start_mac IS DISTINCT FROM OLD.start_mac"
                " OR (OLD.submitted_at IS NOT NULL AND (NEW.submitted_at IS DISTINCT FROM "
                "OLD.submitted_at "
                " OR NEW.answer_sha256 IS DISTINCT FROM OLD.answer_sha256))"
                " THEN RAISE EXCEPTION ''a match ends once''; END IF; RETURN NEW; END"),
        "CREATE TABLE harnesses ("
        " name " TEXT_C " NOT NULL PRIMARY KEY,"
        " key " TEXT_C ","
        " registered_at " TEXT_C " NOT NULL,"
        " mac " TEXT_C " NOT NULL"
        ")",

        "CREATE TABLE matches ("
        " number bigint NOT NULL PRIMARY KEY,"
        " id " TEXT_C " NOT NULL UNIQUE,"
        " agent " TEXT_C " NOT NULL,"
        " task " TEXT_C " NOT NULL,"
        " task_sha256 " TEXT_C " NOT NULL,"
        " task_path " TEXT_C " NOT NULL,"
        " harness " TEXT_C ","
        " memoryless bigint NOT NULL CHECK (memoryless IN (0, 1)),"
        " difficulty " TEXT_C " NOT NULL,"
        " opponent_elo bigint NOT NULL,"
        " attempt_number bigint NOT NULL,"
        " started_at " TEXT_C " NOT NULL,"
        " expires_at " TEXT_C " NOT NULL,"
        " start_mac " TEXT_C " NOT NULL,"
        " arrived_at " TEXT_C "," /* an answer that is being looked at */
        " submitted_at " TEXT_C ","
        " answer_sha256 " TEXT_C ","
        " trajectory " TEXT_C " CHECK (trajectory IN ('signed', 'self-reported', 'invalid')),"
        " harness_warning " TEXT_C ","
        " result_id " TEXT_C " REFERENCES evaluation_results (id),"
        " result " TEXT_C " CHECK (result IN ('win', 'draw', 'loss', 'expired')),"
        " score " TEXT_C ","
        " elo_before bigint,"
        " elo_after bigint,"
        " elo_change bigint,"
        " verified bigint CHECK (verified IN (0, 1)),"
        " benchmark bigint CHECK (benchmark IN (0, 1)),"
        " ended_at " TEXT_C ","
        " UNIQUE (agent, task, attempt_number),"
        " CHECK ((result IS NULL) = (ended_at IS NULL) AND (result IS NULL) = (elo_after IS NULL))"
        ")",
        "CREATE INDEX matches_open ON matches (expires_at)"
        " WHERE result IS NULL AND submitted_at IS NULL",
        "CREATE INDEX matches_result ON matches (result_id)",
        "CREATE TRIGGER matches_no_update BEFORE UPDATE ON matches"
        " FOR EACH ROW EXECUTE FUNCTION match_stays()",
        ALWAYS("matches", "no_update"),
        NEVER_GONE("matches"),

        "CREATE TABLE rating_history ("
        " agent " TEXT_C " NOT NULL,"
        " position bigint NOT NULL,"
        " match_id " TEXT_C " NOT NULL UNIQUE REFERENCES matches (id),"
        " elo_before bigint NOT NULL,"
        " elo_after bigint NOT NULL,"
        " streak bigint NOT NULL,"
        " best_streak bigint NOT NULL,"
        " at " TEXT_C " NOT NULL,"
        " mac " TEXT_C " NOT NULL,"
        " PRIMARY KEY (agent, position)"
        ")",
        NEVER_CHANGED("rating_history"),

        /* What the last row of an agent's history says. */
        "CREATE TABLE ratings ("
        " agent " TEXT_C " NOT NULL PRIMARY KEY,"
        " elo bigint NOT NULL,"
        " matches bigint NOT NULL,"
        " streak bigint NOT NULL,"
        " best_streak bigint NOT NULL"
        ")",

        "CREATE TABLE workflow_scores ("
        " result_id " TEXT_C " NOT NULL PRIMARY KEY REFERENCES evaluation_results (id),"
        " agent " TEXT_C " NOT NULL,"
        " task " TEXT_C " NOT NULL,"
        " score " TEXT_C " NOT NULL,"
        " score_exact " TEXT_C " NOT NULL,"
        " completed_at " TEXT_C " NOT NULL,"
        " mac " TEXT_C " NOT NULL"
        ")",
        NEVER_CHANGED("workflow_scores"),
        "CREATE INDEX workflow_scores_agent ON workflow_scores (agent, task, completed_at)",

        /* All that a leaderboard reads of a result. */
        "CREATE INDEX results_ranked ON evaluation_results (task, submission_id, attempt, revision,"
        " number, scale, final_score_number, final_score, completed_at, id)"
        " WHERE status = 'graded'",
        RIGHTS("GRANT SELECT, INSERT ON matches, ratings TO assay_worker;"
               " GRANT SELECT ON harnesses TO assay_worker;"
               " GRANT UPDATE ON ratings TO assay_worker;"
               " GRANT UPDATE (arrived_at, submitted_at, answer_sha256, harness_warning,"
               "  trajectory, result_id, result, score, elo_before, elo_after, elo_change,"
               "  verified, benchmark, ended_at) ON matches TO assay_worker;"
               " GRANT SELECT, INSERT ON rating_history, workflow_scores TO assay_worker;"),
        NULL,
};
