/* task.json to a struct task: the tables of its keys. What the contract has and this version has
 * not is a row all the same: the message then says so, instead of "unknown key". */
#include "task.h"

#include "answer.h"
#include "task_keys.h"
#include "task_limits.h"

/* Of another scheme: of dimensions, or of composite. */
static bool read_other_scheme(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)to;
        reading_problem(r, s, "belongs to \"scheme\": \"%s\"",
                f->argument == SCHEME_DIMENSIONS ? "dimensions" : "composite");
        return true;
}

static void want_absent(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "absent");
}

static const struct field_type other_scheme = {read_other_scheme, want_absent};

#define OTHER_SCHEME(name, scheme)                                                                 \
        {                                                                                          \
                .key = name, .type = &other_scheme, .argument = scheme                             \
        }

static const struct choice schemas[] = {{"assay.task/1", 0}, {0}};
static const struct choice contract_names[] = {
        {"straw", CONTRACT_STRAW},
        {"gradescope", CONTRACT_GRADESCOPE},
        {"prairielearn", CONTRACT_PRAIRIELEARN},
        {"codabench", CONTRACT_CODABENCH},
        {"harbor", CONTRACT_HARBOR},
        {"evaluator", CONTRACT_EVALUATOR},
        {0},
};
const struct choice task_schemes[] = {
        {"blend", SCHEME_BLEND},
        {"dimensions", SCHEME_DIMENSIONS},
        {"composite", SCHEME_COMPOSITE},
        {0},
};
static const struct choice modes[] = {
        {"llm", MODE_LLM},
        {"container", MODE_CONTAINER},
        {"hybrid", MODE_HYBRID},
        {0},
};
static const struct choice llm_missings[] = {
        {"pending", LLM_MISSING_PENDING},
        {"error", LLM_MISSING_ERROR},
        {"zero", LLM_MISSING_ZERO},
        {0},
};
const struct choice task_sources[] = {
        {"test", SOURCE_TEST},
        {"llm", SOURCE_LLM},
        {0},
};
const struct task_format task_formats[TASK_FORMATS] = {
        {"score.json", "score.json", EXIT_STRICT},
        {"gradescope", "results.json", EXIT_RESULT},
        {"prairielearn", "results.json", EXIT_STRICT},
        {"codabench", "scores.json", EXIT_STRICT},
        {"harbor", "reward.json", EXIT_RESULT},
        {"ctrf", "ctrf.json", EXIT_RESULT},
        {"junit", "junit.xml", EXIT_RESULT},
        {"tap", "results.tap", EXIT_RESULT},
        {"exit-code", "", EXIT_RESULT},
        {"stdout-json", "", EXIT_STRICT},
};
static const struct choice formats[] = {
        {"score.json", 0},
        {"gradescope", 1},
        {"prairielearn", 2},
        {"codabench", 3},
        {"harbor", 4},
        {"ctrf", 5},
        {"junit", 6},
        {"tap", 7},
        {"exit-code", 8},
        {"stdout-json", 9},
        {0},
};
static const struct choice on_limits[] = {
        {"error", ON_LIMIT_ERROR},
        {"zero", ON_LIMIT_ZERO},
        {"partial", ON_LIMIT_PARTIAL},
        {0},
};
static const struct choice exits[] = {
        {"strict", EXIT_STRICT},
        {"result", EXIT_RESULT},
        {0},
};
static const struct choice failures[] = {
        {"zero", BUILD_ZERO},
        {"reject", BUILD_REJECT},
        {0},
};
static const struct choice link_rules[] = {{"reject", 0}, {"drop", 1}, {0}};
const struct choice task_visibilities[] = {
        {"hidden", VISIBILITY_HIDDEN},
        {"visible", VISIBILITY_VISIBLE},
        {"after_due", VISIBILITY_AFTER_DUE},
        {"after_published", VISIBILITY_AFTER_PUBLISHED},
        {0},
};

static const struct field criterion_rows[] = {
        FIELD("name", field_text, REQUIRED, struct criterion, name, .least = 1, .most = 200,
                .check = task_check_line),
        FIELD("description", field_text, OPTIONAL, struct criterion, description,
                .most = SCORE_MAX_TEXT),
        FIELD("weight", field_whole, REQUIRED, struct criterion, weight, .least = 1, .most = 100),
        FIELD("source", field_choice, OPTIONAL, struct criterion, source, .choices = task_sources),
        FIELD("tests", field_texts, OPTIONAL, struct criterion, tests, .least = 1, .most = 100,
                .check = task_check_test_pattern),
};
static const struct criterion criterion_default = {
        .name = "", .description = "", .source = NOT_GIVEN};
