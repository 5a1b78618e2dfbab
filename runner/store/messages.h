/* What assay and assay-store say to each other, in frames (sandbox/base/frame.h).
 *
 *   assay-store append     an evaluation's rows, and nothing else: no reading, no changing
 *   assay-store read       lists, shows and verifies, and never writes
 *   assay-store queue      takes and gives jobs, for who keeps the caller's rights; beside it, on a
 *                          socket each, the appenders of the evaluations that it was told of
 *   assay-store match      starts matches, ends those whose time is over, registers harnesses
 *
 *   assay → store                            store → assay
 *   STORE_OPEN                               STORE_READY
 *   append: STORE_BEGIN                      STORE_ATTEMPT
 *           STORE_TEXT, STORE_NUMBER,
 *           STORE_ROW …, STORE_COMMIT        STORE_DONE
 *   read:   STORE_LIST                       STORE_ENTRY …, STORE_DONE
 *           STORE_SHOW, STORE_PASS_DATA      STORE_PIECE …, STORE_DONE
 *           STORE_VERIFY                     STORE_PROBLEM …, STORE_COUNTS, STORE_DONE
 *           STORE_HEAD                       STORE_PIECE, STORE_DONE
 *   queue:  STORE_HAS                        STORE_ANSWER
 *           STORE_FETCH                      STORE_DONE
 *           STORE_ENQUEUE                    STORE_QUEUED
 *           STORE_CLAIM                      STORE_CLAIMED or STORE_NONE; then, once, STORE_WAKE
 *           STORE_RENEW                      STORE_ANSWER
 *           STORE_APPENDER, STORE_GIVE_BACK  STORE_DONE
 *           STORE_QUEUE, STORE_UPCOMING      STORE_ANSWER
 *           STORE_JOBS, STORE_JOB            STORE_ENTRY …, STORE_DONE
 *           STORE_PAUSE, STORE_RETRY,
 *           STORE_CANCEL, STORE_REJUDGE      STORE_ANSWER
 *           MATCH_SHOW, MATCH_LIST,
 *           MATCH_HISTORY, MATCH_LEADERS,
 *           MATCH_OVERDUE, MATCH_SCORES      STORE_VALUES …, STORE_DONE
 *   match:  MATCH_START                      STORE_VALUES, STORE_DONE
 *           MATCH_EXPIRE, MATCH_HARNESS      STORE_DONE
 *
 * To append the result of a match: MATCH_ARRIVED, MATCH_TRAJECTORY …, MATCH_ENTER (answered by
 * MATCH_ENTERED) before STORE_BEGIN, MATCH_VALID before STORE_COMMIT, and afterwards MATCH_SHOW,
 * without an id.
 *
 * The store may answer STORE_FAILED at any time, and ends then; not so the queue. A frame that its
 * mode does not have, or out of this order, is internal.frame. The end of the socket before
 * STORE_COMMIT takes back all of the evaluation. */
#ifndef ASSAY_STORE_MESSAGES_H
#define ASSAY_STORE_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STORE_SOCKET = 3 }; /* the store's descriptor of it */

/* Is that a URL of PostgreSQL's? If not, it is a file's name. */
static inline bool store_is_postgres(const char *name)
{
        return strncmp(name, "postgres://", strlen("postgres://")) == 0 ||
               strncmp(name, "postgresql://", strlen("postgresql://")) == 0;
}

enum {
        STORE_MAX_PATH = 4096,
        STORE_MAX_NAME = 4096,     /* of a task, an agent, an id */
        STORE_MAX_PIECE = 1 << 20, /* of a longer text */
        STORE_MAX_TEXT = 64 << 20, /* of all pieces of one */
        STORE_MAX_ALL = 128 << 20, /* of all texts of an evaluation */
        STORE_MAX_ROWS = 1000,     /* of an evaluation */
        STORE_MAX_AGENT = 200,
        STORE_MAX_ID = 64, /* of a job, a submission, a match */
        STORE_MAX_KEY = 255,
        STORE_MAX_NUMBER = 64, /* a decimal, as text */
        STORE_MAX_LEASES = 256,
        JOB_TEXTS = 12,  /* of a job's STORE_ENTRY: id, submission, task, agent, state, result,
                            code, reason, worker; status, outcome and score of the result */
        JOB_NUMBERS = 6, /* then, u64: tries, most tries, and in ms since 1970 when it was queued,
                            started, ended, and when it is tried again */
        STORE_HEAD_SIZE = 96, /* "NUMBER:64 digits" and NUL */
};

