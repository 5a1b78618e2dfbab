/* A JSON value of somebody else, as assay-score told it (enum value_token): here it is a stream
 * that is only copied, and whatever it says, what is written of it is JSON. */
#ifndef ASSAY_VALUE_H
#define ASSAY_VALUE_H

#include "report/json.h"

/* Write it. False: the stream is not as agreed, and what was written is no whole value. */
bool value_write(struct json_writer *w, const char *key, const struct buffer *tokens);
/* The same on one line by itself. */
bool value_text(const struct buffer *tokens, struct buffer *out);

#endif
