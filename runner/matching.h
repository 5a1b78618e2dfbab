/* The evaluation of an answer that ends a match (docs/match.md): the store decides whether it may
 * be handed in, and how much time was used. */
#ifndef ASSAY_MATCHING_H
#define ASSAY_MATCHING_H

#include "evaluation.h"
#include "store_values.h"

/* 64 hexadecimal digits: a file that has them, or (`inline_too`) they themselves. Needs the
 * caller's rights. */
int matching_read_digits(const char *option, const char *given, bool inline_too,
        char ret[DIGEST_SIZE], struct error *err);
/* Once it was read to its end: from here on no time is used. */
int matching_arrive(struct evaluation *e, struct error *err);
/* Once the intake has accepted it, and before anything of it is graded: hand it in. */
int matching_enter(struct evaluation *e, struct error *err);
/* Before the end of its rows: was the trajectory valid? */
int matching_say_valid(struct evaluation *e, struct error *err);
/* Once its rows are stored: the match, as STORE_MATCH_COLUMNS. */
int matching_ask(struct evaluation *e, struct store_values *ret, struct error *err);

#endif
