/* Workflows: what a submission asks the tools of its task to do, checked as a whole (workflow.c,
 * and workflow_graph.c for what depends on what); and what goes from step to step
 * (workflow_value.c). Pure. */
#ifndef ASSAY_EVALUATORS_WORKFLOW_H
#define ASSAY_EVALUATORS_WORKFLOW_H

#include "fields.h"
#include "request.h"

/* Where an input wants the output of another step. */
struct reference {
        struct json_value value; /* the object with $from */
        const char *from, *path; /* an id, a JSON Pointer or "" */
};

struct workflow_step {
        const char *id, *tool;
        struct json_value input;
        struct list depends_on; /* of const char * */
        char timeout[NUMBER_TEXT_SIZE];
        struct list references; /* of struct reference */

        /* settled by the checks */
        size_t tool_index;
        uint64_t timeout_us, retry_count;
        struct list needs; /* of size_t: the steps of depends_on */
        size_t place;      /* in the order of the graph */
};

/* The steps in an order in which each comes after those it depends on, the first of the document
 * first wherever there is a choice. */
struct graph {
        struct workflow_step *steps;
        size_t count;
        size_t *order;          /* owned */
        unsigned char *reaches; /* owned: for each pair, does the first depend on the second? */
};

/* workflow_graph.c
 *
 * Resolve what steps depend on, and put them in order. What is wrong becomes a problem. To be freed
 * in any case. */
void graph_make(struct graph *g, struct reading *r, struct workflow_step *steps, size_t count);
void graph_free(struct graph *g);
/* The step of that id; NULL: there is none. */
struct workflow_step *graph_find(const struct graph *g, const char *id);
/* Does `step` depend on `other`, also by way of others? */
bool graph_reaches(
        const struct graph *g, const struct workflow_step *step, const struct workflow_step *other);

/* workflow_value.c
 *
 * All that `input` refers to, in the order in which it stands there. */
void references_find(struct reading *r, const struct spot *input, struct list *ret);
/* Answers to REQUEST_INPUT, _OUTPUT and _QUALITY. */
int workflow_input(const struct request *q, struct buffer *out, struct error *err);
int workflow_output(const struct request *q, struct buffer *out, struct error *err);
int workflow_quality(const struct request *q, struct buffer *out, struct error *err);

/* A request to its answer; both are frames. */
int workflow_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
