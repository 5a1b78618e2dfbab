/* What assay-score is asked with more than one document: frames of options and of pieces of
 * documents (messages.h). */
#ifndef ASSAY_EVALUATORS_REQUEST_H
#define ASSAY_EVALUATORS_REQUEST_H

#include "messages.h"

#include "frame.h"

#include <stdbool.h>

struct request {
        struct reader options; /* the payload of the first frame */
        uint16_t type;         /* of that */
        struct {
                struct buffer bytes;
                bool given;
        } documents[DOCUMENT_COUNT];
};

/* Read it; `in` stays as long as it does. To be freed in any case. */
int request_read(struct request *ret, const struct buffer *in, struct error *err);
void request_free(struct request *q);
/* Read one of that type, let `answer` answer it, and free it. */
int request_answer(const struct buffer *in, struct buffer *out, uint16_t type,
        int (*answer)(const struct request *q, struct buffer *out, struct error *err),
        struct error *err);

#endif