/* That a match may take: 366 days. */
#define MATCH_LONGEST_MS (UINT64_C(366) * 24 * 3600 * 1000)

enum store_message {
        STORE_OPEN = 1, /* text path or URL of the database, text path of the key; to append, what
                           is known before an evaluation begins: text agent ("": none), text id of
                           the result, text id of the submission if it is new, text id of the result
                           that waits and that it supersedes ("": it is an attempt of its own),
                           text id of the match that it ends ("": none), text harness of that */
        STORE_READY,    /* empty */
        STORE_BEGIN,    /* text task, text digest of the archive ("": unknown); once. Both are
                           empty, and those of the one that is superseded, if there is one */
        STORE_ATTEMPT,  /* u32: which one this is; nobody else writes until it ends */
        STORE_TEXT,     /* u8 table, u8 column, bytes: the text, or more of it */
        STORE_NUMBER,   /* u8 table, u8 column, u64 */
        STORE_ROW,      /* u8 table: its row is complete; what was not said is NULL */
        STORE_COMMIT,   /* empty: all rows were said */
        STORE_LIST,     /* empty */
        STORE_ENTRY,    /* u64 number, then text each: id, submission, task, agent, status, outcome,
                           score, code, completed_at; u32 attempt, u32 revision */
        STORE_SHOW,     /* text id: its `result` */
        STORE_PIECE,    /* bytes */
        STORE_VERIFY,   /* text head ("": none was kept) */
        STORE_PROBLEM,  /* text where, text what */
        STORE_COUNTS,   /* u64 results, u64 submissions that were looked at */
        STORE_HEAD,     /* empty */
        STORE_DONE,     /* empty */
        STORE_FAILED,   /* error */
        STORE_PASS_DATA, /* text id: its `eval_pass_data`, as STORE_SHOW */
        STORE_HAS,       /* text digest: is there that file? u8 */
        STORE_FETCH,     /* text digest, and a descriptor to write the file to */
        STORE_ENQUEUE,   /* text each: job, submission if it is new, task, its digest, agent, source
                            address, idempotency key, llm score, time used, seed, match; u32 most
                            of that address a minute, u32 tries; the archive's descriptor, and
                            the snapshot's of the task if the store lacks it */
        STORE_QUEUED,    /* text job, text submission, u8 asked for before, u64 ms to wait (0: it is
                            queued) */
        STORE_CLAIM,     /* text worker, u32 ms of the lease */
        STORE_CLAIMED,   /* text each: job, submission, task, its digest, the archive's, agent, llm
                            score, time used, seed, match; u64 lease, u32 which try, u64 ms that it
                            waited */
        STORE_NONE,      /* u64 ms until it may be different, u8 paused */
        STORE_WAKE,      /* empty: something was queued, or has ended */
        STORE_RENEW,    /* u32 ms, u32 n, n × (text job, u64 lease): n × u8: it is still theirs */
        STORE_APPENDER, /* text job, u64 lease, u32 ms before the next try, text id of its result;
                           the socket on which it is appended */
        STORE_GIVE_BACK, /* text job, u64 lease, u32 ms before the next try, error: it has no
                            result; `interrupted`: as if it had not begun */
        STORE_QUEUE,     /* empty: u64 each of queued, waiting, running, done, parked, cancelled, ms
                            since the oldest that waits was queued; u64 those that run and whose worker
                            is alive;     u8 paused */
        STORE_JOBS,      /* text state ("": what has not ended) */
        STORE_JOB,       /* text job */
        STORE_PAUSE,     /* u8: pause or go on; u64 how many run */
        STORE_RETRY,     /* text job ("": all that are parked): u64 how many */
        STORE_CANCEL,    /* text job: u64 how many */
        STORE_REJUDGE,   /* text task, text result, u8 those with an infra error; text digest of
                            another task ("": as before), and its snapshot's descriptor if the
                            store lacks it: u64 how many */
        STORE_ANSWER,    /* as the one that asks says */
        STORE_UPCOMING,  /* empty: u32 n, n × text digest of a task whose turn comes soon */

