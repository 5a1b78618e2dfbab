/* Frames as text; see score_text.h. The layouts are those of evaluators/messages.h. */
#include "tests/unit/score_text.h"

#include "evaluators/formats/formats.h"

#include "evaluators/answer.h"

/* Of each frame: b u8, w u32, q u64, t text, T and W counted lists of texts and of u32. */
static const struct {
        uint16_t type;
        const char *name, *fields;
} layouts[] = {
        {SCORE_END, "END", ""},
        {TASK_PROBLEM, "PROBLEM", "wwtt"},
        {TASK_IDENTITY, "IDENTITY", "ttt"},
        {TASK_IMAGE, "IMAGE", "t"},
        {TASK_CONTRACT, "CONTRACT", "b"},
        {TASK_TIME, "TIME", ""},
        {TASK_SCORING, "SCORING", "bbbbbtb"},
        {TASK_CRITERION, "CRITERION", "ttbbT"},
        {TASK_COMPOSITE, "COMPOSITE", "qqwwb"},
        {TASK_TOOL, "TOOL", "tTqbq"},
        {TASK_SUITE, "SUITE", "bbbT"},
        {TASK_SUITE_ENV, "ENV", "t"},
        {TASK_RESULT, "RESULT", "ttbbtttw"},
        {TASK_BUILD, "BUILD", "bT"},
        {TASK_SUBMISSION_ENV, "SUBMISSION_ENV", "t"},
        {TASK_VISIBILITY, "VISIBILITY", "bbt"},
        {TASK_JUDGE, "JUDGE", "tT"},
        {TASK_GROUP, "GROUP", "ttbbbT"},
        {TASK_CASE, "CASE", "btTbtbtbqbtttbTTt"},
        {TASK_LIMIT, "LIMIT", "bbq"},
        {TASK_TOTAL_MEMORY, "TOTAL", "q"},
        {TASK_SUBMISSION, "SUBMISSION", "qqqbb"},
        {TASK_SUBMISSION_IMAGE, "VIEW", "twT"},
        {TASK_REQUIRED, "REQUIRED", "tq"},
        {TASK_PATTERN, "PATTERN", "tq"},
        {TASK_PLACE, "PLACE", "wwt"},
        {RESULT_SCORE, "SCORE", "tbbt"},
        {RESULT_DIMENSION, "DIMENSION", "tt"},
        {RESULT_BREAKDOWN, "BREAKDOWN", "tt"},
        {RESULT_NOTES, "NOTES", "t"},
        {RESULT_TEST, "TEST", "tbtt"},
        {RESULT_WARNING, "WARNING", "tt"},
        {SCORE_TOTAL, "TOTAL", "wbt"},
        {SCORE_DIMENSION, "DIMENSION", "tttttttttt"},
        {SCORE_WARNING, "WARN", "btt"},
        {SCORE_VIOLATION, "VIOLATION", "ttt"},
        {VERDICT_CRITERION, "OPINION", "ttt"},
        {VERDICT_RECORD, "RECORD", "ttttt"},
        {VERDICT_SUMMARY, "SUMMARY", "tt"},
        {BLEND_FINAL, "FINAL", "ttttttb"},
        {COMPARE_RESULT, "COMPARED", "bt"},
        {EXPECT_GIVEN, "GIVEN", "t"},
        {EXPECT_DIFFERS, "DIFFERS", "t"},
        {METADATA_WORD, "WORD", "t"},
        {WORKFLOW_STEP, "STEP", "twwqWWt"},
        {WORKFLOW_INPUT, "INPUT", "t"},
        {WORKFLOW_WRONG, "WRONG", "t"},
        {WORKFLOW_QUALITY, "QUALITY", "tt"},
};

static void text_field(struct buffer *b, struct reader *r)
{
        size_t len;
        const unsigned char *text = get_bytes(r, SCORE_MAX_TEXT, &len);

        buffer_add_format(b, " '%.*s'", (int)len, text ? (const char *)text : "");
}

static void field(struct buffer *b, struct reader *r, char kind)
{
        if (kind == 'b')
                buffer_add_format(b, " %u", get_u8(r));
        else if (kind == 'w')
                buffer_add_format(b, " %u", get_u32(r));
        else if (kind == 'q')
                buffer_add_format(b, " %llu", (unsigned long long)get_u64(r));
        else if (kind == 't')
                text_field(b, r);
        else if (kind == 'W') {
                buffer_add_text(b, " [");
                for (uint32_t n = get_u32(r), i = 0; i < n && !r->bad; i++)
                        buffer_add_format(b, "%s%u", i > 0 ? " " : "", get_u32(r));
                buffer_add_char(b, ']');
        } else
                for (uint32_t n = get_u32(r); n > 0 && !r->bad; n--)
                        text_field(b, r);
}

static void line(struct buffer *b, uint16_t type, struct reader *payload)
{
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
                if (layouts[i].type != type)
                        continue;
                buffer_add_text(b, layouts[i].name);
                for (const char *f = layouts[i].fields; *f; f++)
                        field(b, payload, *f);
                buffer_add_text(b, reader_done(payload) ? "\n" : " (not its layout)\n");
                return;
        }
        buffer_add_format(b, "frame of unknown type %u\n", type);
}

char *score_text_of(score_answer *answer, const struct buffer *input)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT, text = BUFFER_INIT;
        struct error err = {0};
        int result = answer(input, &out, &err);
        struct reader r = reader_of(out.data, out.len), payload;
        uint16_t type;

        while (answer_next(&r, &type, &payload))
                line(&text, type, &payload);
        if (!reader_done(&r))
                buffer_add_text(&text, "a frame ended too early\n");
        if (result < 0)
                buffer_add_format(&text, "error %s: %s\n", code_info(err.code)->name, err.text);
        return strdup(buffer_text(&text));
}

char *score_text(score_answer *answer, const char *input)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;

        buffer_add_text(&in, input);
        return score_text_of(answer, &in);
}

static void put_piece(struct buffer *in, enum score_document which, const char *text)
{
        size_t at;

        if (!text)
                return;
        at = answer_begin(in, REQUEST_PIECE);
        put_u8(in, (uint8_t)which);
        put_bytes(in, text, strlen(text));
        answer_end(in, at);
}

char *score_result_text(const char *format, const char *options, unsigned status, const char *file,
        const char *text)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT;
        size_t at = answer_begin(&in, REQUEST_RESULT);

        put_text(&in, format);
        for (int i = 0; i < 3; i++) {
                size_t len = options ? strcspn(options, " ") : 0;

                put_bytes(&in, options, len);
                if (options)
                        options += len + (options[len] == ' ');
        }
        put_u32(&in, status);
        answer_end(&in, at);
        put_piece(&in, DOCUMENT_RESULT, file);
        put_piece(&in, DOCUMENT_RESULT_TEXT, text);
        answer_empty(&in, SCORE_END);
        return score_text_of(result_answer, &in);
}
