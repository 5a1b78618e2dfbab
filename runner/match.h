/* What the verbs of matches share: cli/match.c has the options, a file each what they do. */
#ifndef ASSAY_MATCH_H
#define ASSAY_MATCH_H

#include "evaluation.h"
#include "options.h"
#include "store_values.h"

struct match_options {
        struct common_options common;
        const char *own, *opponent, *result, *matches; /* rate */
        bool verified, first_attempt;
        bool memoryless;
        const char *store, *agent, *harness, *task, *key, *signature;
        struct evaluation_options evaluation;
};

/* Each gets the words behind its name and returns the exit status, or -1. */
int match_rate(const struct match_options *o, char **words, struct error *err);
int match_start(const struct match_options *o, char **words, struct error *err);
int match_submit(const struct match_options *o, char **words, struct error *err);
int match_show(const struct match_options *o, char **words, struct error *err);
int match_list(const struct match_options *o, char **words, struct error *err);
int match_history(const struct match_options *o, char **words, struct error *err);
int match_harness(const struct match_options *o, char **words, struct error *err);

/* match_store.c: is that a name, or an id, that a store could have? -1: usage. */
int match_check_name(const char *what, const char *name, struct error *err);
/* Call `take` for each row of the answer to a question with that text, or (NULL)
 * without one. */
typedef int (*match_take_row)(void *to, const struct store_values *row, struct error *err);
int match_each(const char *url, enum store_message type, const char *text, unsigned columns,
        match_take_row take, void *to, struct error *err);
/* Have something written; `ret` is NULL, or the match that it is of. */
int match_tell(const char *url, enum store_message type, const struct buffer *payload,
        struct store_values *ret, struct error *err);
/* All matches whose time is over end; where there are none, nothing is written. */
int match_end_overdue(const char *url, struct error *err);
/* One match of a store. */
int match_find(const char *url, const char *id, struct store_values *ret, struct error *err);
/* It as members of the object that is open, and in a line. */
void match_json(const struct store_values *m, struct json_writer *w);
void match_line(const struct store_values *m, struct buffer *out);
/* Print it, unless it is empty or for people and they want to be left alone. */
int match_print(const struct match_options *o, const struct buffer *out, struct error *err);
/* match_task.c: the digest of a task as it is now. Needs the caller's rights. */
int match_task_digest(const char *path, char ret[DIGEST_SIZE], struct error *err);

#endif
