/* What a call of assay-exec asks for: CALL_START of sandbox/exec/messages.h, checked. Pure. */
#ifndef ASSAY_CALL_H
#define ASSAY_CALL_H

#include "frame.h"
#include "limit.h"
#include "sandbox/exec/messages.h"

struct call_request {
        struct limits limits;
        char session[CALL_MAX_SESSION + 1]; /* "": none */
        char **command;                     /* NULL at the end */
};

/* Take it from the payload. What it does not say is `usual`, what is above `most` is refused. To be
 * freed in any case. */
int call_decode(struct reader *r, const struct limits *usual, const struct limits *most,
        struct call_request *ret, struct error *err);
void call_request_free(struct call_request *q);

#endif
