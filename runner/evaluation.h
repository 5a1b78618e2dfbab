/* One evaluation: a task and a submission go through the phases, and what comes out is complete,
 * whatever happened. Reports are written from this structure. */
#ifndef ASSAY_EVALUATION_H
#define ASSAY_EVALUATION_H

#include "broker.h"
#include "cases.h"
#include "composite.h"
#include "dimensions.h"
#include "image/cell.h"
#include "log.h"
#include "policy.h"
#include "store_channel.h"
#include "submission.h"
#include "task.h"
#include "watcher.h"
#include "workflow.h"
#include "workspace.h"

enum phase {
        PHASE_RECEIVED,
        PHASE_UNPACK,
        PHASE_IMAGE,
        PHASE_BUILD,
        PHASE_START,
        PHASE_RUN,
        PHASE_COLLECT,
        PHASE_JUDGE,
        PHASE_SCORE,
        PHASE_COUNT,
};

enum status {
        STATUS_GRADED,
        STATUS_PENDING,
        STATUS_REJECTED,
        STATUS_UNGRADABLE,
        STATUS_ERROR,
};

/* Decided from the mounts, before anything starts. */
enum integrity {
        INTEGRITY_ISOLATED, /* the suite's cell has no byte of the submission */
        INTEGRITY_BROKERED, /* it has them to read, and runs them in other cells */
        INTEGRITY_SHARED,   /* everything else */
};

struct test_result {
        char *name, *duration_ms, *error;
        bool passed;
        enum task_visibility visibility;
};

enum { SUITE_ENV = 3 }; /* variables of our own */

struct score_row { /* of a breakdown, a criterion or a verdict */
        char *name, *score, *reasoning;
};

struct suite_result {
        bool present, ungradable;
        char *score;   /* exact; "": there is none */
        char *raw;     /* what it was before it was clamped, or "" */
        unsigned pass; /* 0, 1; 2: not said */
        char *notes;
        struct score_row *breakdown;
        unsigned breakdown_count;
        struct score_row *dimensions; /* of stdout-json, 0 to 1000 */
        unsigned dimension_count;
        struct test_result *tests;
        unsigned test_count;
        struct warning *warnings;
        unsigned warning_count;
};

struct verdict {
        bool present;
        char *number; /* given as one number, else NULL */
        struct score_row *criteria;
        unsigned criterion_count;
        char *summary, *model;
        struct {
                char *prompt_sha256, *prompt_tokens, *completion_tokens, *runs, *tries;
        } record; /* of an adapter; each may be NULL or "" */
};

struct blend {
        bool present;                         /* there is a score */
        bool parts;                           /* what there is of its parts is known */
        char *score, *test_score, *llm_score; /* 2 decimals; empty where there is none */
        char *exact, *exact_test, *exact_llm; /* fractions */
        struct score_row *rows;               /* of criteria that name tests */
        unsigned row_count;
        bool passed;
};

/* What the suite's cell is given, apart from descriptors: suite_cell.c. */
struct suite_cell {
        const char **command, **env; /* lists of texts of others */
        char **read_command;         /* of the contract's metadata */
        char *texts[SUITE_ENV];      /* of `env` */
        unsigned partial;            /* which of the results is tests.jsonl */
        struct buffer files[CELL_MAX_FILES];
};

/* How far to go. */
enum evaluation_depth {
        EVALUATE_ALL,
        EVALUATE_INTAKE, /* nothing runs: is the submission accepted? */
        EVALUATE_CELLS,  /* until the cells could start */
};

/* The match that the submission is the answer to. */
struct match_order {
        const char *id, *harness;      /* the second NULL: the one that it was started with */
        char task_sha256[DIGEST_SIZE]; /* of the task as it is now */
        char signature[DIGEST_SIZE];   /* of the trajectory, by that harness; or "" */
};

/* What its store says once the answer is handed in: decimals, seconds; two are since 1970. */
struct match_clock {
        bool entered;
        char started[32], submitted[32], used[32];
        enum match_signature signature;
};

