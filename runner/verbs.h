/* The verbs of the command line: one file each in cli/, one row each in main.c. */
#ifndef ASSAY_VERBS_H
#define ASSAY_VERBS_H

#include "options.h"

/* Each gets the arguments behind its name and returns the exit status, or -1 with `err`. */
int verb_run(int argc, char **argv, struct error *err);
int verb_results(int argc, char **argv, struct error *err);
int verb_leaderboard(int argc, char **argv, struct error *err);
int verb_batch(int argc, char **argv, struct error *err);
int verb_check(int argc, char **argv, struct error *err);
int verb_verify(int argc, char **argv, struct error *err);
int verb_describe(int argc, char **argv, struct error *err);
int verb_init(int argc, char **argv, struct error *err);
int verb_submission(int argc, char **argv, struct error *err);
int verb_shell(int argc, char **argv, struct error *err);
int verb_exec(int argc, char **argv, struct error *err);
int verb_submit(int argc, char **argv, struct error *err);
int verb_worker(int argc, char **argv, struct error *err);
int verb_queue(int argc, char **argv, struct error *err);
int verb_rejudge(int argc, char **argv, struct error *err);
int verb_finalize(int argc, char **argv, struct error *err);
int verb_image(int argc, char **argv, struct error *err);
int verb_score(int argc, char **argv, struct error *err);
int verb_workflow(int argc, char **argv, struct error *err);
int verb_match(int argc, char **argv, struct error *err);
int verb_doctor(int argc, char **argv, struct error *err);
int verb_explain(int argc, char **argv, struct error *err);

#endif
