/* The suite's exit status as the score: 0 is 100, 1 to 124 are 0; what shells and runners use for
 * other things (125 and above, signals) is no score. */
#include "evaluators/formats/formats.h"

#include "evaluators/schemes/blend.h"

enum { LAST_THAT_FAILS = 124, FIRST_SIGNAL = 256 };

int exit_code_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        if (q->exit >= FIRST_SIGNAL)
                return error_set(err, CODE_SUITE_SIGNAL, "the suite died from signal %u",
                        q->exit - FIRST_SIGNAL);
        if (q->exit > LAST_THAT_FAILS)
                return error_set(err, CODE_SUITE_EXIT,
                        "the suite exited with status %u, which is no score", q->exit);
        ret->scored = true;
        ret->pass = q->exit == 0 ? SUITE_PASSED : SUITE_FAILED;
        mpq_set_ui(ret->score, q->exit == 0 ? 100 : 0, 1);
        return 0;
}