/* What a worker has for one evaluation after the other. */
struct evaluation_kept {
        int supervisor; /* its socket (keeper.h), which the evaluation takes */
        int watcher;    /* borrowed: the socket of who watches over the task (watcher.h) */
        const struct task_state *task; /* what its task has to be: another may lie there by now */
        const struct buffer *document; /* what the scorer said of task.json; NULL: ask it */
};

/* What the command line asked for. */
struct evaluation_options {
        const char *llm_score; /* a number or a file; NULL */
        bool allow_weak;
        enum evaluation_depth depth;
        bool allow_network;
        bool keep;              /* what it worked on stays */
        bool for_submitter;     /* reports leave out what is not for them */
        const char *seed;       /* ASSAY_SEED; NULL: 0 */
        const char *fail_under; /* a decimal on the result's scale, instead of `pass`; NULL */
        const char *time_used;  /* seconds, a decimal; NULL */
        const char *trajectory; /* a file; NULL */
        const char *policy;     /* the same, of the operator; NULL: the machine's */
        const char *store;      /* where the result is stored as well; NULL: nowhere */
        const char *agent;      /* whose submission it is there; NULL */
        /* A store that was told of it already, by who keeps the caller's rights; in its place. */
        struct evaluation_stored {
                int socket;            /* borrowed; < 0, or no id: none */
                const char *result_id; /* which its result has */
        } stored;
        const struct match_order *match;    /* or NULL: then the time is the store's */
        const struct evaluation_kept *kept; /* or NULL: it has its own */
        const char *replay; /* a result; NULL. Then seed, time and score are taken from it */
};

/* How the command of a build ended, or of the build check, and what it printed. */
struct build_result {
        const char *detected;       /* what there is to build; NULL: nothing */
        const char *const *command; /* borrowed */
        bool ran, good;
        bool unknown; /* the check could not tell, for a reason */
        char reason[300];
        struct cell_outcome outcome;
        struct log output[2];
        int tree; /* what it left: the submission as all other cells have it; -EBADF */
};

/* What is graded again: replay.c. */
struct replay {
        int file; /* the result of then; -EBADF: this is none */
        struct evaluation_options options;
        char *id, *seed, *time_used, *llm_score; /* the last two may be "" */
        struct verdict verdict;                  /* not present */
};

struct evaluation {
        const struct evaluation_options *options;
        struct task task;
        struct policy policy;
        struct submission submission;
        struct workspace workspace;
        int image_store;         /* the directory of all images */
        struct image_cell image; /* of the suite; empty for `host` */
        struct channel channel;
        struct cells cells;
        struct submission_cell cell; /* what each cell of the submission is given */
        struct build_result build;
        struct broker broker;
        struct cases_outcome cases;
        struct workflow workflow; /* with the scheme composite */
        unsigned judge_tries;     /* 0: none was asked */
        struct replay replay;
        int verdict_file; /* --llm-score FILE */
        int trajectory;
        char trajectory_sha256[DIGEST_SIZE]; /* once it was read; or "" */
        int kept;                            /* where it is to be kept, or -EBADF */
        struct watcher watcher;
        struct watched watched; /* when all phases are over */
        struct store_channel store;
        unsigned attempt; /* of this submission; the store knows others */
        struct match_clock match;

        enum integrity integrity;
        struct suite_cell suite_cell;
        struct running suite_running;
        struct cell_outcome outcome; /* of the suite's cell */
        bool suite_ran;              /* `outcome` and `output` are valid */
        struct log output[2];        /* standard output and error of the suite */
        struct suite_result suite;
        struct verdict verdict;
        struct blend blend;
        struct dimensions dimensions; /* with the scheme dimensions, instead of `blend` */
        struct composite composite;   /* with the scheme composite, the same */
        struct {
                char field[64], message[200];
        } notes[8]; /* warnings of our own */
        unsigned note_count;

        struct error error;  /* code NONE: graded */
        struct error shaped; /* graded, but this decided the score; code NONE: nothing did */
        struct {
                uint64_t start_us, us;
                bool ran;
        } phases[PHASE_COUNT];
        uint64_t started_us;
};

