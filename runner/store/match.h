/* Matches: an agent has a task for some time, hands in one answer, and what that is worth moves the
 * agent's rating. One file for each step:
 *
 *   match_start.c    a match begins; harnesses are registered
 *   match_enter.c    the answer is handed in: from here on its time stands still
 *   match_settle.c   it ends, with the result of its answer or because its time is over
 *   match_read.c     what there is
 *   match_verify.c   whether it was changed
 *
 * Who writes is alone (the lock "results"). An ended match and the row of the agent's history that
 * it makes are under one mac, which is also over that of the row before. */
#ifndef ASSAY_STORE_MATCH_H
#define ASSAY_STORE_MATCH_H

#include "store/store.h"

enum { RATING_FIRST = 1000 };

/* A row of a table, with texts of its own. */
struct match_row {
        struct value values[STORED_COLUMNS];
        struct buffer texts[STORED_COLUMNS];
        unsigned rows; /* how many there were: that of the last is kept */
};
/* The one row that `sql` asks for; to be freed in any case. */
int match_row_ask(struct match_row *ret, struct store *s, const char *sql,
        const struct value *values, unsigned count, struct error *err);
void match_row_free(struct match_row *r);
/* That match. -1: match.unknown. To be freed in any case. */
int match_find(struct match_row *ret, struct store *s, const char *id, struct error *err);
bool match_has(const struct match_row *r, unsigned column, const char *text);
const char *match_text(const struct match_row *r, unsigned column); /* "" for NULL */
/* STORE_VALUES. */
int match_send_row(int socket, const struct value *row, unsigned count, struct error *err);

/* The macs of a match as it was started; and of one that has ended with a row of history. */
int match_start_mac(
        const struct store *s, const struct value *match, char ret[DIGEST_SIZE], struct error *err);
int match_end_mac(const struct store *s, const char *before, const struct value *match,
        const struct value *history, char ret[DIGEST_SIZE], struct error *err);
void match_harness_mac(
        const struct store *s, const char *name, const char *key, char ret[DIGEST_SIZE]);

/* match_start.c: answer a frame of the mode `match`. */
int match_take(struct store *s, int socket, unsigned type, struct reader *r, struct error *err);
/* A harness that is registered, as these. 0: it is not. To be freed in any case. */
enum { HARNESS_NAME, HARNESS_KEY, HARNESS_MAC };
int match_harness_find(struct match_row *ret, struct store *s, const char *name, struct error *err);
/* What there is to say of the harness of a match ("": it has none) into its column. */
int match_harness_warning(struct store *s, const char *harness, const char *started_with,
        struct value *row, struct error *err);

/* match_enter.c: an answer that comes. */
struct match_entry {
        struct hmac_sha256_ctx hmac; /* of the trajectory */
        bool hashing, has_key;       /* that was begun; the harness has one */
        int64_t arrived;             /* when the answer was there, in ms; 0: when it is handed in */
        bool entered, valid;         /* it was handed in; its trajectory is valid */
        enum match_signature signature;
};
int match_enter_trajectory(struct match_entry *e, struct store *s, const struct append_order *order,
        struct reader *r, struct error *err);
int match_enter_arrived(struct match_entry *e, struct store *s, const struct append_order *order,
        struct reader *r, struct error *err);
int match_enter(struct match_entry *e, struct store *s, const struct append_order *order,
        int socket, struct reader *r, struct error *err);
/* In a transaction: that answer is handed in to the order's match, at that time, for a job. */
struct match_answer {
        const char *task, *task_sha256, *sha256;
        int64_t arrived;
};
int match_hand_in(struct store *s, const struct append_order *order, const struct match_answer *a,
        struct error *err);

/* match_settle.c: within the transaction that appends a result. */
struct match_end {
        const char *match;      /* the order's; "": that which waits for `supersedes` */
        const char *supersedes; /* or "" */
        const struct match_entry *entry;
        const struct value *result; /* its columns */
        const char *now;
};
int match_settle(struct store *s, const struct match_end *end, struct error *err);
/* Those whose time is over: $1 is now, $2 match_patience(). An answer that arrived in time, and
 * that may still be unpacked, keeps its match from that. */
#define MATCH_OVERDUE_ONES                                                                         \
        " FROM matches WHERE result IS NULL AND submitted_at IS NULL AND expires_at <= $1"         \
        " AND (arrived_at IS NULL OR arrived_at >= expires_at OR arrived_at <= $2)"
void match_patience(int64_t now, char ret[STORE_TIME_SIZE]);
/* End those whose time is over then (ms), of that agent or ("") of all; within a transaction. */
int match_expire(struct store *s, const char *agent, int64_t then, struct error *err);

/* match_read.c: answer a frame of the mode `read`, as read_take(). 0: it is none of matches. */
int match_read(struct store *s, int socket, unsigned type, struct reader *r, struct error *err);
int match_show(struct store *s, int socket, const char *id, struct error *err);

/* match_workflow.c: within the transaction that appends a result, its row if it is a workflow's. */
int match_workflow_add(
        struct store *s, const struct value *result, const char *agent, struct error *err);
int match_workflow_mac(
        const struct store *s, const struct value *row, char ret[DIGEST_SIZE], struct error *err);

/* match_verify.c */
typedef int (*match_report)(void *to, const char *where, const char *what, struct error *err);
int match_verify(struct store *s, match_report report, void *to, struct error *err);

#endif
