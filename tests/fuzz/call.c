/* Fuzzing what comes through the broker's socket: a stream of frames, of which the first is asked
 * for as it grows byte by byte, and what it asks for if it is a call. */
#include "runner/call.h"
#include "tests/fuzz/shared.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct limits usual, most;
        struct buffer in = BUFFER_INIT;
        struct call_request q = {.command = NULL};
        struct reader payload = {0};
        struct error err = {0};
        uint16_t type = 0;
        int whole = 0;

        for (size_t i = 0; i < size && whole == 0; i++) {
                buffer_add(&in, data + i, 1);
                whole = frame_peek(&in, CALL_MAX_REQUEST, &type, &payload);
        }
        limits_standard(&usual, CELL_SUBMISSION);
        limits_settle(&usual);
        limits_standard(&most, CELL_SUITE);
        limits_settle(&most);
        if (whole > 0) {
                must(payload.at + payload.left == in.data + in.len);
                if (call_decode(&payload, &usual, &most, &q, &err) == 0) {
                        must(q.command && q.command[0] && err.code == CODE_NONE);
                        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                                must(q.limits.value[i] <= most.value[i]);
                } else
                        must(err.code == CODE_USAGE || err.code == CODE_INTERNAL_FRAME);
        }
        call_request_free(&q);
        buffer_free(&in);
        return 0;
}
