/* The spec of dimensions: the `scoring` of a task with the scheme "dimensions", and what
 * `assay score` takes. Read by tables, checked as a whole. */
#ifndef ASSAY_EVALUATORS_SPEC_H
#define ASSAY_EVALUATORS_SPEC_H

#include "evaluators/fields.h"
#include "evaluators/number.h"
#include "evaluators/primitives.h"

enum { SPEC_MOST_DIMENSIONS = 8 }; /* those of efficiency among them */

enum dimension_source {
        FROM_PRIMITIVE,
        FROM_TOKENS,
        FROM_CALLS,
        FROM_SUITE, /* these need an evaluation */
        FROM_TESTS,
        FROM_JUDGE,
        FROM_SCRIPT,
};

struct dimension {
        const char *name, *label, *description, *colour; /* the last three NULL: the usual ones */
        char weight[NUMBER_TEXT_SIZE];
        const char *primitive_name;
        const struct primitive *primitive; /* NULL: it has a source */
        unsigned source;                   /* enum dimension_source; NOT_GIVEN at first */
        unsigned method;
        struct parameters parameters;
        const char *criterion, *key;
        struct list tests; /* of const char * */
};

struct constraints {
        char token_budget[NUMBER_TEXT_SIZE], max_llm_calls[NUMBER_TEXT_SIZE],
                max_tool_calls[NUMBER_TEXT_SIZE]; /* or "" */
};

struct format_rule {
        const char *field, *dimension, *message; /* the last two may be "" */
        unsigned type, severity;
        uint64_t min_items, max_items;
};

enum { SEVERITY_WARNING, SEVERITY_ERROR };

struct spec {
        unsigned scheme; /* checked only */
        unsigned type;
        struct duration time_limit;
        unsigned difficulty;    /* enum task_difficulty: of matches */
        struct list dimensions; /* of struct dimension */
        struct constraints constraints;
        struct list format; /* of struct format_rule */
};

extern const struct fields spec_fields; /* its keys */

/* Read it and check it; problems are in `r`. Sources that an evaluation gives are only good in one.
 * To be freed in any case. */
void spec_read(struct reading *r, bool in_evaluation, struct spec *ret);
/* The same of the value at `s`, whose path is the reading's prefix. */
void spec_read_at(struct reading *r, const struct spot *s, bool in_evaluation, struct spec *ret);
void spec_free(struct spec *s);

/* Is the document a task, whose `scoring` is the spec? */
bool spec_is_task(const struct json *doc);
/* How a task says what the output of a workflow is worth: the keys of a primitive, or the source
 * "suite". The path of the value at `s`, without its last step, is the reading's prefix. */
extern const struct fields quality_fields;
void quality_read(struct reading *r, const struct spot *s, struct dimension *ret);

/* Does a dimension need the time that was used? */
bool spec_needs_time(const struct spec *s);

/* The usual label, description and colour of a dimension; of an own one its name and "". */
struct dimension_look {
        const char *label, *description, *colour;
};
struct dimension_look dimension_look(const struct dimension *d);
bool dimension_is_efficiency(const struct dimension *d);

#endif
