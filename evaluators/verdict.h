/* The verdict of a judge, as frames. Pure. */
#ifndef ASSAY_EVALUATORS_VERDICT_H
#define ASSAY_EVALUATORS_VERDICT_H

#include "fields.h"
#include "number.h"

/* Texts point into the document. */
struct opinion {
        const char *name, *reasoning;
        char score[NUMBER_TEXT_SIZE];
};

struct verdict {
        struct list opinions; /* of struct opinion */
        const char *summary, *model;
        const char *prompt_sha256;
        char prompt_tokens[NUMBER_TEXT_SIZE], completion_tokens[NUMBER_TEXT_SIZE];
        char runs[NUMBER_TEXT_SIZE], tries[NUMBER_TEXT_SIZE];
};

/* To be freed in any case. */
int verdict_read(const struct json *doc, struct verdict *ret, struct error *err);
void verdict_free(struct verdict *v);

int verdict_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
