/* Fuzzing results that come back: a document as the result that is replayed, finalized (with a
 * number, and with the text behind a NUL as the verdict) and compared with itself. What is refused
 * has a reason; a new result is one that the same reader takes, and waits no longer. */
#include "evaluators/answer.h"
#include "evaluators/differ.h"
#include "evaluators/finalize.h"
#include "evaluators/stored.h"
#include "tests/fuzz/shared.h"

static void put_document(
        struct buffer *in, enum score_document which, const void *bytes, size_t len)
{
        size_t at = answer_begin(in, REQUEST_PIECE);

        put_u8(in, (uint8_t)which);
        put_bytes(in, bytes, len);
        answer_end(in, at);
}

static void finalize(const void *doc, size_t len, const void *verdict, size_t verdict_len,
        struct buffer *ret_result)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT, data = BUFFER_INIT;
        _cleanup_json_ struct json data_doc = JSON_INIT;
        struct reader r, payload;
        struct error err = {0};
        uint16_t type;
        size_t at = answer_begin(&in, REQUEST_FINALIZE);

        put_text(&in, "NEW");
        put_text(&in, verdict ? "" : "12.5");
        answer_end(&in, at);
        put_document(&in, DOCUMENT_RECORD, doc, len);
        if (verdict)
                put_document(&in, DOCUMENT_VERDICT, verdict, verdict_len);
        else
                put_document(&in, DOCUMENT_SOURCES, doc, len);
        answer_empty(&in, SCORE_END);
        if (finalize_answer(&in, &out, &err) < 0) {
                must(err.code != CODE_NONE && err.code != CODE_INTERNAL_FRAME && *err.text);
                return;
        }
        r = reader_of(out.data, out.len);
        while (answer_next(&r, &type, &payload))
                if (type == FINAL_PIECE || type == FINAL_DATA) {
                        size_t n;
                        const unsigned char *bytes = get_bytes(&payload, SCORE_MAX_PIECE, &n);

                        must(reader_done(&payload));
                        buffer_add(type == FINAL_PIECE ? ret_result : &data, bytes, n);
                }
        must(!r.bad && ret_result->len > 0 && (data.len == 0) == (verdict != NULL));
        must(verdict || reading_open(&data_doc, &data, CODE_RESULT_INVALID, &err) == 0);
}

static void check_final(const struct buffer *result)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct error err = {0};
        struct stored stored;

        if (result->len == 0)
                return;
        must(reading_open(&doc, result, CODE_RESULT_INVALID, &err) == 0);
        must(stored_read(&doc, &stored, &err) == 0);
        must(stored.status == STORED_GRADED && strcmp(stored.id, "NEW") == 0);
        stored_free(&stored);
}

static void compare(const void *doc, size_t len)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        struct reader r, payload;
        struct error err = {0};
        uint16_t type;

        answer_empty(&in, REQUEST_DIFFER);
        put_document(&in, DOCUMENT_RECORD, doc, len);
        put_document(&in, DOCUMENT_RESULT, doc, len);
        answer_empty(&in, SCORE_END);
        if (differ_answer(&in, &out, &err) < 0) {
                must(err.code == CODE_RESULT_INVALID);
                return;
        }
        r = reader_of(out.data, out.len);
        must(answer_next(&r, &type, &payload) && type == RESULTS_COMPARED &&
                get_u32(&payload) == 0 && reader_done(&payload) && reader_done(&r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT, by_number = BUFFER_INIT,
                                       by_verdict = BUFFER_INIT;
        const uint8_t *end = memchr(data, '\0', len);
        const size_t n = end ? (size_t)(end - data) : len;
        struct error err = {0};

        if (!data)
                return 0;
        buffer_add(&in, data, n);
        if (stored_answer(&in, &out, &err) < 0)
                must(err.code == CODE_RESULT_INVALID);
        finalize(data, n, NULL, 0, &by_number);
        check_final(&by_number);
        if (end)
                finalize(data, n, end + 1, len - n - 1, &by_verdict);
        check_final(&by_verdict);
        compare(data, n);
        return 0;
}