static const struct fields criterion_fields = {
        criterion_rows, COUNT(criterion_rows), UNKNOWN_IS_PROBLEM, &criterion_default};

static const struct field scoring_rows[] = {
        FIELD("scheme", field_choice, OPTIONAL, struct scoring, scheme, .choices = task_schemes),
        FIELD("mode", field_choice, OPTIONAL, struct scoring, mode, .choices = modes),
        FIELD("test_weight", field_whole, OPTIONAL, struct scoring, test_weight, .most = 100),
        FIELD("llm_weight", field_whole, OPTIONAL, struct scoring, llm_weight, .most = 100),
        WHOLE_FIELD("pass", task_pass, OPTIONAL, .forms = task_pass_forms),
        FIELD("llm_missing", field_choice, OPTIONAL, struct scoring, llm_missing,
                .choices = llm_missings),
        FIELD("rubric", field_list, OPTIONAL, struct scoring, rubric, .least = 1, .most = 100,
                .fields = &criterion_fields, .item_size = sizeof(struct criterion)),
        OTHER_SCHEME("dimensions", SCHEME_DIMENSIONS),
        OTHER_SCHEME("constraints", SCHEME_DIMENSIONS),
        OTHER_SCHEME("format", SCHEME_DIMENSIONS),
        OTHER_SCHEME("time_limit", SCHEME_DIMENSIONS),
        OTHER_SCHEME("difficulty", SCHEME_DIMENSIONS),
        OTHER_SCHEME("max_budget", SCHEME_COMPOSITE),
        OTHER_SCHEME("max_latency", SCHEME_COMPOSITE),
        OTHER_SCHEME("min_steps", SCHEME_COMPOSITE),
        OTHER_SCHEME("max_attempts", SCHEME_COMPOSITE),
        OTHER_SCHEME("quality", SCHEME_COMPOSITE),
};
static const struct fields scoring_fields = FIELDS(scoring_rows, UNKNOWN_IS_PROBLEM);

/* The scheme decides which keys there are. */
enum { BY_BLEND, BY_DIMENSIONS, BY_COMPOSITE };

static const struct field scoring_forms[] = {
        [BY_BLEND] = {.type = &field_object, .fields = &scoring_fields},
        [BY_DIMENSIONS] = {.type = &field_object, .fields = &spec_fields},
        [BY_COMPOSITE] = {.type = &field_object, .fields = &composite_spec_fields},
        {0},
};

static bool read_scoring(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *scheme = json_string_value(json_object_get(s->value.node, "scheme"));
        struct task *t = to;
        struct scoring *scoring = &t->scoring;

        if (scheme && strcmp(scheme, "composite") == 0) {
                scoring->scheme = SCHEME_COMPOSITE;
                workflow_read_scoring(r, s, &t->workflow);
                return true;
        }
        if (!scheme || strcmp(scheme, "dimensions") != 0)
                return field_object.read(r, &f->forms[BY_BLEND], s, scoring);
        scoring->scheme = SCHEME_DIMENSIONS;
        r->prefix = "scoring.";
        spec_read_at(r, s, true, &scoring->spec);
        r->prefix = "";
        return true;
}

static void want_scoring(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object");
}

static const struct field_type scoring_type = {read_scoring, want_scoring};

static const struct field suite_rows[] = {
        FIELD("command", field_texts, OPTIONAL, struct suite, command, .least = 1, .most = 1000),
        FIELD("env", task_env, OPTIONAL, struct suite, env, .forms = task_env_forms),
        FIELD("broker", field_boolean, OPTIONAL, struct suite, broker),
        FIELD("sees_submission", field_boolean, OPTIONAL, struct suite, sees_submission),
};
static const struct fields suite_fields = FIELDS(suite_rows, UNKNOWN_IS_PROBLEM);

