/* task.json: read (task.c), checked as a whole (task_check.c), answered as frames
 * (task_answer.c). Pure. */
#ifndef ASSAY_EVALUATORS_TASK_H
#define ASSAY_EVALUATORS_TASK_H

#include "fields.h"
#include "task_cases.h"
#include "number.h"
#include "schemes/spec.h"
#include "task_workflow.h"

#include "limit.h"

struct criterion {
        const char *name, *description;
        uint64_t weight;   /* 0: not valid */
        unsigned source;   /* enum criterion_source or NOT_GIVEN */
        struct list tests; /* of const char *: patterns of names */
};

struct scoring {
        unsigned scheme, mode, llm_missing;
        uint64_t test_weight, llm_weight; /* NOT_GIVEN outside hybrid mode */
        bool pass_given, pass_from_suite;
        char pass[NUMBER_TEXT_SIZE];
        struct list rubric; /* of struct criterion */
        struct spec spec;   /* with SCHEME_DIMENSIONS */
};

struct suite {
        struct list command;   /* of const char * */
        struct json_value env; /* checked: an object of texts, or no node */
        bool broker, sees_submission;
};

struct task_limits {
        bool given[LIMIT_COUNT];
        uint64_t value[LIMIT_COUNT];
        uint64_t total_memory; /* 0: not given */
        bool network;          /* outbound */
};

struct required_file {
        const char *path;
        uint64_t max_size; /* 0: any */
};

struct required_pattern {
        const char *glob;
        uint64_t min_files;
};

/* What a submission's cell is made from. */
struct submission_image {
        bool given;
        const char *name; /* an image of its own; NULL: the suite's */
        unsigned from;    /* checked only: "suite" */
        uint64_t layers;  /* the lowest; 0: all */
        struct list hide; /* of const char *: places in it */
};

struct submission {
        struct task_limits limits;
        struct submission_image image;
        uint64_t max_entries, max_unpacked, max_archive;
        bool strip_common_root;
        unsigned links_drop;
        struct json_value env;         /* checked: an object of texts, or no node */
        struct list required_files;    /* of struct required_file */
        struct list required_patterns; /* of struct required_pattern */
};

struct result {
        unsigned format; /* NOT_GIVEN: the contract's */
        unsigned on_limit, exit;
        const char *path; /* NULL: the usual one */
        const char *key;
        char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE];
        uint64_t planned;
};

struct build {
        bool given;
        struct list command; /* of const char * */
        unsigned on_failure; /* enum task_build */
};

struct visibility {
        unsigned tests, output; /* enum task_visibility */
        const char *due;        /* RFC 3339, or "" */
};

struct task {
        unsigned schema, contract;
        const char *name, *title, *description, *image;
        struct scoring scoring;
        struct suite suite;
        struct result result;
        struct build build;
        struct cases cases;
        struct task_workflow workflow; /* with SCHEME_COMPOSITE */
        struct task_limits limits;
        struct submission submission;
        struct visibility visibility;
        const char *judge_name;    /* of the operator's; NULL: a command */
        struct list judge_command; /* of const char * */
};

/* Read task.json. -1: problems were put into `out` (or there is no memory), and err sums up. */
int task_answer(const struct buffer *in, struct buffer *out, struct error *err);

/* A format of results: its name in task.json, and its usual file ("": it has none). */
struct task_format {
        const char *name, *file;
        unsigned exit; /* enum task_exit, where the task says nothing */
};
extern const struct task_format task_formats[];
enum { TASK_FORMATS = 10 };

/* Names of schemes, and of sources of criteria. */
extern const struct choice task_schemes[], task_sources[];

/* Its parts. The document, with the tables of its keys: */
extern const struct field task_document;
void task_read(struct reading *r, struct task *ret);
void task_free(struct task *t);
void task_check(struct reading *r, struct task *t);
void task_put(const struct task *t, struct buffer *out);
/* TASK_PLACEs of the document. */
void task_put_places(const struct reading *r, struct buffer *out);

#endif
