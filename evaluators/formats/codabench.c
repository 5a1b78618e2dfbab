/* scores.json of Codabench's scoring programs: an object of numbers, of which result.key names the
 * score; result.min and result.max are what its worst and best are worth (0 and 1). */
#include "evaluators/formats/json_result.h"

int codabench_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        char score[NUMBER_TEXT_SIZE];

        return result_json_number(&doc, q->file, q->key, NULL, score, err) < 0
                       ? -1
                       : result_scale(ret, q, score, 1, err);
}
