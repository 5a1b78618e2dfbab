/* A request of tests; see judge_text.h. */
#include "tests/unit/judge_text.h"

#include <criterion/criterion.h>

void judge_text_request(struct judge_request *ret, struct buffer *ret_bytes, const char *more)
{
        struct error err = {0};

        buffer_add_text(ret_bytes,
                "{\"schema\": \"assay.judge/1\", \"task\": {\"name\": \"t\", \"rubric\": ["
                "{\"name\": \"A\", \"weight\": 3}, {\"name\": \"B c\", \"weight\": 1}]}, "
                "\"submission_md\": \"built\", \"files\": [{\"path\": \"f\", \"bytes\": 4, "
                "\"text\": \"four\"}]");
        buffer_add_text(ret_bytes, more);
        buffer_add_char(ret_bytes, '}');
        cr_assert_eq(judge_request_read(ret, ret_bytes, &err), 0, "%s", err.text);
}
