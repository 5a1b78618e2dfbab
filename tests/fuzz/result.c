/* Fuzzing result files: the first byte chooses the format, the rest is the file, or, for harbor,
 * two with a NUL between them. What comes out must be frames of the right form, or an error that
 * blames the suite. */
#include "evaluators/answer.h"
#include "evaluators/formats/formats.h"
#include "tests/fuzz/shared.h"

static const char *const formats[] = {"score.json", "gradescope", "prairielearn", "codabench",
        "harbor", "ctrf", "junit", "tap", "exit-code", "stdout-json"};

static void put_document(
        struct buffer *in, enum score_document which, const void *bytes, size_t len)
{
        size_t at = answer_begin(in, REQUEST_PIECE);

        put_u8(in, (uint8_t)which);
        put_bytes(in, bytes, len);
        answer_end(in, at);
}

static void check_frames(const struct buffer *out)
{
        struct reader r = reader_of(out->data, out->len), payload;
        uint16_t type = 0;
        unsigned scores = 0;

        while (answer_next(&r, &type, &payload)) {
                char score[SCORE_MAX_NAME];
                mpq_t value;

                if (type != RESULT_SCORE)
                        continue;
                scores++;
                get_text(&payload, score, sizeof score);
                mpq_init(value);
                must(!*score ||
                        (number_parse_exact(value, score) == 0 && mpq_cmp_ui(value, 100, 1) <= 0));
                mpq_clear(value);
        }
        must(!r.bad && scores == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        const uint8_t *second;
        struct error err = {0};
        size_t at = answer_begin(&in, REQUEST_RESULT);

        if (len == 0)
                return 0;
        put_text(&in, formats[*data % (sizeof formats / sizeof *formats)]);
        for (unsigned i = 0; i < 3; i++)
                put_text(&in, "");
        put_u32(&in, *data);
        answer_end(&in, at);
        data++, len--;
        second = memchr(data, '\0', len);
        put_document(&in, DOCUMENT_RESULT, data, len);
        if (second)
                put_document(
                        &in, DOCUMENT_RESULT_TEXT, second + 1, len - (size_t)(second + 1 - data));
        answer_empty(&in, SCORE_END);
        if (result_answer(&in, &out, &err) == 0)
                check_frames(&out);
        else
                must(code_info(err.code)->class == CLASS_SUITE && *err.text);
        return 0;
}
