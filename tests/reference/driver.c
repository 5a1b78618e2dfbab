/* Scores what score.py scores, by the code of assay-score: cases as JSON lines come in, answers as
 * JSON lines go out, in the same form (score.py says which). */
#include "evaluators/answer.h"
#include "evaluators/json.h"
#include "evaluators/number.h"
#include "evaluators/rating.h"
#include "evaluators/request.h"
#include "evaluators/schemes/composite.h"
#include "evaluators/schemes/dimensions.h"
#include "evaluators/schemes/window.h"
#include "evaluators/value.h"

#include <stdio.h>

enum { MOST_WARNINGS = 200 };

static bool find(struct json_value of, const char *key, struct json_value *ret)
{
        return value_find(of, key, ret);
}

/* The text of a member, as it stands in the line. */
static void raw(struct json_value of, const char *key, struct buffer *ret)
{
        struct json_value v;
        const struct json_mark *m;

        if (!find(of, key, &v))
                return;
        m = &v.doc->marks.list[v.mark];
        buffer_add(ret, v.doc->text + m->start, m->end - m->start);
}

static long whole(struct json_value of, const char *key, long otherwise)
{
        char text[NUMBER_TEXT_SIZE];
        struct json_value v;

        if (!find(of, key, &v))
                return otherwise;
        if (!json_is_number(v.node))
                return json_is_true(v.node);
        json_number_text(v, text, sizeof text);
        return strtol(text, NULL, 10);
}

