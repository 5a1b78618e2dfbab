/* Fuzzing workflows: the first byte chooses a document to be planned, an input with outputs to be
 * put in, what a tool printed, or a quality; then come documents with a NUL between them. What must
 * hold of each answer is asked in another way here. */
#include "evaluators/answer.h"
#include "evaluators/json.h"
#include "evaluators/workflow.h"
#include "tests/fuzz/shared.h"

enum { DOCUMENTS = 3 };

static const struct {
        uint16_t request, answer;
        enum score_document documents[DOCUMENTS];
        unsigned count;
} rows[] = {
        {REQUEST_WORKFLOW, WORKFLOW_STEP, {DOCUMENT_SUBMISSION}, 1},
        {REQUEST_INPUT, WORKFLOW_INPUT, {DOCUMENT_SUBMISSION, DOCUMENT_RECORD}, 2},
        {REQUEST_OUTPUT, WORKFLOW_VALUE, {DOCUMENT_RESULT}, 1},
        {REQUEST_QUALITY, WORKFLOW_QUALITY, {DOCUMENT_SPEC, DOCUMENT_SUBMISSION, DOCUMENT_TRUTH},
                3},
};

static void put_request(struct buffer *in, unsigned row, const uint8_t *data, size_t len)
{
        size_t at = answer_begin(in, rows[row].request);

        if (rows[row].request == REQUEST_WORKFLOW) {
                put_u32(in, 2);
                put_text(in, "sum");
                put_text(in, "t");
        }
        if (rows[row].request == REQUEST_QUALITY) {
                put_text(in, "1.5");
                put_text(in, "");
        }
        answer_end(in, at);
        for (unsigned i = 0; i < rows[row].count; i++) {
                const size_t size = strnlen((const char *)data, len);

                at = answer_begin(in, REQUEST_PIECE);
                put_u8(in, (uint8_t)rows[row].documents[i]);
                put_bytes(in, data, size);
                answer_end(in, at);
                data += size + (size < len);
                len -= size + (size < len);
        }
        answer_empty(in, SCORE_END);
}

/* Steps that stand before this one. */
static void must_be_before(struct reader *r, unsigned index)
{
        for (uint32_t n = get_u32(r); n > 0; n--)
                must(get_u32(r) < index && !r->bad);
}

static void must_be_step(struct reader *r, unsigned index)
{
        char id[SCORE_MAX_NAME];
        struct json_fault fault;
        struct json doc;
        const unsigned char *input;
        size_t len;

        get_text(r, id, sizeof id);
        must(*id && get_u32(r) < 2 && get_u32(r) < SCORE_MAX_ATTEMPTS);
        get_u64(r);
        must_be_before(r, index);
        must_be_before(r, index);
        input = get_bytes(r, SCORE_MAX_INPUT, &len);
        must(reader_done(r) && json_read(&doc, input, len, &fault) == 0);
        json_free(&doc);
}

/* Whole values: each key has one, and what is opened is closed. */
static void must_be_value(struct reader *r, unsigned depth)
{
        size_t len;
        unsigned token = get_u8(r);

        must(!r->bad && depth <= SCORE_MAX_DEPTH);
        if (token == VALUE_TEXT || token == VALUE_NUMBER)
                must(get_bytes(r, SCORE_MAX_RESULT, &len) != NULL);
        if (token != VALUE_OBJECT && token != VALUE_ARRAY) {
                must(token >= VALUE_TEXT && token <= VALUE_NULL);
                return;
        }
        while (!r->bad && r->left > 0 && *r->at != VALUE_END) {
                if (token == VALUE_OBJECT)
                        must(get_u8(r) == VALUE_KEY && get_bytes(r, SCORE_MAX_RESULT, &len));
                must_be_value(r, depth + 1);
        }
        must(get_u8(r) == VALUE_END);
}

static void check_answer(const struct buffer *out, unsigned row)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        struct reader r = reader_of(out->data, out->len), payload;
        struct json_fault fault;
        struct json doc;
        uint16_t type = 0;
        unsigned count = 0;

        for (; answer_next(&r, &type, &payload); count++) {
                const unsigned char *piece;
                size_t len;

                must(type == rows[row].answer || type == WORKFLOW_WRONG ||
                        (type == RESULT_WARNING && rows[row].request == REQUEST_WORKFLOW));
                if (type == WORKFLOW_STEP)
                        must_be_step(&payload, count);
                if (type != WORKFLOW_INPUT && type != WORKFLOW_VALUE)
                        continue;
                piece = get_bytes(&payload, SCORE_MAX_INPUT, &len);
                must(piece && reader_done(&payload));
                buffer_add(&bytes, piece, len);
        }
        must(!r.bad && count > 0);
        if (type == WORKFLOW_VALUE) {
                r = reader_of(bytes.data, bytes.len);
                must_be_value(&r, 0);
                must(reader_done(&r));
        }
        /* Outputs in an input may be deeper than one alone. */
        if (type == WORKFLOW_INPUT) {
                must(json_read(&doc, bytes.data, bytes.len, &fault) == 0 ||
                        strstr(fault.text, "deep"));
                json_free(&doc);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        struct error err = {0};
        unsigned row;

        if (len == 0)
                return 0;
        row = *data % (sizeof rows / sizeof *rows);
        put_request(&in, row, data + 1, len - 1);
        if (workflow_answer(&in, &out, &err) == 0)
                check_answer(&out, row);
        else
                must(*err.text && code_info(err.code)->class != CLASS_INFRA);
        /* Frames that nobody put together well. */
        if (in.len > 9) {
                in.data[in.len % 9]++;
                (void)workflow_answer(&in, &out, &err);
        }
        return 0;
}