static const struct field result_rows[] = {
        FIELD("format", field_choice, OPTIONAL, struct result, format, .choices = formats),
        FIELD("path", field_text, OPTIONAL, struct result, path, .least = 1,
                .most = SCORE_MAX_PLACE, .check = task_check_place),
        FIELD("on_limit", field_choice, OPTIONAL, struct result, on_limit, .choices = on_limits),
        FIELD("exit", field_choice, OPTIONAL, struct result, exit, .choices = exits),
        FIELD("key", field_text, OPTIONAL, struct result, key, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = task_check_line),
        FIELD("min", field_number, OPTIONAL, struct result, min),
        FIELD("max", field_number, OPTIONAL, struct result, max),
        FIELD("planned", field_whole, OPTIONAL, struct result, planned, .least = 1,
                .most = SCORE_MAX_MANY),
};
static const struct fields result_fields = FIELDS(result_rows, UNKNOWN_IS_PROBLEM);

static const struct field build_rows[] = {
        FIELD("command", field_texts, REQUIRED, struct build, command, .least = 1, .most = 1000),
        FIELD("on_failure", field_choice, OPTIONAL, struct build, on_failure, .choices = failures),
};
static const struct fields build_fields = FIELDS(build_rows, UNKNOWN_IS_PROBLEM);

static const struct field required_rows[] = {
        FIELD("path", field_text, REQUIRED, struct required_file, path, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = task_check_relative),
        FIELD("max_size", field_bytes, OPTIONAL, struct required_file, max_size, .least = 1,
                .most = TASK_MAX_SIZE),
};
static const struct required_file required_default = {.path = ""};
static const struct fields required_fields = {
        required_rows, COUNT(required_rows), UNKNOWN_IS_PROBLEM, &required_default};

static const struct field pattern_rows[] = {
        FIELD("glob", field_text, REQUIRED, struct required_pattern, glob, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = task_check_pattern),
        FIELD("min_files", field_whole, OPTIONAL, struct required_pattern, min_files, .least = 1,
                .most = 1000000),
};
static const struct required_pattern pattern_default = {.glob = "", .min_files = 1};
static const struct fields pattern_fields = {
        pattern_rows, COUNT(pattern_rows), UNKNOWN_IS_PROBLEM, &pattern_default};

static const struct field submission_rows[] = {
        FIELD("limits", task_limits, OPTIONAL, struct submission, limits,
                .fields = &task_submission_limits),
        FIELD("max_entries", field_whole, OPTIONAL, struct submission, max_entries, .least = 1,
                .most = 1000000),
        FIELD("max_unpacked", field_bytes, OPTIONAL, struct submission, max_unpacked, .least = 1,
                .most = TASK_MAX_SIZE),
        FIELD("max_archive", field_bytes, OPTIONAL, struct submission, max_archive, .least = 1,
                .most = TASK_MAX_SIZE),
        FIELD("strip_common_root", field_boolean, OPTIONAL, struct submission, strip_common_root),
        FIELD("links", field_choice, OPTIONAL, struct submission, links_drop,
                .choices = link_rules),
        FIELD("required_files", field_list, OPTIONAL, struct submission, required_files,
                .most = 1000, .fields = &required_fields,
                .item_size = sizeof(struct required_file)),
        FIELD("required_patterns", field_list, OPTIONAL, struct submission, required_patterns,
                .most = 1000, .fields = &pattern_fields,
                .item_size = sizeof(struct required_pattern)),
        FIELD("image", task_submission_image, OPTIONAL, struct submission, image,
                .forms = task_submission_image_forms),
        FIELD("env", task_env, OPTIONAL, struct submission, env, .forms = task_env_forms),
};
static const struct fields submission_fields = FIELDS(submission_rows, UNKNOWN_IS_PROBLEM);

static const struct field visibility_rows[] = {
        FIELD("tests", field_choice, OPTIONAL, struct visibility, tests,
                .choices = task_visibilities),
        FIELD("stdout", field_choice, OPTIONAL, struct visibility, output,
                .choices = task_visibilities),
        FIELD("due", field_text, OPTIONAL, struct visibility, due, .least = 1, .most = 64,
                .check = task_check_time),
};
static const struct fields visibility_fields = FIELDS(visibility_rows, UNKNOWN_IS_PROBLEM);

