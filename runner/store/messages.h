/* What assay and assay-store say to each other, in frames (sandbox/base/frame.h).
 *
 *   assay-store append     an evaluation's rows, and nothing else: no reading, no changing
 *   assay-store read       lists, shows and verifies, and never writes
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
 *
 * The store may answer STORE_FAILED at any time, and ends then. A frame that its mode does not
 * have, or out of this order, is internal.frame. The end of the socket before STORE_COMMIT takes
 * back all of the evaluation. */
#ifndef ASSAY_STORE_MESSAGES_H
#define ASSAY_STORE_MESSAGES_H

#include <stdbool.h>
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
        STORE_HEAD_SIZE = 96, /* "NUMBER:64 digits" and NUL */
};

enum store_message {
        STORE_OPEN = 1, /* text path or URL of the database, text path of the key; to append, what
                           is known before an evaluation begins: text agent ("": none), text id of
                           the result, text id of the submission if it is new, text id of the result
                           that waits and that it supersedes ("": it is an attempt of its own) */
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
};

/* The tables of an evaluation's rows, and their columns in order. GIVEN: assay says it; OWN: the
 * store itself puts it there. */
enum store_table { TABLE_RESULTS, TABLE_DIMENSIONS, TABLE_CRITERIA, TABLE_COUNT };

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

#define X(table, column, kind, name, who) table##_##column,
enum { STORE_RESULT_COLUMNS(X) STORED_COLUMNS };
enum { STORE_DIMENSION_COLUMNS(X) DIMENSION_COLUMNS };
enum { STORE_CRITERION_COLUMNS(X) CRITERION_COLUMNS };
#undef X

#endif
