/* A task: what task.json says, checked, and the descriptors of what belongs to it. */
#ifndef ASSAY_TASK_H
#define ASSAY_TASK_H

#include "images/digest.h"
#include "task_cases.h"
#include "task_workflow.h"

#include <errno.h>
#include <stdio.h>

struct criterion {
        char *name, *description;
        unsigned weight;
        enum criterion_source source;
        char **tests; /* patterns of names, NULL at the end */
};

struct required_pattern {
        char *glob;
        uint64_t min_files;
};

struct required_file {
        char *path;
        uint64_t max_size; /* 0: any */
};

/* What a submission's cell is to be made from. */
struct submission_image {
        bool declared;
        char *name;      /* "": the suite's */
        unsigned layers; /* the lowest; 0: all */
        char *hide[SCORE_MAX_HIDDEN];
        unsigned hide_count;
};

/* Something wrong with, or worth saying about, a place in task.json. */
struct task_problem {
        unsigned line, column;
        char *key, *message;
};

/* Where a key is that may turn out to be wrong later. */
struct task_place {
        unsigned line, column;
        char *key;
};

enum {
        TASK_MAX_PATH = 1024,
        TASK_MAX_PLACES = 64,
        TASK_MAX_CRITERIA = 100,
        TASK_MAX_ENV = SCORE_MAX_ENV,
        TASK_MAX_PROBLEMS = 1000
};

/* What its files were when somebody looked; the same digest means that nobody changed any. */
struct task_state {
        char digest[DIGEST_SIZE];
        struct timespec changed; /* the last time that any was */
        char newest[TASK_MAX_PATH];
        uint64_t bytes; /* of all of them; UINT64_MAX: more */
};

/* Directories of a task. */
enum task_part { TASK_TESTS, TASK_TRUTH, TASK_TOOLS, TASK_PARTS };

struct task {
        struct task_state state; /* when it was opened */
        int directory;           /* the task's own; O_PATH */
        int file;                /* task.json */
        int tests;               /* tests/, or -EBADF */
        int truth;               /* truth/, the same */
        int tools;               /* tools/, the same */
        int shown[TASK_PARTS];   /* these, to be read by this process; -EBADF: as they are */

        char *name, *title, *description, *image;
        enum task_contract contract;
        enum task_scheme scheme;
        enum task_mode mode;
        unsigned test_weight, llm_weight;
        bool pass_from_suite;
        char *pass;
        enum task_llm_missing llm_missing;
        struct criterion criteria[TASK_MAX_CRITERIA];
        unsigned criterion_count;
        bool broker, sees_submission;
        bool network;      /* of the suite's cell: outbound */
        bool needs_time;   /* to be scored: that which the submission used */
        uint64_t match_ms; /* that a match may take; 0: not said */
        enum task_difficulty difficulty;
        char **command;
        char *env[TASK_MAX_ENV];
        unsigned env_count;
        char *result_format, *result_path; /* "": the format has no file */
        char *result_key, *result_min, *result_max;
        unsigned planned; /* tests; 0: not said */
        enum task_on_limit on_limit;
        enum task_exit exit_policy;
        enum task_build build; /* BUILD_NONE: there is none */
        char **build_command;
        struct task_cases cases;       /* instead of a suite, if there are any */
        struct task_workflow workflow; /* with the scheme composite */
        char *submission_env[TASK_MAX_ENV];
        unsigned submission_env_count;
        enum task_visibility visible_tests, visible_output;
        char *due;
        char *judge; /* the name of the operator's; "": a command */
        char **judge_command;
        bool judge_of_operator; /* that command is the operator's */
        struct limits limits[CELL_KIND_COUNT];
        uint64_t total_memory; /* of all cells at a time */
        uint64_t max_entries, max_unpacked, max_archive;
        bool strip_common_root, links_drop;
        struct submission_image submission_image;
        struct required_pattern *patterns;
        unsigned pattern_count;
        struct required_file *required;
        unsigned required_count;

        struct task_place places[TASK_MAX_PLACES];
        unsigned place_count;
        struct task_problem *problems; /* in order; with an error of code task.invalid */
        unsigned problem_count;
        struct task_problem *warnings;
        unsigned warning_count;
};

/* Where cells of tools have tools/. */
#define TASK_TOOLS_PLACE "/tools"

#define TASK_INIT                                                                                  \
        {                                                                                          \
                .directory = -EBADF, .file = -EBADF, .tests = -EBADF, .truth = -EBADF,             \
                .tools = -EBADF, .shown = {                                                        \
                        -EBADF,                                                                    \
                        -EBADF,                                                                    \
                        -EBADF                                                                     \
                }                                                                                  \
        }

/* The directories of a task, beside task.json, that decide what it does; NULL at the end. */
extern const char *const task_parts[];

/* task_open.c: open what a task consists of. Needs the caller's rights; reads nothing. */
int task_open(struct task *t, const char *path, struct error *err);
/* Tell the supervisor of them, and who will want to read them. Needs the same rights; to be said
 * before anything else. */
int task_trust(const struct task *t, struct channel *c, struct error *err);
/* Once root is given up: be shown what only root may read, where the machine can do that. */
int task_show(struct task *t, struct channel *c, struct error *err);
/* The part for this process to read; -EBADF: it is not there. */
int task_readable(const struct task *t, enum task_part part);
/* What the files of the task in that directory are now. Needs the same rights. */
int task_look(int directory, struct task_state *ret, struct error *err);
/* Read task.json through the scorer, or what that said of it (NULL: ask it). -1 with task.invalid:
 * `problems` tell where and what. */
int task_read(struct task *t, struct channel *c, const struct buffer *document, struct error *err);
/* What the scorer says of it, for later: `document`, where it need not be asked again. */
int task_document(const struct task *t, struct channel *c, struct buffer *ret, struct error *err);

/* Can the suite's command and the tools be started, as far as tests/ and tools/ tell? A command of
 * the image's is not looked at. Errors are those that a run would end with (suite.…). */
int task_check_command(const struct task *t, struct error *err);
/* Does task.json have that key? Of those that TASK_PLACE is sent of. */
bool task_gives(const struct task *t, const char *key);
/* Does anything of it run in a cell? */
bool task_runs_something(const struct task *t);
/* Is there a suite among that? */
bool task_has_suite(const struct task *t);
/* One more of each; a problem is at such a key. They own the texts. 0; -1: no memory. */
int task_add_problem(struct task *t, const char *key, const char *message, struct error *err);
int task_add_warning(struct task *t, const char *key, const char *message, struct error *err);
/* "PATH/task.json:LINE:COLUMN: KEY: what is wrong", a line for each error and warning. */
void task_print_problems(const struct task *t, const char *path, FILE *to);
void task_free(struct task *t);

#endif