static const struct field task_rows[] = {
        FIELD("schema", field_choice, REQUIRED, struct task, schema, .choices = schemas),
        FIELD("name", field_text, REQUIRED, struct task, name, .least = 1, .most = 100,
                .check = task_check_name),
        FIELD("title", field_text, OPTIONAL, struct task, title, .most = SCORE_MAX_NAME - 1,
                .check = task_check_line),
        FIELD("description", field_text, OPTIONAL, struct task, description,
                .most = SCORE_MAX_TEXT),
        FIELD("image", field_text, OPTIONAL, struct task, image, .least = 1, .most = 200,
                .check = task_check_image),
        FIELD("contract", field_choice, OPTIONAL, struct task, contract, .choices = contract_names),
        WHOLE_FIELD("scoring", scoring_type, OPTIONAL, .forms = scoring_forms),
        FIELD("suite", field_object, OPTIONAL, struct task, suite, .fields = &suite_fields),
        FIELD("result", field_object, OPTIONAL, struct task, result, .fields = &result_fields),
        FIELD("limits", task_limits, OPTIONAL, struct task, limits, .fields = &task_suite_limits),
        FIELD("submission", field_object, OPTIONAL, struct task, submission,
                .fields = &submission_fields),
        FIELD("visibility", field_object, OPTIONAL, struct task, visibility,
                .fields = &visibility_fields),
        WHOLE_FIELD("judge", task_judge, OPTIONAL, .forms = task_judge_forms),
        FIELD("build", field_object, OPTIONAL, struct task, build, .fields = &build_fields),
        FIELD("cases", task_cases, OPTIONAL, struct task, cases, .forms = task_cases_forms),
        FIELD("tools", task_tools, OPTIONAL, struct task, workflow, .forms = task_tools_forms),
};
static const struct fields task_fields = FIELDS(task_rows, UNKNOWN_IS_PROBLEM);

static const struct task task_default = {
        .name = "",
        .title = "",
        .description = "",
        .image = "host",
        .contract = CONTRACT_STRAW,
        .judge_name = "default",
        .scoring = {.scheme = SCHEME_BLEND,
                .mode = NOT_GIVEN,
                .llm_missing = LLM_MISSING_PENDING,
                .test_weight = NOT_GIVEN,
                .llm_weight = NOT_GIVEN},
        .suite = {.sees_submission = true},
        .result = {.format = NOT_GIVEN, .on_limit = ON_LIMIT_ERROR, .exit = NOT_GIVEN, .key = ""},
        .build = {.on_failure = BUILD_ZERO},
        .visibility = {VISIBILITY_VISIBLE, VISIBILITY_HIDDEN, ""},
        .submission = {.max_entries = 1000,
                .max_unpacked = 500ULL << 20,
                .max_archive = 200ULL << 20,
                .strip_common_root = true},
};

const struct field task_document = {.type = &field_object, .fields = &task_fields};

void task_read(struct reading *r, struct task *ret)
{
        const struct spot root = {.value = json_root(r->doc)};

        *ret = task_default;
        field_read(r, &task_document, &root, ret);
}

void task_free(struct task *t)
{
        struct criterion *criteria = t->scoring.rubric.items;

        for (size_t i = 0; i < t->scoring.rubric.count; i++)
                list_free(&criteria[i].tests);
        list_free(&t->scoring.rubric);
        spec_free(&t->scoring.spec);
        list_free(&t->build.command);
        list_free(&t->judge_command);
        cases_free(&t->cases);
        workflow_free(&t->workflow);
        list_free(&t->suite.command);
        list_free(&t->submission.image.hide);
        list_free(&t->submission.required_files);
        list_free(&t->submission.required_patterns);
}

static int answer_document(const struct json *doc, struct buffer *out, struct error *err)
{
        struct reading r;
        struct task task;
        int result = 0;

        reading_begin(&r, doc);
        task_read(&r, &task);
        task_check(&r, &task);
        if (r.problems.count > 0) {
                reading_put_problems(&r, out);
                result = error_set(err, CODE_TASK_INVALID, "task.json has %zu problem%s",
                        r.problems.count, r.problems.count == 1 ? "" : "s");
        } else {
                task_put(&task, out);
                task_put_places(&r, out);
                reading_put_warnings(&r, out);
        }
        task_free(&task);
        return result;
}

int task_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct json_fault fault;

        if (json_read(&doc, in->data, in->len, &fault) == 0)
                return answer_document(&doc, out, err);
        answer_problem(out, fault.line, fault.column, "", fault.text);
        return error_set(err, CODE_TASK_INVALID, "task.json is not strict JSON");
}
