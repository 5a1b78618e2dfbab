/* Requests of several documents; see request.h. */
#include "request.h"

#include "answer.h"

static int malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

static int add_piece(struct request *q, struct reader *r, struct error *err)
{
        unsigned which = get_u8(r);
        size_t len;
        const unsigned char *bytes = get_bytes(r, FRAME_MAX_PAYLOAD, &len);

        if (!reader_done(r) || which >= DOCUMENT_COUNT)
                return malformed(err);
        buffer_add(&q->documents[which].bytes, bytes, len);
        q->documents[which].given = true;
        return buffer_ok(&q->documents[which].bytes)
                       ? 0
                       : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int request_read(struct request *ret, const struct buffer *in, struct error *err)
{
        struct reader r = reader_of(in->data, in->len), payload;
        uint16_t type;

        *ret = (struct request){0};
        for (unsigned i = 0; i < DOCUMENT_COUNT; i++)
                ret->documents[i].bytes = (struct buffer)BUFFER_INIT;
        if (!answer_next(&r, &ret->type, &ret->options))
                return malformed(err);
        while (answer_next(&r, &type, &payload)) {
                if (type == SCORE_END)
                        return payload.left == 0 && reader_done(&r) ? 0 : malformed(err);
                if (type != REQUEST_PIECE)
                        return malformed(err);
                if (add_piece(ret, &payload, err) < 0)
                        return -1;
        }
        return malformed(err);
}

void request_free(struct request *q)
{
        for (unsigned i = 0; i < DOCUMENT_COUNT; i++)
                buffer_free(&q->documents[i].bytes);
}

int request_answer(const struct buffer *in, struct buffer *out, uint16_t type,
        int (*answer)(const struct request *q, struct buffer *out, struct error *err),
        struct error *err)
{
        struct request q;
        int r = request_read(&q, in, err);

        if (r == 0)
                r = q.type == type ? answer(&q, out, err) : malformed(err);
        request_free(&q);
        return r;
}
