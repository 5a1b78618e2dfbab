/* What goes from step to step of a workflow, and how good its end is; see workflow.h. */
#include "workflow.h"

#include "answer.h"
#include "number.h"
#include "schemes/spec.h"
#include "value.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MOST_REFERENCES = 1000, MOST_POINTER = SCORE_MAX_NAME - 1, QUALITY_PLACES = 20 };

/* --- references ----------------------------------------------------------------------------- */

/* "", or steps that begin with / and in which ~ is ~0 or ~1. */
static bool is_pointer(const char *path)
{
        if ((*path && *path != '/') || strlen(path) > MOST_POINTER)
                return false;
        for (const char *at = strchr(path, '~'); at; at = strchr(at + 1, '~'))
                if (at[1] != '0' && at[1] != '1')
                        return false;
        return true;
}

static void add_reference(struct reading *r, const struct spot *s, struct list *ret)
{
        const json_t *from = json_object_get(s->value.node, "$from");
        const json_t *path = json_object_get(s->value.node, "path");
        struct reference *more;

        if (!json_is_string(from) || json_object_size(s->value.node) > (path ? 2 : 1))
                reading_problem(r, s,
                        "has a \"$from\" and must be {\"$from\": the id of a step, \"path\": a "
                        "JSON "
                        "Pointer}");
        else if (path && (!json_is_string(path) || !is_pointer(json_string_value(path))))
                reading_problem(r, s, "has a path that is no JSON Pointer, such as \"/result\"");
        else if (ret->count == MOST_REFERENCES)
                reading_problem(r, s, "is one reference too many, after %d", MOST_REFERENCES);
        else {
                more = realloc(ret->items, (ret->count + 1) * sizeof *more);
                if (!more) {
                        reading_problem(r, s, "is too large for the memory there is");
                        return;
                }
                ret->items = more;
                more[ret->count++] = (struct reference){
                        s->value, json_string_value(from), path ? json_string_value(path) : ""};
        }
}

void references_find(struct reading *r, const struct spot *input, struct list *ret)
{
        struct json_value child;

        if (json_object_get(input->value.node, "$from")) {
                add_reference(r, input, ret);
                return;
        }
        for (struct json_walk w = json_walk(input->value); json_next(&w, &child);) {
                const struct spot below = spot_below(input, &w, child);

                references_find(r, &below, ret);
        }
}

/* --- pieces --------------------------------------------------------------------------------- */

static void put_pieces(struct buffer *out, enum score_message type, const struct buffer *bytes)
{
        for (size_t at = 0; at < bytes->len; at += SCORE_MAX_INPUT) {
                const size_t left = bytes->len - at;
                size_t frame = answer_begin(out, type);

                put_bytes(out, bytes->data + at, left < SCORE_MAX_INPUT ? left : SCORE_MAX_INPUT);
                answer_end(out, frame);
        }
        out->failed |= bytes->failed;
}