        /* Matches: runner/store/match.h */
        STORE_VALUES = 64, /* u32 n, n × (u8 enum value_kind, nothing, u64 or text): a row */
        MATCH_START,       /* text agent, text task, text digest of the task, text its path, text
                              harness (or empty), u8 memoryless, u8 enum task_difficulty, u64
                              milliseconds; text id: the match, as STORE_MATCH_COLUMNS */
        MATCH_EXPIRE,      /* empty: all whose time is over */
        MATCH_HARNESS,     /* text name, text key (64 digits, or empty: it signs nothing) */
        MATCH_ARRIVED,     /* empty: the answer is there, and is looked at from now on */
        MATCH_TRAJECTORY,  /* bytes: the next of it */
        MATCH_ENTER,       /* text task, text digest of the task, text digest of the answer, text
                              HMAC of the trajectory (or empty) */
        MATCH_ENTERED,     /* text started, text submitted (decimals, seconds since 1970), text
                              seconds used (decimal), u8 enum match_signature */
        MATCH_VALID,       /* u8: there is a valid trajectory */
        MATCH_SHOW,        /* text id; as STORE_MATCH_COLUMNS */
        MATCH_LIST,        /* text agent ("": all); the same, many */
        MATCH_HISTORY,     /* text agent; STORE_HISTORY_COLUMNS, then result and change; many */
        MATCH_LEADERS,     /* text task ("": all); STORE_LEADER_COLUMNS, many */
        MATCH_OVERDUE,     /* empty: how many matches' time is over */
        MATCH_SCORES,      /* empty: agent, exact score: of workflows, the last 100 tasks each, in
                              order; many */
};

/* Who signed a trajectory. SIGNATURE_BAD: not that harness; it counts as none then. */
enum match_signature { SIGNATURE_NONE, SIGNATURE_GOOD, SIGNATURE_BAD, SIGNATURE_COUNT };

/* The tables of an evaluation's rows, and their columns in order. GIVEN: assay says it; OWN: the
 * store itself puts it there. */
enum store_table {
        TABLE_RESULTS,
        TABLE_DIMENSIONS,
        TABLE_CRITERIA,
        TABLE_GIVEN, /* those above have what assay says */
        TABLE_MATCHES = TABLE_GIVEN,
        TABLE_HISTORY,
        TABLE_WORKFLOWS,
        TABLE_COUNT
};

#define STORE_RESULT_COLUMNS(X)                                                                    \
        X(STORED, NUMBER, NUMBER, "number", OWN) /* of all results, without gaps */                \
        X(STORED, ID, TEXT, "id", OWN)                                                             \
        X(STORED, SUBMISSION, TEXT, "submission_id", OWN)                                          \
        X(STORED, ATTEMPT, NUMBER, "attempt", OWN)                                                 \
        X(STORED, REVISION, NUMBER, "revision", OWN)                                               \
        X(STORED, SUPERSEDES, TEXT, "supersedes", OWN)                                             \
        X(STORED, TASK, TEXT, "task", OWN)                                                         \
        X(STORED, ARCHIVE, TEXT, "archive_sha256", OWN)                                            \
        X(STORED, AGENT_MAC, TEXT, "agent_mac", OWN)                                               \
        X(STORED, RUBRIC, TEXT, "rubric_sha256", OWN)                                              \
        X(STORED, COMPLETED, TEXT, "completed_at", OWN)                                            \
        X(STORED, TASK_SHA256, TEXT, "task_sha256", GIVEN)                                         \
        X(STORED, STATUS, TEXT, "status", GIVEN)                                                   \
        X(STORED, CLASS, TEXT, "class", GIVEN)                                                     \
        X(STORED, CODE, TEXT, "code", GIVEN)                                                       \
        X(STORED, REASON, TEXT, "reason", GIVEN)                                                   \
        X(STORED, OUTCOME, TEXT, "outcome", GIVEN)                                                 \
        X(STORED, EVAL_MODE, TEXT, "eval_mode", GIVEN)                                             \
        X(STORED, SCALE, NUMBER, "scale", GIVEN)                                                   \
        X(STORED, FINAL, TEXT, "final_score", GIVEN)                                               \
        X(STORED, FINAL_EXACT, TEXT, "final_score_exact", GIVEN)                                   \
        X(STORED, TEST, TEXT, "test_score", GIVEN)                                                 \
        X(STORED, LLM, TEXT, "llm_score", GIVEN)                                                   \
        X(STORED, LLM_REASONING, TEXT, "llm_reasoning", GIVEN)                                     \
        X(STORED, PASS_DATA, TEXT, "eval_pass_data", GIVEN)                                        \
        X(STORED, JSON, TEXT, "result", GIVEN)                                                     \
        X(STORED, MAC, TEXT, "mac", OWN) /* the last: it is over all others */

