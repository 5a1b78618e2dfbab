/* Fuzzing what scores answers: the first byte chooses dimensions, a workflow or a window; then come
 * documents with a NUL between them: a spec, an answer or record, the truth, a trajectory. */
#include "evaluators/answer.h"
#include "evaluators/schemes/composite.h"
#include "evaluators/schemes/dimensions.h"
#include "evaluators/schemes/window.h"
#include "tests/fuzz/shared.h"

enum { DOCUMENTS = 4 };

typedef int answer_request(const struct buffer *in, struct buffer *out, struct error *err);

static const struct {
        uint16_t request;
        answer_request *answer;
        enum score_document documents[DOCUMENTS];
        unsigned document_count;
} schemes[] = {
        {REQUEST_SCORE, dimensions_answer,
                {DOCUMENT_SPEC, DOCUMENT_SUBMISSION, DOCUMENT_TRUTH, DOCUMENT_TRAJECTORY}, 4},
        {REQUEST_SCORE, dimensions_batch_answer,
                {DOCUMENT_SPEC, DOCUMENT_SUBMISSION, DOCUMENT_TRUTH, DOCUMENT_TRAJECTORY}, 4},
        {REQUEST_COMPOSITE, composite_answer, {DOCUMENT_SPEC, DOCUMENT_RECORD}, 2},
        {REQUEST_WINDOW, window_answer, {DOCUMENT_SUBMISSION}, 1},
};

static void put_options(struct buffer *in, uint16_t request)
{
        size_t at = answer_begin(in, request);

        if (request == REQUEST_SCORE) {
                put_text(in, "17.5");
                put_text(in, "1000");
                put_text(in, "2000");
        }
        if (request != REQUEST_WINDOW)
                put_u8(in, 1);
        answer_end(in, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        struct error err = {0};
        unsigned scheme;

        if (len == 0)
                return 0;
        scheme = *data % (sizeof schemes / sizeof *schemes);
        data++, len--;
        put_options(&in, schemes[scheme].request);
        for (unsigned i = 0; i < schemes[scheme].document_count; i++) {
                const size_t size = strnlen((const char *)data, len);
                size_t at = answer_begin(&in, REQUEST_PIECE);

                put_u8(&in, (uint8_t)schemes[scheme].documents[i]);
                put_bytes(&in, data, size);
                answer_end(&in, at);
                data += size + (size < len);
                len -= size + (size < len);
        }
        answer_empty(&in, SCORE_END);
        if (schemes[scheme].answer(&in, &out, &err) < 0)
                must(code_info(err.code)->class == CLASS_USAGE ||
                        code_info(err.code)->class == CLASS_SUBMISSION);
        must(buffer_ok(&out));
        return 0;
}
