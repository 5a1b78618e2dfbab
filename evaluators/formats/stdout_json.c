/* The last line of standard output that is a JSON object with `scores`: {dimension: 0–1000}. Lines
 * that are something else are the suite's own business. */
#include "evaluators/formats/json_result.h"

enum { MOST_SCORES = 1000 };

static bool has_scores(struct json *doc, const char *line, size_t len)
{
        struct json_fault unused;

        return len > 0 && line[strspn(line, " \t")] == '{' &&
               json_read(doc, line, len, &unused) == 0 && json_object_get(doc->root, "scores");
}

/* The line that counts, as `doc`; its number in the output, or 0. */
static unsigned find_line(struct json *doc, const struct buffer *output)
{
        const char *text = buffer_text(output);
        size_t end = output->len;
        unsigned lines = 1;

        for (size_t i = 0; i < end; i++)
                lines += text[i] == '\n';
        for (;; lines--) {
                size_t start = end;

                while (start > 0 && text[start - 1] != '\n')
                        start--;
                if (has_scores(doc, text + start, end - start))
                        return lines;
                json_free(doc);
                if (start == 0)
                        return 0;
                end = start - 1;
        }
}

static int take_scores(struct outcome *o, const struct json *doc, struct error *err)
{
        static const struct field score = {.type = &field_decimal, .most = 1000};
        char text[NUMBER_TEXT_SIZE];
        struct json_value scores, child;
        struct reading r;
        struct spot root = {.value = json_root(doc)}, spot;

        scores = json_locate(doc, "scores", NULL);
        spot = (struct spot){.up = &root, .key = "scores", .value = scores};
        reading_begin(&r, doc);
        if (!json_is_object(scores.node) || json_object_size(scores.node) == 0 ||
                json_object_size(scores.node) > MOST_SCORES)
                reading_problem(&r, &spot, "must be an object of 1 to %d scores from 0 to 1000",
                        MOST_SCORES);
        for (struct json_walk w = json_walk(scores); json_next(&w, &child);) {
                struct spot below = spot_below(&spot, &w, child);

                if (!w.key)
                        break;
                *text = '\0';
                field_read(&r, &score, &below, text);
                outcome_dimension(o, w.key, *text ? text : "0");
        }
        return reading_error(&r, CODE_SUITE_RESULT_INVALID, err);
}

int stdout_json_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        unsigned line = find_line(&doc, q->file);

        if (line == 0)
                return error_set(err, CODE_SUITE_NO_RESULT,
                        "no line of the suite's standard output is a JSON object with `scores`");
        return take_scores(ret, &doc, err) < 0 ? error_add(err, "line %u of the output", line) : 0;
}