#define STORE_DIMENSION_COLUMNS(X)                                                                 \
        X(DIMENSION, RESULT, TEXT, "result_id", OWN)                                               \
        X(DIMENSION, POSITION, NUMBER, "position", OWN)                                            \
        X(DIMENSION, NAME, TEXT, "name", GIVEN)                                                    \
        X(DIMENSION, SOURCE, TEXT, "source", GIVEN)                                                \
        X(DIMENSION, WEIGHT, TEXT, "weight", GIVEN)                                                \
        X(DIMENSION, SCORE, TEXT, "score", GIVEN)                                                  \
        X(DIMENSION, REASONING, TEXT, "reasoning", GIVEN)

#define STORE_CRITERION_COLUMNS(X)                                                                 \
        X(CRITERION, RUBRIC, TEXT, "rubric_sha256", OWN)                                           \
        X(CRITERION, POSITION, NUMBER, "position", OWN)                                            \
        X(CRITERION, NAME, TEXT, "name", GIVEN)                                                    \
        X(CRITERION, DESCRIPTION, TEXT, "description", GIVEN)                                      \
        X(CRITERION, WEIGHT, NUMBER, "weight", GIVEN)                                              \
        X(CRITERION, SOURCE, TEXT, "source", GIVEN)

#define STORE_MATCH_COLUMNS(X)                                                                     \
        X(PLAYED, NUMBER, NUMBER, "number", OWN) /* of all matches, without gaps */                \
        X(PLAYED, ID, TEXT, "id", OWN)                                                             \
        X(PLAYED, AGENT, TEXT, "agent", OWN)                                                       \
        X(PLAYED, TASK, TEXT, "task", OWN)                                                         \
        X(PLAYED, TASK_SHA256, TEXT, "task_sha256", OWN)                                           \
        X(PLAYED, TASK_PATH, TEXT, "task_path", OWN)                                               \
        X(PLAYED, HARNESS, TEXT, "harness", OWN)                                                   \
        X(PLAYED, MEMORYLESS, NUMBER, "memoryless", OWN)                                           \
        X(PLAYED, DIFFICULTY, TEXT, "difficulty", OWN)                                             \
        X(PLAYED, OPPONENT, NUMBER, "opponent_elo", OWN)                                           \
        X(PLAYED, ATTEMPT, NUMBER, "attempt_number", OWN)                                          \
        X(PLAYED, STARTED, TEXT, "started_at", OWN)                                                \
        X(PLAYED, EXPIRES, TEXT, "expires_at", OWN)                                                \
        X(PLAYED, START_MAC, TEXT, "start_mac", OWN) /* over those above */                        \
        X(PLAYED, SUBMITTED, TEXT, "submitted_at", OWN)                                            \
        X(PLAYED, ANSWER, TEXT, "answer_sha256", OWN)                                              \
        X(PLAYED, TRAJECTORY, TEXT, "trajectory", OWN)                                             \
        X(PLAYED, WARNING, TEXT, "harness_warning", OWN)                                           \
        X(PLAYED, RESULT_ID, TEXT, "result_id", OWN)                                               \
        X(PLAYED, RESULT, TEXT, "result", OWN)                                                     \
        X(PLAYED, SCORE, TEXT, "score", OWN)                                                       \
        X(PLAYED, BEFORE, NUMBER, "elo_before", OWN)                                               \
        X(PLAYED, AFTER, NUMBER, "elo_after", OWN)                                                 \
        X(PLAYED, CHANGE, NUMBER, "elo_change", OWN)                                               \
        X(PLAYED, VERIFIED, NUMBER, "verified", OWN)                                               \
        X(PLAYED, BENCHMARK, NUMBER, "benchmark", OWN)                                             \
        X(PLAYED, ENDED, TEXT, "ended_at", OWN)