/* The numbers among them are some. evaluation_open() asks the same. -1: usage. */
int evaluation_check_options(const struct evaluation_options *o, struct error *err);
/* Open everything that the two paths name, with the caller's rights; start the supervisor. */
int evaluation_open(struct evaluation *e, const char *task, const char *submission,
        const struct evaluation_options *options, struct error *err);
/* Go through the phases. -1: the task is invalid or cannot be evaluated here at all (usage);
 * otherwise `e->error` and the rest say what came out. */
int evaluation_run(struct evaluation *e, struct error *err);
void evaluation_close(struct evaluation *e);

/* Seconds, a decimal; "": nobody has said. */
const char *evaluation_time_used(const struct evaluation *e);
enum status evaluation_status(const struct evaluation *e);
/* 0 to 6, as the contract has it. */
int evaluation_exit(const struct evaluation *e);
const char *phase_name(enum phase p);
const char *status_name(enum status s);
const char *integrity_name(enum integrity i);

/* suite_cell.c: fill the order for the suite's cell, except its standard descriptors. */
int suite_cell_prepare(struct evaluation *e, struct cell_order *order, struct error *err);
/* The same for a checker of the task, without results and files. */
int suite_cell_prepare_checker(struct evaluation *e, struct error *err);
void suite_cell_order_checker(void *evaluation, struct cell_order *ret);
/* And for a tool of the task. */
void suite_cell_order_tool(void *evaluation, struct cell_order *ret);
void suite_cell_free(struct suite_cell *s);

/* submission_cell.c: what every cell of the submission is given. */
int submission_cell_prepare(struct evaluation *e, struct error *err);

/* build.c: run the build in a cell of the submission; what it left becomes the submission. */
int build_run(struct evaluation *e, struct error *err);
/* Run a command in such a cell, and wait; how it ended is in `e->build`. */
int build_execute(struct evaluation *e, const char *const *command, const struct limits *limits,
        bool keep, struct error *err);
void build_free(struct build_result *b);

/* build_check.c: try what the submission's files suggest; only interruptions are errors. */
int build_check_run(struct evaluation *e, struct error *err);
/* Is the judge to be told of one? */
bool build_check_is_wanted(const struct evaluation *e);
/* And is there anything to build? */
bool build_check_is_due(const struct evaluation *e);

/* suite.c: make the suite's cell, run it, judge how it ended. */
/* Serve the calls of that cell, which is about to be started. */
void suite_take_calls(struct evaluation *e, struct running *r);
int suite_start(struct evaluation *e, struct error *err);
int suite_run(struct evaluation *e, struct error *err);
int suite_judge(struct evaluation *e, struct error *err);

/* grade.c: from the result file and the verdict to the score. */
int grade_collect(struct evaluation *e, struct error *err);
int grade_cases(struct evaluation *e, struct error *err);
/* The task says that a limit counts as 0: `why` stays in the result as what shaped the score. */
int grade_as_zero(struct evaluation *e, struct error *why);
/* It says that those tests count which were reported until then. */
int grade_partial(struct evaluation *e, struct error *why);
int grade_verdict(struct evaluation *e, struct error *err);
int grade_blend(struct evaluation *e, struct error *err);
/* grade_dimensions.c: the same of the scheme dimensions. */
int grade_dimensions(struct evaluation *e, struct error *err);
/* Is there no verdict, so that there can be no score yet? What there is of it is known then. */
bool grade_waits(const struct evaluation *e);
/* Documents of a request: task.json as the spec, truth/truth.json where it is there. */
int grade_put_spec(const struct evaluation *e, int request, struct error *err);
int grade_put_truth(const struct evaluation *e, int request, struct error *err);
/* grade_workflow.c: the workflow of the submission; and once it has run, its score. */
int grade_read_workflow(struct evaluation *e, struct error *err);
int grade_workflow(struct evaluation *e, struct error *err);
/* The row of a criterion, from wherever it comes; NULL: there is none. */
const struct score_row *grade_row(const struct evaluation *e, const struct criterion *c);
void grade_free(struct evaluation *e);

#endif
