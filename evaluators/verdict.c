/* {"criteria": [{"name", "score", "reasoning"}], "summary", "model"?}. Whether the criteria are
 * those of the rubric is for the runner to say, which knows the rubric. */
#include "verdict.h"

#include "answer.h"

enum { MOST_CRITERIA = 1000, MOST_REASONING = 1 << 20 };

static const struct field opinion_rows[] = {
        FIELD("name", field_text, REQUIRED, struct opinion, name, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("score", field_decimal, REQUIRED, struct opinion, score, .most = 100),
        FIELD("reasoning", field_text, REQUIRED, struct opinion, reasoning, .most = MOST_REASONING),
};
static const struct opinion opinion_default = {.name = "", .reasoning = ""};
static const struct fields opinion_fields = {
        opinion_rows, COUNT(opinion_rows), UNKNOWN_IGNORED, &opinion_default};

/* What an adapter keeps for the record; none of it counts. */
static bool read_usage(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return json_is_null(s->value.node) || field_object.read(r, f, s, to);
}

static void want_usage(const struct field *f, char *out, size_t size)
{
        field_object.want(f, out, size);
}

static const struct field_type usage_type = {read_usage, want_usage};
static const struct field usage_rows[] = {
        FIELD("prompt_tokens", field_positive, OPTIONAL, struct verdict, prompt_tokens),
        FIELD("completion_tokens", field_positive, OPTIONAL, struct verdict, completion_tokens),
};
static const struct fields usage_fields = FIELDS(usage_rows, UNKNOWN_IGNORED);

static const struct field verdict_rows[] = {
        FIELD("criteria", field_list, REQUIRED, struct verdict, opinions, .least = 1,
                .most = MOST_CRITERIA, .fields = &opinion_fields,
                .item_size = sizeof(struct opinion)),
        FIELD("summary", field_text, REQUIRED, struct verdict, summary, .most = MOST_REASONING),
        FIELD("model", field_text, OPTIONAL, struct verdict, model, .most = SCORE_MAX_NAME),
        FIELD("prompt_sha256", field_text, OPTIONAL, struct verdict, prompt_sha256, .most = 64),
        WHOLE_FIELD("usage", usage_type, OPTIONAL, .fields = &usage_fields),
        FIELD("runs", field_positive, OPTIONAL, struct verdict, runs),
        FIELD("tries", field_positive, OPTIONAL, struct verdict, tries),
};
/* Adapters add what they like: tokens, prompt hashes. */
static const struct fields verdict_fields = FIELDS(verdict_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &verdict_fields};

static void check_repeated(struct reading *r, const struct list *opinions)
{
        const struct opinion *o = opinions->items;
        char path[64];

        for (size_t i = 0; i < opinions->count; i++)
                for (size_t j = 0; j < i; j++)
                        if (o[i].name[0] && strcmp(o[i].name, o[j].name) == 0) {
                                snprintf(path, sizeof path, "criteria[%zu].name", i);
                                reading_problem_at(r, path, "is scored twice");
                                break;
                        }
}

/* Reasons are for reading: a long one is cut, it makes no verdict invalid. */
static void put_verdict(struct buffer *out, const struct verdict *v)
{
        const struct opinion *o = v->opinions.items;
        size_t at;

        for (size_t i = 0; i < v->opinions.count; i++) {
                at = answer_begin(out, VERDICT_CRITERION);
                put_text(out, o[i].name);
                put_number(out, o[i].score);
                put_cut(out, o[i].reasoning, SCORE_MAX_TEXT);
                answer_end(out, at);
        }
        if (*v->prompt_sha256 || *v->prompt_tokens || *v->runs || *v->tries) {
                at = answer_begin(out, VERDICT_RECORD);
                put_text(out, v->prompt_sha256);
                put_number(out, v->prompt_tokens);
                put_number(out, v->completion_tokens);
                put_number(out, v->runs);
                put_number(out, v->tries);
                answer_end(out, at);
        }
        at = answer_begin(out, VERDICT_SUMMARY);
        put_cut(out, v->summary, SCORE_MAX_TEXT);
        put_text(out, v->model);
        answer_end(out, at);
}

int verdict_read(const struct json *doc, struct verdict *ret, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct reading r;

        *ret = (struct verdict){.summary = "", .model = "", .prompt_sha256 = ""};
        reading_begin(&r, doc);
        field_read(&r, &whole, &root, ret);
        check_repeated(&r, &ret->opinions);
        return reading_error(&r, CODE_JUDGE_INVALID, err);
}

void verdict_free(struct verdict *v)
{
        list_free(&v->opinions);
}

int verdict_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct verdict verdict;
        int r;

        if (reading_open(&doc, in, CODE_JUDGE_INVALID, err) < 0)
                return -1;
        r = verdict_read(&doc, &verdict, err);
        if (r == 0)
                put_verdict(out, &verdict);
        verdict_free(&verdict);
        return r;
}
