/* An open store: its engine, its key, and the two things that assay asks of it. */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

#include "frame.h"
#include "store/chain.h"

enum { STORE_TIME_SIZE = 25 };

struct store {
        const struct engine *engine;
        struct database *database;
        struct chain_key key;
};

/* Open the database, a file or a URL of PostgreSQL's, bring its tables up to date, read the key or,
 * with a new database, make one where there is none. Needs the caller's rights. */
int store_open(struct store *s, const char *path, const char *key, enum store_mode mode,
        struct error *err);
void store_close(struct store *s);
/* Give up all other rights, for ever: to write elsewhere than beside the database at `path`, or,
 * where that is a server's, anywhere; to start programs; capabilities. */
int store_lock_in(const char *path, bool is_remote, struct error *err);
/* One statement of the store's, without an answer. */
int store_do(struct store *s, const char *sql, const struct value *values, unsigned count,
        struct error *err);
/* The one row, or none, of one or more columns; texts longer than `size` are cut. Returns how many
 * rows there were. */
int store_ask_text(struct store *s, const char *sql, const struct value *values, unsigned count,
        char *ret, size_t size, struct error *err);
int store_ask_number(struct store *s, const char *sql, const struct value *values, unsigned count,
        int64_t *ret, struct error *err);
/* A text of a column, cut where it is very long. */
void store_put_short(struct buffer *out, const struct value *v);
/* STORE_FAILED. */
int store_send_failed(int socket, const struct error *why);
/* What comes is not what messages.h says: -1. */
int store_malformed(struct error *err);
/* All that `body` does in one transaction. 0, or 1 of the body takes it back, which is no failure.
 * When the connection is lost it is done again on a new one, unless `is_done` finds it done. */
int store_transact(struct store *s, int (*body)(void *to, struct error *err),
        int (*is_done)(void *to, struct error *err), void *to, struct error *err);
/* 0: the connection was lost, and is there again. */
int store_connect_again(struct store *s, struct error *err);

/* Whose archive it is. */
struct store_submission {
        const char *task, *archive, *agent;
        char id[STORE_MAX_NAME]; /* of a new one */
};
/* The same archive for the same task by the same agent is the same submission: `id` becomes that
 * one's, or a new one gets it. In a transaction. */
int store_find_submission(struct store *s, struct store_submission *sub, struct error *err);

/* Now, as "2026-11-19T11:02:57.123Z". */
void store_now(char ret[STORE_TIME_SIZE]);
/* The same of a time in ms since 1970, and back. */
void store_time_text(int64_t ms, char ret[STORE_TIME_SIZE]);
int store_time_parse(const char *text, int64_t *ret_ms, struct error *err);

/* append.c: what will be appended. */
struct append;
struct append_order {
        char agent[STORE_MAX_AGENT + 1], result_id[STORE_MAX_NAME], submission_id[STORE_MAX_NAME];
        char supersedes[STORE_MAX_NAME]; /* the result that waited; "": an attempt of its own */
        const struct job_lease *job;     /* whose result it is; NULL */
        char match[STORE_MAX_NAME];      /* that it ends; "": none */
        char harness[STORE_MAX_NAME];    /* of that; "": the one that it was started with */
};
struct append *append_new(struct store *s, const struct append_order *order, struct error *err);
/* Once it has begun, and until it has ended, it has the database for itself. */
enum append_step { APPEND_WAITS, APPEND_BEGUN, APPEND_ENDED };
enum append_step append_step(const struct append *a);
/* Take a frame and answer it. */
int append_take(struct append *a, int socket, unsigned type, struct reader *r, struct error *err);
/* What was not committed is taken back. */
void append_free(struct append *a);

/* read.c, verify.c: answer a frame. */
int read_take(struct store *s, int socket, unsigned type, struct reader *r, struct error *err);
int verify_answer(struct store *s, int socket, const char *head, struct error *err);
/* The mac over all results, as text. */
int verify_head(struct store *s, char ret[STORE_HEAD_SIZE], struct error *err);

#endif