static void print_text(const char *text)
{
        json_t *string = json_string(text);

        json_dumpf(string, stdout, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        json_decref(string);
}

/* --- score ---------------------------------------------------------------------------------- */

struct shown {
        struct buffer dimensions;
        char *warned[MOST_WARNINGS], *violations[MOST_WARNINGS];
        size_t warned_count, violation_count;
        unsigned total, outcome;
        char *sum;
};

static int compare(const void *left, const void *right)
{
        return strcmp(*(char *const *)left, *(char *const *)right);
}

static void print_list(const char *key, char **list, size_t count)
{
        if (count > 0)
                qsort(list, count, sizeof *list, compare);
        printf(", \"%s\": [", key);
        for (size_t i = 0, printed = 0; i < count; i++) {
                if (i > 0 && strcmp(list[i], list[i - 1]) == 0)
                        continue;
                printf("%s", printed++ ? ", " : "");
                print_text(list[i]);
        }
        printf("]");
        while (count > 0)
                free(list[--count]);
}

static void take_dimension(struct shown *s, struct reader *r)
{
        enum { TEXTS = 10, EXACT = 8 };
        char *texts[TEXTS];

        for (unsigned i = 0; i < TEXTS; i++)
                texts[i] = get_new_text(r, SCORE_MAX_EXACT);
        buffer_add_format(&s->dimensions, "%s\"%s\": [\"%s\", \"%s\"]",
                s->dimensions.len > 0 ? ", " : "", texts[0], texts[EXACT], texts[EXACT + 1]);
        for (unsigned i = 0; i < TEXTS; i++)
                free(texts[i]);
}

static void take_frame(struct shown *s, uint16_t type, struct reader *r)
{
        if (type == SCORE_TOTAL) {
                s->total = get_u32(r);
                s->outcome = get_u8(r);
                s->sum = get_new_text(r, SCORE_MAX_EXACT);
        } else if (type == SCORE_DIMENSION)
                take_dimension(s, r);
        else if (type == SCORE_WARNING && s->warned_count < MOST_WARNINGS) {
                get_u8(r);
                s->warned[s->warned_count++] = get_new_text(r, SCORE_MAX_TEXT);
        } else if (type == SCORE_VIOLATION && s->violation_count < MOST_WARNINGS)
                s->violations[s->violation_count++] = get_new_text(r, SCORE_MAX_TEXT);
}

static void print_score(const struct buffer *out)
{
        static const char *const outcomes[] = {"win", "draw", "loss"};
        struct shown s = {.dimensions = BUFFER_INIT};
        struct reader r = reader_of(out->data, out->len), payload;
        uint16_t type;

        while (answer_next(&r, &type, &payload))
                take_frame(&s, type, &payload);
        printf("{\"total\": \"%u\", \"sum\": \"%s\", \"outcome\": \"%s\", \"dimensions\": {%s}",
                s.total, s.sum, outcomes[s.outcome], buffer_text(&s.dimensions));
        print_list("warned", s.warned, s.warned_count);
        print_list("violations", s.violations, s.violation_count);
        printf("}\n");
        buffer_free(&s.dimensions);
        free(s.sum);
}

static void take_trajectory(struct json_value of, struct trajectory *t)
{
        struct json_value v;

        if (!find(of, "trajectory", &v))
                return;
        t->given = true;
        t->valid = whole(v, "valid", 0);
        mpz_set_si(t->tokens, whole(v, "tokens", 0));
        t->llm_calls = (uint64_t)whole(v, "llm_calls", 0);
        t->tool_calls = (uint64_t)whole(v, "tool_calls", 0);
}

static bool is_negative(const char *number)
{
        bool negative;
        mpq_t x;

        mpq_init(x);
        negative = number_parse(x, number) == 0 && mpq_sgn(x) < 0;
        mpq_clear(x);
        return negative;
}

static void score(struct json_value of)
{
        struct buffer texts[4] = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
        static const char *const keys[] = {"spec", "submission", "truth", "time_used"};
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct trajectory trajectory;
        struct dimensions_input input;
        struct error err = {0};

        trajectory_init(&trajectory);
        take_trajectory(of, &trajectory);
        for (unsigned i = 0; i < 4; i++)
                raw(of, keys[i], &texts[i]);
        input = (struct dimensions_input){.spec = &texts[0],
                .answer = &texts[1],
                .truth = texts[2].len > 0 ? &texts[2] : NULL,
                .time_used = buffer_text(&texts[3]),
                .trajectory = &trajectory};
        /* The command line refuses it before. */
        if (is_negative(input.time_used))
                err.code = CODE_USAGE;
        if (err.code == CODE_NONE && dimensions_score(&input, &out, &err) == 0)
                print_score(&out);
        else if (code_info(err.code)->class == CLASS_USAGE)
                printf("{\"invalid\": true}\n");
        else
                printf("{\"error\": \"%s\"}\n", code_info(err.code)->name);
        for (unsigned i = 0; i < 4; i++)
                buffer_free(&texts[i]);
        trajectory_free(&trajectory);
}

/* --- the others ----------------------------------------------------------------------------- */

static void put_document(struct buffer *in, enum score_document which, const struct buffer *bytes)
{
        size_t at = answer_begin(in, REQUEST_PIECE);

        put_u8(in, (uint8_t)which);
        put_bytes(in, bytes->data, bytes->len);
        answer_end(in, at);
}

/* Attempts are told as counts. */
static void write_record(struct json_value of, struct buffer *ret)
{
        struct json_value record, steps, step;
        const char *separator = "";

        find(of, "record", &record);
        buffer_add_text(ret, "{\"schema\": \"assay.execution/1\", \"steps\": [");
        if (!find(record, "steps", &steps))
                return;
        for (struct json_walk w = json_walk(steps); json_next(&w, &step); separator = ", ") {
                const long attempts = whole(step, "attempts", 0);

                buffer_add_format(ret, "%s{\"id\": \"%zu\", \"status\": ", separator, w.index);
                raw(step, "status", ret);
                buffer_add_format(ret, ", \"retry_count\": %ld, \"attempts\": [",
                        whole(step, "retry_count", 0));
                for (long i = 0; i < attempts; i++)
                        buffer_add_format(ret, "%s{\"status\": \"%s\"}", i > 0 ? ", " : "",
                                i < whole(step, "timeouts", 0) ? "timeout" : "ok");
                buffer_add_text(ret, "]}");
        }
        buffer_add_text(ret, "]");
        for (struct json_walk w = json_walk(record); json_next(&w, &step);)
                if (strcmp(w.key, "steps") != 0) {
                        buffer_add_format(ret, ", \"%s\": ", w.key);
                        raw(record, w.key, ret);
                }
        buffer_add_text(ret, "}");
}

static void composite(struct json_value of)
{
        static const char *const names[] = {"score", "success", "cost", "latency", "reliability"};
        _cleanup_buffer_ struct buffer spec = BUFFER_INIT, record = BUFFER_INIT, in = BUFFER_INIT,
                                       out = BUFFER_INIT;
        struct reader r, payload;
        struct error err;
        uint16_t type;
        size_t at = answer_begin(&in, REQUEST_COMPOSITE);

        put_u8(&in, 0);
        answer_end(&in, at);
        raw(of, "spec", &spec);
        write_record(of, &record);
        put_document(&in, DOCUMENT_SPEC, &spec);
        put_document(&in, DOCUMENT_RECORD, &record);
        answer_empty(&in, SCORE_END);
        if (composite_answer(&in, &out, &err) < 0) {
                printf("{\"error\": ");
                print_text(err.text);
                printf("}\n");
                return;
        }
        r = reader_of(out.data, out.len);
        answer_next(&r, &type, &payload);
        for (unsigned i = 0; i < 10; i++) {
                char *text = get_new_text(&payload, SCORE_MAX_EXACT);

                if (i >= 5)
                        printf("%s\"%s\": \"%s\"", i > 5 ? ", " : "{", names[i - 5], text);
                free(text);
        }
        printf("}\n");
}

static void window(struct json_value of)
{
        _cleanup_buffer_ struct buffer scores = BUFFER_INIT, in = BUFFER_INIT, out = BUFFER_INIT,
                                       means = BUFFER_INIT, weights = BUFFER_INIT;
        struct reader r, payload;
        struct error err;
        uint16_t type;

        answer_empty(&in, REQUEST_WINDOW);
        raw(of, "scores", &scores);
        put_document(&in, DOCUMENT_SUBMISSION, &scores);
        answer_empty(&in, SCORE_END);
        if (window_answer(&in, &out, &err) < 0) {
                printf("{\"error\": ");
                print_text(err.text);
                printf("}\n");
                return;
        }
        r = reader_of(out.data, out.len);
        while (answer_next(&r, &type, &payload)) {
                char *texts[5] = {NULL};

                if (type == WINDOW_ROW) {
                        texts[0] = get_new_text(&payload, SCORE_MAX_NAME);
                        get_u32(&payload);
                }
                for (unsigned i = type == WINDOW_ROW ? 1 : 3; i < 5; i++)
                        texts[i] = get_new_text(&payload, SCORE_MAX_EXACT);
                if (type == WINDOW_ROW) {
                        buffer_add_format(&means, "%s\"%s\": \"%s\"", means.len ? ", " : "",
                                texts[0], texts[3]);
                        buffer_add_format(&weights, "%s\"%s\": \"%s\"", weights.len ? ", " : "",
                                texts[0], texts[4]);
                } else
                        printf("{\"means\": {%s}, \"weights\": {%s}, \"unassigned\": \"%s\"}\n",
                                buffer_text(&means), buffer_text(&weights), texts[4]);
                for (unsigned i = 0; i < 5; i++)
                        free(texts[i]);
        }
}

static void rate(struct json_value of)
{
        static const char *const results[] = {"win", "draw", "loss"};
        struct json_value result = of;
        struct match m = {.own = (int32_t)whole(of, "own", 0),
                .opponent = (int32_t)whole(of, "opponent", 0),
                .matches = (uint32_t)whole(of, "matches", 0),
                .verified = whole(of, "verified", 0),
                .benchmark = whole(of, "benchmark", 0)};

        find(of, "result", &result);
        while (m.result < 2 && strcmp(results[m.result], json_string_value(result.node)) != 0)
                m.result++;
        printf("{\"before\": %d, \"after\": %d, \"change\": %d}\n", m.own, rating_after(&m),
                rating_after(&m) - m.own);
}

int main(void)
{
        static const struct {
                const char *name;
                void (*run)(struct json_value of);
        } ops[] = {{"score", score}, {"composite", composite}, {"window", window}, {"rate", rate}};
        char *line = NULL;
        size_t room = 0;
        ssize_t len;

        while ((len = getline(&line, &room, stdin)) > 0) {
                _cleanup_json_ struct json doc = JSON_INIT;
                struct json_fault fault;
                struct json_value op;

                if (json_read(&doc, line, (size_t)len, &fault) < 0) {
                        fprintf(stderr, "column %u: %s\n", fault.column, fault.text);
                        return 1;
                }
                find(json_root(&doc), "op", &op);
                for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
                        if (strcmp(ops[i].name, json_string_value(op.node)) == 0)
                                ops[i].run(json_root(&doc));
        }
        free(line);
        return 0;
}
