/* Reading a request; see request.h. Keys that nobody knows here are the future's. */
#include "evaluators/judge/request.h"

enum { MOST_CRITERIA = 100, MOST_PATH = 1 << 16 };

static const char *check_schema(const char *text)
{
        return strcmp(text, "assay.judge/1") == 0 ? NULL : "must be \"assay.judge/1\"";
}

/* --- what may be null ----------------------------------------------------------------------- */

static bool read_score(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return json_is_null(s->value.node) || field_decimal.read(r, f, s, to);
}

static void want_score(const struct field *f, char *out, size_t size)
{
        snprintf(out, size, "a number from %llu to %llu, or null", (unsigned long long)f->least,
                (unsigned long long)f->most);
}

static bool read_raw(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct judge_request *q = to;

        (void)r;
        (void)f;
        if (json_is_object(s->value.node))
                q->build_check.bytes = json_raw(s->value, &q->build_check.len);
        return json_is_object(s->value.node) || json_is_null(s->value.node);
}

static void want_raw(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object, or null");
}

static const struct field_type field_score_or_null = {read_score, want_score};
static const struct field_type field_raw_or_null = {read_raw, want_raw};

/* --- the tables ----------------------------------------------------------------------------- */

static const struct field criterion_rows[] = {
        FIELD("name", field_text, REQUIRED, struct judge_criterion, name, .least = 1,
                .most = SCORE_MAX_NAME),
        FIELD("description", field_any_text, OPTIONAL, struct judge_criterion, description),
        FIELD("weight", field_whole, REQUIRED, struct judge_criterion, weight, .least = 1,
                .most = 100),
};
static const struct judge_criterion criterion_default = {.name = "", .description = ""};
static const struct fields criterion_fields = {
        criterion_rows, COUNT(criterion_rows), UNKNOWN_IGNORED, &criterion_default};

static const struct field file_rows[] = {
        FIELD("path", field_text, REQUIRED, struct judge_file, path, .least = 1, .most = MOST_PATH),
        FIELD("bytes", field_whole, REQUIRED, struct judge_file, bytes, .most = 1ULL << 60),
        FIELD("text", field_any_text, OPTIONAL, struct judge_file, text),
        FIELD("omitted", field_any_text, OPTIONAL, struct judge_file, omitted),
};
static const struct judge_file file_default = {.path = ""};
static const struct fields file_fields = {
        file_rows, COUNT(file_rows), UNKNOWN_IGNORED, &file_default};

static const struct field test_rows[] = {
        FIELD("name", field_any_text, REQUIRED, struct judge_test, name),
        FIELD("passed", field_boolean, REQUIRED, struct judge_test, passed),
};
static const struct judge_test test_default = {.name = ""};
static const struct fields test_fields = {
        test_rows, COUNT(test_rows), UNKNOWN_IGNORED, &test_default};

static const struct field task_rows[] = {
        FIELD("name", field_any_text, REQUIRED, struct judge_request, name),
        FIELD("title", field_any_text, OPTIONAL, struct judge_request, title),
        FIELD("description", field_any_text, OPTIONAL, struct judge_request, description),
        FIELD("rubric", field_list, REQUIRED, struct judge_request, rubric, .least = 1,
                .most = MOST_CRITERIA, .fields = &criterion_fields,
                .item_size = sizeof(struct judge_criterion)),
};
static const struct fields task_fields = FIELDS(task_rows, UNKNOWN_IGNORED);

static const struct field request_rows[] = {
        FIELD("schema", field_text, REQUIRED, struct judge_request, schema, .most = 100,
                .check = check_schema),
        WHOLE_FIELD("task", field_object, REQUIRED, .fields = &task_fields),
        FIELD("submission_md", field_any_text, REQUIRED, struct judge_request, submission_md),
        FIELD("files", field_list, REQUIRED, struct judge_request, files, .most = SCORE_MAX_MANY,
                .fields = &file_fields, .item_size = sizeof(struct judge_file)),
        WHOLE_FIELD("build_check", field_raw_or_null, OPTIONAL),
        FIELD("test_score", field_score_or_null, OPTIONAL, struct judge_request, test_score,
                .most = 100),
        FIELD("tests", field_list, OPTIONAL, struct judge_request, tests, .most = SCORE_MAX_MANY,
                .fields = &test_fields, .item_size = sizeof(struct judge_test)),
};
static const struct fields request_fields = FIELDS(request_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &request_fields};

/* --- what no table says ---------------------------------------------------------------------- */

static void check_names(struct reading *r, const struct list *rubric)
{
        const struct judge_criterion *c = rubric->items;
        char path[64];

        for (size_t i = 0; i < rubric->count; i++)
                for (size_t j = 0; j < i; j++)
                        if (strcmp(c[i].name, c[j].name) == 0) {
                                snprintf(path, sizeof path, "task.rubric[%zu].name", i);
                                reading_problem_at(r, path, "is there twice");
                                break;
                        }
}

static void check_files(struct reading *r, const struct list *files)
{
        const struct judge_file *f = files->items;
        char path[64];

        for (size_t i = 0; i < files->count; i++)
                if (!f[i].text == !f[i].omitted) {
                        snprintf(path, sizeof path, "files[%zu]", i);
                        reading_problem_at(r, path, "must have either \"text\" or \"omitted\"");
                }
}

static int read_document(struct judge_request *q, struct error *err)
{
        const struct spot root = {.value = json_root(&q->doc)};
        struct reading r;

        reading_begin(&r, &q->doc);
        field_read(&r, &whole, &root, q);
        if (r.problems.count == 0) {
                check_names(&r, &q->rubric);
                check_files(&r, &q->files);
        }
        return reading_error(&r, CODE_JUDGE_INVALID, err);
}

int judge_request_read(struct judge_request *ret, const struct buffer *in, struct error *err)
{
        *ret = (struct judge_request){
                .name = "", .title = "", .description = "", .submission_md = ""};
        return reading_open(&ret->doc, in, CODE_JUDGE_INVALID, err) < 0 ? -1
                                                                        : read_document(ret, err);
}

void judge_request_free(struct judge_request *q)
{
        list_free(&q->rubric);
        list_free(&q->files);
        list_free(&q->tests);
        json_free(&q->doc);
}