static void put_wrong(struct buffer *out, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void put_wrong(struct buffer *out, const char *format, ...)
{
        struct error text;
        va_list args;
        char raw[sizeof text.text];
        size_t at;

        va_start(args, format);
        vsnprintf(raw, sizeof raw, format, args);
        va_end(args);
        error_set(&text, CODE_NONE, "%s", raw);
        at = answer_begin(out, WORKFLOW_WRONG);
        put_text(out, text.text);
        answer_end(out, at);
}

/* --- inputs --------------------------------------------------------------------------------- */

/* The text between references stays as it was written. */
static bool fill_in(const struct json *doc, const struct list *references,
        const struct json *outputs, struct buffer *ret, struct buffer *out)
{
        const struct reference *refs = references->items;
        const char *end = (const char *)doc->text + doc->len, *at = (const char *)doc->text;

        for (size_t i = 0; i < references->count; i++) {
                struct json_value value;
                size_t len, replaced;
                const char *place = json_raw(refs[i].value, &replaced), *raw;

                if (!value_member(json_root(outputs), refs[i].from, &value) ||
                        (*refs[i].path && !value_find(value, refs[i].path, &value))) {
                        put_wrong(out, "the output of \"%.100s\" has nothing at \"%.200s\"",
                                refs[i].from, refs[i].path);
                        return false;
                }
                raw = json_raw(value, &len);
                buffer_add(ret, at, (size_t)(place - at));
                buffer_add(ret, raw, len);
                at = place + replaced;
                if (ret->len > SCORE_MAX_INPUT)
                        break;
        }
        buffer_add(ret, at, (size_t)(end - at));
        if (ret->len <= SCORE_MAX_INPUT)
                return true;
        put_wrong(out, "the input has more than %d bytes", SCORE_MAX_INPUT);
        return false;
}

int workflow_input(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT, outputs = JSON_INIT;
        _cleanup_buffer_ struct buffer input = BUFFER_INIT;
        struct list references = {0};
        struct spot root;
        struct reading r;

        if (!reader_done(&q->options) ||
                reading_open(&doc, &q->documents[DOCUMENT_SUBMISSION].bytes, CODE_WORKFLOW_INVALID,
                        err) < 0 ||
                reading_open(&outputs, &q->documents[DOCUMENT_RECORD].bytes, CODE_WORKFLOW_INVALID,
                        err) < 0)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        root = (struct spot){.value = json_root(&doc)};
        reading_begin(&r, &doc);
        references_find(&r, &root, &references);
        if (r.problems.count == 0 && fill_in(&doc, &references, &outputs, &input, out))
                put_pieces(out, WORKFLOW_INPUT, &input);
        list_free(&references);
        return reading_error(&r, CODE_WORKFLOW_INVALID, err);
}

/* --- outputs -------------------------------------------------------------------------------- */

static void put_value(struct buffer *b, struct json_value v);

static void put_members(struct buffer *b, struct json_value v)
{
        struct json_value child;

        put_u8(b, json_is_object(v.node) ? VALUE_OBJECT : VALUE_ARRAY);
        for (struct json_walk w = json_walk(v); json_next(&w, &child);) {
                if (w.key) {
                        put_u8(b, VALUE_KEY);
                        put_text(b, w.key);
                }
                put_value(b, child);
        }
        put_u8(b, VALUE_END);
}

static void put_value(struct buffer *b, struct json_value v)
{
        char number[NUMBER_TEXT_SIZE];

        if (json_is_object(v.node) || json_is_array(v.node))
                put_members(b, v);
        else if (json_is_string(v.node)) {
                put_u8(b, VALUE_TEXT);
                put_bytes(b, json_string_value(v.node), json_string_length(v.node));
        } else if (json_is_number(v.node)) {
                json_number_text(v, number, sizeof number);
                put_u8(b, VALUE_NUMBER);
                put_text(b, number);
        } else
                put_u8(b, json_is_true(v.node)    ? VALUE_TRUE
                          : json_is_false(v.node) ? VALUE_FALSE
                                                  : VALUE_NULL);
}

int workflow_output(const struct request *q, struct buffer *out, struct error *err)
{
        const struct buffer *printed = &q->documents[DOCUMENT_RESULT].bytes;
        _cleanup_json_ struct json doc = JSON_INIT;
        _cleanup_buffer_ struct buffer value = BUFFER_INIT;
        struct json_fault fault;

        if (!reader_done(&q->options))
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (json_read(&doc, printed->data, printed->len, &fault) < 0) {
                put_wrong(out, "the output is no JSON: line %u, column %u: %s", fault.line,
                        fault.column, fault.text);
                return 0;
        }
        put_value(&value, json_root(&doc));
        put_pieces(out, WORKFLOW_VALUE, &value);
        return 0;
}

/* --- quality -------------------------------------------------------------------------------- */

/* Cut off, not rounded: what is not above 7/10 must not get there by being written down. */
static void put_quality(struct buffer *out, const mpq_t quality, const char *why)
{
        char text[SCORE_MAX_NAME];
        size_t at = answer_begin(out, WORKFLOW_QUALITY), len;
        mpz_t scale, whole, part;

        mpz_inits(scale, whole, part, NULL);
        mpz_ui_pow_ui(scale, 10, QUALITY_PLACES);
        mpz_mul(whole, mpq_numref(quality), scale);
        mpz_fdiv_q(whole, whole, mpq_denref(quality));
        mpz_fdiv_qr(whole, part, whole, scale);
        gmp_snprintf(text, sizeof text, "%Zd.%0*Zd", whole, QUALITY_PLACES, part);
        mpz_clears(scale, whole, part, NULL);
        for (len = strlen(text); text[len - 1] == '0'; len--)
                text[len - 1] = '\0';
        if (text[len - 1] == '.')
                text[len - 1] = '\0';
        put_text(out, text);
        put_text(out, why);
        answer_end(out, at);
}

static int score_primitive(const struct dimension *d, const struct request *q,
        const char *time_used, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json answer = JSON_INIT, truth = JSON_INIT;
        const bool has_truth = q->documents[DOCUMENT_TRUTH].given;
        struct primitive_case c = {
                .parameters = &d->parameters, .has_truth = has_truth, .time_used = time_used};
        int r;

        if (reading_open(&answer, &q->documents[DOCUMENT_SUBMISSION].bytes, CODE_SCORE_ANSWER,
                    err) < 0 ||
                (has_truth && reading_open(&truth, &q->documents[DOCUMENT_TRUTH].bytes,
                                      CODE_SCORE_TRUTH, err) < 0))
                return -1;
        c.answer = json_root(&answer);
        if (has_truth)
                c.truth = json_root(&truth);
        mpq_init(c.score);
        r = d->primitive->score(&c, err);
        if (r == 0) {
                mpz_mul_ui(mpq_denref(c.score), mpq_denref(c.score), 1000);
                mpq_canonicalize(c.score);
                put_quality(out, c.score, c.warning);
        }
        mpq_clear(c.score);
        return r;
}

/* The task was checked before: what is wrong with it now is not as agreed. */
static int by_task(
        const struct request *q, const char *time_used, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json task = JSON_INIT;
        struct dimension d = {0};
        struct spot root, scoring = {.up = &root, .key = "scoring"},
                          here = {.up = &scoring, .key = "quality"};
        struct reading r;
        int result;

        if (reading_open(&task, &q->documents[DOCUMENT_SPEC].bytes, CODE_TASK_INVALID, err) < 0)
                return -1;
        reading_begin(&r, &task);
        root = (struct spot){.value = json_root(&task)};
        scoring.value = json_locate(&task, "scoring", NULL);
        here.value = json_locate(&task, "scoring.quality", NULL);
        r.prefix = "scoring.";
        quality_read(&r, &here, &d);
        result = reading_error(&r, CODE_TASK_INVALID, err);
        if (result == 0 && !d.primitive)
                result = error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (result == 0)
                result = score_primitive(&d, q, time_used, out, err);
        return result;
}

int workflow_quality(const struct request *q, struct buffer *out, struct error *err)
{
        struct reader options = q->options;
        char time_used[SCORE_MAX_NAME];
        char *test_score;
        mpq_t score;
        int r = 0;

        get_text(&options, time_used, sizeof time_used);
        test_score = get_new_text(&options, SCORE_MAX_EXACT);
        mpq_init(score);
        if (!test_score || !reader_done(&options) || number_parse(score, time_used) < 0 ||
                (*test_score && (number_parse_exact(score, test_score) < 0 ||
                                        mpq_cmp_ui(score, 100, 1) > 0)))
                r = error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        else if (!*test_score)
                r = by_task(q, time_used, out, err);
        else {
                mpz_mul_ui(mpq_denref(score), mpq_denref(score), 100);
                mpq_canonicalize(score);
                put_quality(out, score, "");
        }
        mpq_clear(score);
        free(test_score);
        return r;
}
