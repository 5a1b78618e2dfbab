/* operator.json to frames; see policy.h. Its limits are written like those of task.json. */
#include "policy.h"

#include "answer.h"
#include "fields.h"
#include "task.h"
#include "task_keys.h"
#include "task_limits.h"

struct ceilings { /* of the submission, and of its cells */
        struct task_limits limits;
        uint64_t max_entries, max_unpacked, max_archive; /* 0: any */
};

struct policy {
        unsigned schema;
        struct task_limits limits;
        struct ceilings submission;
        struct list judges; /* of struct judge */
        bool host_image, pull;
};

struct judge {
        const char *name;
        struct list command; /* of const char * */
};

static const struct choice schemas[] = {{"assay.operator/1", 0}, {0}};

static const struct field judge_rows[] = {
        FIELD("command", field_texts, REQUIRED, struct judge, command, .least = 1, .most = 100),
};
static const struct fields judge_fields = FIELDS(judge_rows, UNKNOWN_IS_PROBLEM);

static const struct field judges_forms[] = {
        {.key = "*", .type = &field_object, .fields = &judge_fields},
        {0},
};

static void read_judge(struct reading *r, const struct spot *s, struct judge *to)
{
        const char *bad = task_check_name(s->key), *program;

        if (bad)
                reading_problem(r, s, "%s", bad);
        to->name = s->key;
        field_read(r, judges_forms, s, to);
        if (to->command.count == 0)
                return;
        program = *(const char **)to->command.items;
        if (*program != '/' && strcmp(program, "assay-judge") != 0)
                reading_problem(r, s,
                        "its command must begin with \"assay-judge\" or with the absolute path "
                        "of a program");
}

static bool read_judges(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct list *judges = to;
        struct json_value child;
        size_t i = 0;

        (void)f;
        if (!json_is_object(s->value.node) || json_object_size(s->value.node) > SCORE_MAX_JUDGES)
                return false;
        if (!list_make(judges, json_object_size(s->value.node), sizeof(struct judge), r, s))
                return true;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);

                read_judge(r, &below, (struct judge *)judges->items + i++);
        }
        return true;
}

static void want_judges(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size,
                "an object of at most %d judges, such as {\"default\": {\"command\": …}}",
                SCORE_MAX_JUDGES);
}

static const struct field_type judges_type = {read_judges, want_judges};

static const struct field submission_rows[] = {
        FIELD("limits", task_limits, OPTIONAL, struct ceilings, limits,
                .fields = &task_submission_limits),
        FIELD("max_entries", field_whole, OPTIONAL, struct ceilings, max_entries, .least = 1,
                .most = 1000000),
        FIELD("max_unpacked", field_bytes, OPTIONAL, struct ceilings, max_unpacked, .least = 1,
                .most = TASK_MAX_SIZE),
        FIELD("max_archive", field_bytes, OPTIONAL, struct ceilings, max_archive, .least = 1,
                .most = TASK_MAX_SIZE),
};
static const struct fields submission_fields = FIELDS(submission_rows, UNKNOWN_IS_PROBLEM);

static const struct field policy_rows[] = {
        FIELD("schema", field_choice, REQUIRED, struct policy, schema, .choices = schemas),
        FIELD("limits", task_limits, OPTIONAL, struct policy, limits, .fields = &task_suite_limits),
        FIELD("submission", field_object, OPTIONAL, struct policy, submission,
                .fields = &submission_fields),
        FIELD("judges", judges_type, OPTIONAL, struct policy, judges, .forms = judges_forms),
        FIELD("host_image", field_boolean, OPTIONAL, struct policy, host_image),
        FIELD("pull", field_boolean, OPTIONAL, struct policy, pull),
};
static const struct fields policy_fields = FIELDS(policy_rows, UNKNOWN_IS_PROBLEM);
const struct field policy_document = {.type = &field_object, .fields = &policy_fields};

static void put_ceilings(struct buffer *out, const struct task_limits *limits, enum cell_kind kind)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                size_t at;

                if (!limits->given[i])
                        continue;
                at = answer_begin(out, POLICY_CEILING);
                put_u8(out, (uint8_t)kind);
                put_u8(out, (uint8_t)i);
                put_u64(out, limits->value[i]);
                answer_end(out, at);
        }
}

static void put_policy(struct buffer *out, const struct policy *p)
{
        const struct judge *judges = p->judges.items;
        size_t at = answer_begin(out, POLICY_PERMITS);

        put_u8(out, p->limits.network);
        put_u8(out, p->host_image);
        put_u8(out, p->pull);
        answer_end(out, at);
        put_ceilings(out, &p->limits, CELL_SUITE);
        put_ceilings(out, &p->submission.limits, CELL_SUBMISSION);
        at = answer_begin(out, POLICY_SUBMISSION);
        put_u64(out, p->limits.total_memory);
        put_u64(out, p->submission.max_entries);
        put_u64(out, p->submission.max_unpacked);
        put_u64(out, p->submission.max_archive);
        answer_end(out, at);
        for (size_t i = 0; i < p->judges.count; i++) {
                at = answer_begin(out, POLICY_JUDGE);
                put_text(out, judges[i].name);
                put_texts(out, &judges[i].command);
                answer_end(out, at);
        }
}

static void policy_free(struct policy *p)
{
        struct judge *judges = p->judges.items;

        for (size_t i = 0; i < p->judges.count; i++)
                list_free(&judges[i].command);
        list_free(&p->judges);
}

int policy_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct policy policy = {0};
        struct reading r;
        int result;

        if (reading_open(&doc, in, CODE_POLICY_INVALID, err) < 0)
                return -1;
        reading_begin(&r, &doc);
        field_read(&r, &policy_document, &(struct spot){.value = json_root(&doc)}, &policy);
        result = reading_error(&r, CODE_POLICY_INVALID, err);
        if (result == 0)
                put_policy(out, &policy);
        policy_free(&policy);
        return result;
}
