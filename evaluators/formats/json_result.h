/* For the formats that are JSON. */
#ifndef ASSAY_EVALUATORS_JSON_RESULT_H
#define ASSAY_EVALUATORS_JSON_RESULT_H

#include "evaluators/fields.h"
#include "evaluators/formats/formats.h"
#include "evaluators/number.h"

/* Read the file into `to`, whose texts point into the document; what is worth a warning goes to
 * `o`. The document is to be freed in any case. */
int result_json(struct json *doc, const struct buffer *file, const struct field *whole, void *to,
        struct outcome *o, struct error *err);

/* An object that has one number under a key: that of the request, else `usual` (NULL: none), else
 * the only key there is. -1 with the place. */
int result_json_number(struct json *doc, const struct buffer *file, const char *key,
        const char *usual, char ret[NUMBER_TEXT_SIZE], struct error *err);

#endif
