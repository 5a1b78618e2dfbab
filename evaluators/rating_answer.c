/* The answer to REQUEST_RATE; see rating.h. */
#include "answer.h"
#include "rating.h"
#include "request.h"

static int answer_match(const struct request *q, struct buffer *out, struct error *err)
{
        struct reader options = q->options;
        struct match m;
        size_t at;

        m.own = (int32_t)get_u32(&options);
        m.opponent = (int32_t)get_u32(&options);
        m.result = get_u8(&options);
        m.matches = get_u32(&options);
        m.verified = get_u8(&options);
        m.benchmark = get_u8(&options);
        if (!reader_done(&options) || m.result > 2 || m.own < 0 || m.own > RATING_MOST ||
                m.opponent < 0 || m.opponent > RATING_MOST)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        at = answer_begin(out, RATING);
        put_u32(out, (uint32_t)rating_after(&m));
        answer_end(out, at);
        return 0;
}

int rating_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_RATE, answer_match, err);
}
