/* Answering the requests of messages.h. */
#ifndef ASSAY_IMAGES_SERVE_H
#define ASSAY_IMAGES_SERVE_H

#include "frame.h"
#include "images/report.h"

/* What was opened for us. */
enum { SERVE_INPUT = 0, SERVE_SOCKET = 1, SERVE_TREE = 3 };

/* Answer one request of either mode; -1 when not even the answer could be sent. */
int serve_submission(const struct frame *f, struct error *err);
int serve_image(const struct frame *f, struct error *err);

#endif
