/* Reading answers; see reply.h. */
#include "evaluators/judge/reply.h"

#include "evaluators/number.h"

#include "text.h"

enum { MOST_REASONING = 1 << 20 };

/* --- the API's own --------------------------------------------------------------------------- */

struct choice_given {
        const char *finish_reason, *content, *refusal;
};

struct envelope {
        const char *model;
        struct list choices;
};

static const struct field message_rows[] = {
        FIELD("content", field_any_text, REQUIRED, struct choice_given, content),
        FIELD("refusal", field_any_text, OPTIONAL, struct choice_given, refusal),
};
static const struct fields message_fields = FIELDS(message_rows, UNKNOWN_IGNORED);

static const struct field choice_rows[] = {
        FIELD("finish_reason", field_any_text, REQUIRED, struct choice_given, finish_reason),
        WHOLE_FIELD("message", field_object, REQUIRED, .fields = &message_fields),
};
static const struct choice_given choice_default = {.content = "", .refusal = ""};
static const struct fields choice_fields = {
        choice_rows, COUNT(choice_rows), UNKNOWN_IGNORED, &choice_default};

static const struct field envelope_rows[] = {
        FIELD("model", field_text, OPTIONAL, struct envelope, model, .most = SCORE_MAX_NAME),
        FIELD("choices", field_list, REQUIRED, struct envelope, choices, .least = 1, .most = 1,
                .fields = &choice_fields, .item_size = sizeof(struct choice_given)),
};
static const struct fields envelope_fields = FIELDS(envelope_rows, UNKNOWN_IGNORED);
static const struct field whole_envelope = {.type = &field_object, .fields = &envelope_fields};

static void add_tokens(
        const struct json *doc, const char *path, uint64_t *sum, struct tokens *tokens)
{
        char text[NUMBER_TEXT_SIZE];
        struct json_value v;
        uint64_t n;
        bool found;

        v = json_locate(doc, path, &found);
        if (!found || !json_is_number(v.node))
                return;
        json_number_text(v, text, sizeof text);
        if (number_whole(text, UINT32_MAX, &n) < 0)
                return;
        *sum += n;
        tokens->known = true;
}

static int check_choice(const struct choice_given *c, struct error *err)
{
        if (c->refusal[0])
                return error_set(err, CODE_JUDGE_INVALID, "the model refused: %.200s", c->refusal);
        if (strcmp(c->finish_reason, "stop") != 0)
                return error_set(err, CODE_JUDGE_INVALID,
                        "the model did not come to its end: finish_reason is \"%.100s\"",
                        c->finish_reason);
        return 0;
}

static int read_envelope(struct reply *reply, const char **ret_content, struct error *err)
{
        struct envelope e = {.model = ""};
        const struct spot root = {.value = json_root(&reply->envelope)};
        const struct choice_given *c;
        struct reading r;
        int failed;

        reading_begin(&r, &reply->envelope);
        field_read(&r, &whole_envelope, &root, &e);
        failed = reading_error(&r, CODE_JUDGE_INVALID, err);
        if (!failed) {
                c = e.choices.items;
                reply->model = e.model;
                *ret_content = c->content;
                failed = check_choice(c, err);
        }
        list_free(&e.choices);
        return failed;
}

/* --- the model's ----------------------------------------------------------------------------- */

static const struct field opinion_rows[] = {
        FIELD("score", field_decimal, REQUIRED, struct opinion, score, .most = 100),
        FIELD("reasoning", field_text, REQUIRED, struct opinion, reasoning, .most = MOST_REASONING),
};
static const struct fields opinion_fields = FIELDS(opinion_rows, UNKNOWN_IS_PROBLEM);

/* The rubric's criteria are the keys of an object: a row for each. */
static struct field *criteria_rows(const struct list *rubric)
{
        const struct judge_criterion *c = rubric->items;
        struct field *rows = calloc(rubric->count, sizeof *rows);

        for (size_t i = 0; rows && i < rubric->count; i++)
                rows[i] = (struct field){.key = c[i].name,
                        .type = &field_object,
                        .required = REQUIRED,
                        .offset = i * sizeof(struct opinion),
                        .fields = &opinion_fields};
        return rows;
}

static int read_opinions(struct reply *reply, const struct fields *criteria, struct error *err)
{
        const struct field rows[] = {
                FIELD("criteria", field_object, REQUIRED, struct opinions, of, .fields = criteria),
                FIELD("summary", field_text, REQUIRED, struct opinions, summary,
                        .most = MOST_REASONING),
        };
        const struct fields fields = FIELDS(rows, UNKNOWN_IS_PROBLEM);
        const struct field whole = {.type = &field_object, .fields = &fields};
        const struct spot root = {.value = json_root(&reply->verdict)};
        struct reading r;

        reading_begin(&r, &reply->verdict);
        field_read(&r, &whole, &root, reply->opinions);
        return reading_error(&r, CODE_JUDGE_INVALID, err);
}

static int read_verdict(
        struct reply *reply, const char *content, const struct judge_request *q, struct error *err)
{
        const struct buffer in = {
                .data = (unsigned char *)(uintptr_t)content, .len = strlen(content)};
        size_t n = q->rubric.count;
        struct field *rows = criteria_rows(&q->rubric);
        const struct fields criteria = {rows, n, UNKNOWN_IS_PROBLEM, NULL};
        int r;

        reply->opinions = calloc(1, sizeof *reply->opinions + n * sizeof *reply->opinions->of);
        if (!rows || !reply->opinions)
                r = error_set(err, CODE_INFRA_MEMORY, "out of memory");
        else {
                r = reading_open(&reply->verdict, &in, CODE_JUDGE_INVALID, err);
                if (r == 0)
                        r = read_opinions(reply, &criteria, err);
        }
        free(rows);
        return r;
}

int reply_read(
        struct reply *ret, const struct judge_request *q, struct tokens *tokens, struct error *err)
{
        const char *content = "";

        if (reading_open(&ret->envelope, &ret->body, CODE_JUDGE_INVALID, err) < 0)
                return error_add(err, "the answer");
        add_tokens(&ret->envelope, "usage.prompt_tokens", &tokens->prompt, tokens);
        add_tokens(&ret->envelope, "usage.completion_tokens", &tokens->completion, tokens);
        if (read_envelope(ret, &content, err) < 0)
                return error_add(err, "the answer");
        if (read_verdict(ret, content, q, err) < 0)
                return error_add(err, "the model's verdict");
        return 0;
}

void reply_free(struct reply *r)
{
        free(r->opinions);
        json_free(&r->verdict);
        json_free(&r->envelope);
        buffer_free(&r->body);
        *r = (struct reply)REPLY_INIT;
}

/* {"error": {"message": "…"}}, or what others write. */
void reply_complaint(const struct buffer *body, char *out, size_t size)
{
        static const char *const places[] = {"error.message", "error", "message", "detail"};
        _cleanup_json_ struct json doc = JSON_INIT;
        struct json_fault fault;

        out[0] = '\0';
        if (json_read(&doc, body->data, body->len, &fault) < 0)
                return;
        for (size_t i = 0; i < COUNT(places) && out[0] == '\0'; i++) {
                bool found;
                struct json_value v = json_locate(&doc, places[i], &found);

                if (found && json_is_string(v.node))
                        text_escape(
                                out, size, json_string_value(v.node), json_string_length(v.node));
        }
}