#define STORE_HISTORY_COLUMNS(X)                                                                   \
        X(HISTORY, AGENT, TEXT, "agent", OWN)                                                      \
        X(HISTORY, POSITION, NUMBER, "position", OWN) /* 1, 2, 3, … of the agent's */            \
        X(HISTORY, MATCH, TEXT, "match_id", OWN)                                                   \
        X(HISTORY, BEFORE, NUMBER, "elo_before", OWN)                                              \
        X(HISTORY, AFTER, NUMBER, "elo_after", OWN)                                                \
        X(HISTORY, STREAK, NUMBER, "streak", OWN)                                                  \
        X(HISTORY, BEST, NUMBER, "best_streak", OWN)                                               \
        X(HISTORY, AT, TEXT, "at", OWN)                                                            \
        X(HISTORY, MAC, TEXT, "mac", OWN)

#define STORE_WORKFLOW_COLUMNS(X)                                                                  \
        X(FLOW, RESULT, TEXT, "result_id", OWN)                                                    \
        X(FLOW, AGENT, TEXT, "agent", OWN)                                                         \
        X(FLOW, TASK, TEXT, "task", OWN)                                                           \
        X(FLOW, SCORE, TEXT, "score", OWN)                                                         \
        X(FLOW, EXACT, TEXT, "score_exact", OWN)                                                   \
        X(FLOW, COMPLETED, TEXT, "completed_at", OWN)                                              \
        X(FLOW, MAC, TEXT, "mac", OWN)

/* Of a leaderboard: no table of its own. */
#define STORE_LEADER_COLUMNS(X)                                                                    \
        X(LEADER, AGENT, TEXT, "agent", OWN)                                                       \
        X(LEADER, SCORE, TEXT, "score", OWN)                                                       \
        X(LEADER, SCALE, NUMBER, "scale", OWN)                                                     \
        X(LEADER, TASK, TEXT, "task", OWN)                                                         \
        X(LEADER, RESULT, TEXT, "result_id", OWN)                                                  \
        X(LEADER, COMPLETED, TEXT, "completed_at", OWN)                                            \
        X(LEADER, ELO, NUMBER, "elo", OWN)                                                         \
        X(LEADER, MATCHES, NUMBER, "matches", OWN)                                                 \
        X(LEADER, STREAK, NUMBER, "streak", OWN)                                                   \
        X(LEADER, BEST, NUMBER, "best_streak", OWN)

#define X(table, column, kind, name, who) table##_##column,
enum { STORE_RESULT_COLUMNS(X) STORED_COLUMNS };
enum { STORE_DIMENSION_COLUMNS(X) DIMENSION_COLUMNS };
enum { STORE_CRITERION_COLUMNS(X) CRITERION_COLUMNS };
enum { STORE_MATCH_COLUMNS(X) PLAYED_COLUMNS };
enum { STORE_HISTORY_COLUMNS(X) HISTORY_COLUMNS };
enum { STORE_WORKFLOW_COLUMNS(X) FLOW_COLUMNS };
enum { STORE_LEADER_COLUMNS(X) LEADER_COLUMNS };
#undef X

#endif
