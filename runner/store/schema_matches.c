/* The tables of matches, ratings and scores of workflows, and the index of leaderboards: a
 * migration of SQLite; see schema.h. */
#include "store/schema.h"

#include "store/schema_rules.h"

/* What a match was started with stays; what was handed in is handed in once; what has ended stays
 * as it ended. */
#define MATCH_CHANGES                                                                              \
        "OLD.result IS NOT NULL"                                                                   \
        " OR NEW.number IS NOT OLD.number OR NEW.id IS NOT OLD.id"                                 \
        " OR NEW.agent IS NOT OLD.agent OR NEW.task IS NOT OLD.task"                               \
        " OR NEW.task_sha256 IS NOT OLD.task_sha256 OR NEW.task_path IS NOT OLD.task_path"         \
        " OR NEW.harness IS NOT OLD.harness OR NEW.memoryless IS NOT OLD.memoryless"               \
        " OR NEW.difficulty IS NOT OLD.difficulty OR NEW.opponent_elo IS NOT OLD.opponent_elo"     \
        " OR NEW.attempt_number IS NOT OLD.attempt_number"                                         \
        " OR NEW.started_at IS NOT OLD.started_at OR NEW.expires_at IS NOT OLD.expires_at"         \
        " OR NEW.start_mac IS NOT OLD.start_mac"                                                   \
        " OR (OLD.submitted_at IS NOT NULL AND (NEW.submitted_at IS NOT OLD.submitted_at"          \
        "  OR NEW.answer_sha256 IS NOT OLD.answer_sha256))"

const char *const schema_sqlite_matches[] = {
        "CREATE TABLE harnesses ("
        " name TEXT NOT NULL PRIMARY KEY,"
        " key TEXT,"
        " registered_at TEXT NOT NULL,"
        " mac TEXT NOT NULL"
        ") STRICT, WITHOUT ROWID",

        "CREATE TABLE matches ("
        " number INTEGER NOT NULL PRIMARY KEY,"
        " id TEXT NOT NULL UNIQUE,"
        " agent TEXT NOT NULL,"
        " task TEXT NOT NULL,"
        " task_sha256 TEXT NOT NULL,"
        " task_path TEXT NOT NULL,"
        " harness TEXT,"
        " memoryless INTEGER NOT NULL CHECK (memoryless IN (0, 1)),"
        " difficulty TEXT NOT NULL,"
        " opponent_elo INTEGER NOT NULL,"
        " attempt_number INTEGER NOT NULL,"
        " started_at TEXT NOT NULL,"
        " expires_at TEXT NOT NULL,"
        " start_mac TEXT NOT NULL,"
        " arrived_at TEXT," /* an answer that is being looked at */
        " submitted_at TEXT,"
        " answer_sha256 TEXT,"
        " trajectory TEXT CHECK (trajectory IN ('signed', 'self-reported', 'invalid')),"
        " harness_warning TEXT,"
        " result_id TEXT REFERENCES evaluation_results (id),"
        " result TEXT CHECK (result IN ('win', 'draw', 'loss', 'expired')),"
        " score TEXT,"
        " elo_before INTEGER,"
        " elo_after INTEGER,"
        " elo_change INTEGER,"
        " verified INTEGER CHECK (verified IN (0, 1)),"
        " benchmark INTEGER CHECK (benchmark IN (0, 1)),"
        " ended_at TEXT,"
        " UNIQUE (agent, task, attempt_number),"
        " CHECK ((result IS NULL) = (ended_at IS NULL) AND (result IS NULL) = (elo_after IS NULL))"
        ") STRICT",
        "CREATE INDEX matches_open ON matches (expires_at)"
        " WHERE result IS NULL AND submitted_at IS NULL",
        "CREATE INDEX matches_result ON matches (result_id)",
        "CREATE TRIGGER matches_no_update BEFORE UPDATE ON matches WHEN " MATCH_CHANGES
        " BEGIN SELECT RAISE(ABORT, 'a match ends once'); END",
        "CREATE TRIGGER matches_no_delete BEFORE DELETE ON matches"
        " BEGIN SELECT RAISE(ABORT, 'matches is never deleted from'); END",
        "CREATE TRIGGER matches_no_replace BEFORE INSERT ON matches"
        " WHEN EXISTS (SELECT 1 FROM matches WHERE number = NEW.number OR id = NEW.id"
        "  OR (agent = NEW.agent AND task = NEW.task AND attempt_number = NEW.attempt_number))"
        " BEGIN SELECT RAISE(ABORT, 'a match ends once'); END",

        "CREATE TABLE rating_history ("
        " agent TEXT NOT NULL,"
        " position INTEGER NOT NULL,"
        " match_id TEXT NOT NULL UNIQUE REFERENCES matches (id),"
        " elo_before INTEGER NOT NULL,"
        " elo_after INTEGER NOT NULL,"
        " streak INTEGER NOT NULL,"
        " best_streak INTEGER NOT NULL,"
        " at TEXT NOT NULL,"
        " mac TEXT NOT NULL,"
        " PRIMARY KEY (agent, position)"
        ") STRICT, WITHOUT ROWID",
        NEVER_CHANGED("rating_history",
                "match_id = NEW.match_id OR (agent = NEW.agent AND position = NEW.position)"),

        /* What the last row of an agent's history says. */
        "CREATE TABLE ratings ("
        " agent TEXT NOT NULL PRIMARY KEY,"
        " elo INTEGER NOT NULL,"
        " matches INTEGER NOT NULL,"
        " streak INTEGER NOT NULL,"
        " best_streak INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID",

        "CREATE TABLE workflow_scores ("
        " result_id TEXT NOT NULL PRIMARY KEY REFERENCES evaluation_results (id),"
        " agent TEXT NOT NULL,"
        " task TEXT NOT NULL,"
        " score TEXT NOT NULL,"
        " score_exact TEXT NOT NULL,"
        " completed_at TEXT NOT NULL,"
        " mac TEXT NOT NULL"
        ") STRICT, WITHOUT ROWID",
        NEVER_CHANGED("workflow_scores", "result_id = NEW.result_id"),
        "CREATE INDEX workflow_scores_agent ON workflow_scores (agent, task, completed_at)",

        /* All that a leaderboard reads of a result. */
        "CREATE INDEX results_ranked ON evaluation_results (task, submission_id, attempt, revision,"
        " number, scale, final_score_number, final_score, completed_at, id)"
        " WHERE status = 'graded'",
        NULL,
};
