/* What a judge is asked: one document `assay.judge/1`, as docs/judge.md has it. Pure. */
#ifndef ASSAY_JUDGE_REQUEST_H
#define ASSAY_JUDGE_REQUEST_H

#include "evaluators/fields.h"

struct judge_criterion {
        const char *name, *description;
        uint64_t weight;
};

struct judge_file {
        const char *path;
        uint64_t bytes;      /* what it has; the text may be its beginning only */
        const char *text;    /* NULL: left out */
        const char *omitted; /* why; NULL: it is there */
};

struct judge_test {
        const char *name;
        bool passed;
};

/* Texts point into the document, which borrows the bytes that it was read from. */
struct judge_request {
        struct json doc;
        const char *schema, *name, *title, *description;
        struct list rubric; /* of struct judge_criterion, names differ */
        const char *submission_md;
        struct list files; /* of struct judge_file */
        struct list tests; /* of struct judge_test */
        struct {
                const char *bytes; /* as it was written; NULL: none */
                size_t len;
        } build_check;
        char test_score[NUMBER_TEXT_SIZE]; /* "": none */
};
#define JUDGE_REQUEST_INIT                                                                         \
        {                                                                                          \
                .doc = JSON_INIT                                                                   \
        }

int judge_request_read(struct judge_request *ret, const struct buffer *in, struct error *err);
void judge_request_free(struct judge_request *q);
#define _cleanup_judge_request_ __attribute__((cleanup(judge_request_free)))

#endif
