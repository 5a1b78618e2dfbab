/* The document of a workflow, read by tables and checked as a whole; see workflow.h. */
#include "workflow.h"

#include "answer.h"
#include "task_keys.h"
#include "task_workflow.h"

#include <stdlib.h>

enum { MOST_DEPENDENCIES = 100 };

struct workflow {
        struct list steps; /* of struct workflow_step */
        struct json_value error_handling;
};

/* Keys that are not known may be somebody's notes: they are warned of. */

/* --- tables --------------------------------------------------------------------------------- */

static bool read_value(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)r;
        (void)f;
        *(struct json_value *)to = s->value;
        return true;
}

static bool read_handling(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return json_is_object(s->value.node) && read_value(r, f, s, to);
}

static void want_value(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object, such as {\"b\": {\"retry_count\": 2}}");
}

/* What the input refers to is found while its way is known. */
static bool read_input(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct workflow_step *step = to;
        size_t len;

        (void)f;
        step->input = s->value;
        json_raw(s->value, &len);
        if (len > SCORE_MAX_INPUT)
                reading_problem(r, s, "has more than %d bytes", SCORE_MAX_INPUT);
        references_find(r, s, &step->references);
        return true;
}

static const struct field_type step_input = {read_input, want_value},
                               workflow_handling = {read_handling, want_value};

static const struct field step_rows[] = {
        FIELD("id", field_text, REQUIRED, struct workflow_step, id, .least = 1, .most = 100,
                .check = task_check_line),
        FIELD("tool", field_text, REQUIRED, struct workflow_step, tool, .least = 1, .most = 100),
        WHOLE_FIELD("input", step_input, OPTIONAL),
        FIELD("depends_on", field_texts, OPTIONAL, struct workflow_step, depends_on,
                .most = MOST_DEPENDENCIES),
        FIELD("timeout_seconds", field_positive, OPTIONAL, struct workflow_step, timeout),
};
static const struct workflow_step step_default = {.id = "", .tool = ""};
static const struct fields step_fields = {
        step_rows, COUNT(step_rows), UNKNOWN_WARNS, &step_default};
static const struct field workflow_rows[] = {
        FIELD("steps", field_list, REQUIRED, struct workflow, steps, .least = 1,
                .most = SCORE_MAX_STEPS, .fields = &step_fields,
                .item_size = sizeof(struct workflow_step)),
        FIELD("error_handling", workflow_handling, OPTIONAL, struct workflow, error_handling),
};
static const struct fields workflow_fields = FIELDS(workflow_rows, UNKNOWN_WARNS);
static const struct field whole = {.type = &field_object, .fields = &workflow_fields};

struct handling {
        uint64_t retry_count;
};
static const struct field handling_rows[] = {
        FIELD("retry_count", field_whole, OPTIONAL, struct handling, retry_count,
                .most = SCORE_MAX_ATTEMPTS - 1),
};
static const struct fields handling_fields = FIELDS(handling_rows, UNKNOWN_WARNS);

/* --- checks --------------------------------------------------------------------------------- */

struct tools {
        char **names;
        size_t count;
};

static const char *tool_at(const void *names, size_t i)
{
        return ((char *const *)names)[i];
}

static void check_tool(struct reading *r, const struct tools *t, struct workflow_step *s, size_t i)
{
        const char *near;
        char path[64];

        while (s->tool_index < t->count && strcmp(t->names[s->tool_index], s->tool) != 0)
                s->tool_index++;
        if (s->tool_index < t->count || !*s->tool)
                return;
        snprintf(path, sizeof path, "steps[%zu].tool", i);
        near = suggest(s->tool, tool_at, t->names, t->count);
        if (near)
                reading_problem_at(r, path, "is no tool of this task; did you mean \"%s\"?", near);
        else
                reading_problem_at(r, path, "is no tool of this task");
}

static void check_timeout(struct reading *r, struct workflow_step *s, size_t i)
{
        enum { MILLION = 1000000, DAY = 86400 };
        char path[64];

        snprintf(path, sizeof path, "steps[%zu].timeout_seconds", i);
        if (*s->timeout &&
                (workflow_units(s->timeout, MILLION, (uint64_t)DAY * MILLION, &s->timeout_us) < 0 ||
                        s->timeout_us == 0))
                reading_problem_at(
                        r, path, "must be above 0 and at most %d, with at most 6 decimals", DAY);
}

static void read_retries(struct reading *r, const struct graph *g, struct json_value handling)
{
        static const struct field one = {.type = &field_object, .fields = &handling_fields};
        const struct spot root = {.value = json_root(r->doc)};
        const struct spot all = {.up = &root, .key = "error_handling", .value = handling};
        struct json_value child;

        for (struct json_walk w = json_walk(handling); json_next(&w, &child);) {
                const struct spot here = spot_below(&all, &w, child);
                struct workflow_step *s = graph_find(g, w.key);
                struct handling h = {0};

                field_read(r, &one, &here, &h);
                if (s)
                        s->retry_count = h.retry_count;
                else
                        reading_problem(r, &here, "is the id of no step");
        }
}

/* What a step wants must be there when it begins. */
static void check_references(
        struct reading *r, const struct graph *g, const struct workflow_step *s)
{
        const struct reference *refs = s->references.items;
        char path[64];

        snprintf(path, sizeof path, "steps[%zu].input", (size_t)(s - g->steps));
        for (size_t i = 0; i < s->references.count; i++) {
                const struct workflow_step *other = graph_find(g, refs[i].from);

                if (!other)
                        reading_problem_at(r, path,
                                "wants the output of \"%.100s\", which is no step", refs[i].from);
                else if (!graph_reaches(g, s, other))
                        reading_problem_at(r, path,
                                "wants the output of \"%.100s\", which the step does not depend "
                                "on; name "
                                "it in depends_on",
                                other->id);
        }
}

static void check(
        struct reading *r, struct graph *g, const struct workflow *w, const struct tools *tools)
{
        struct workflow_step *steps = w->steps.items;

        for (size_t i = 0; i < w->steps.count; i++) {
                check_tool(r, tools, &steps[i], i);
                check_timeout(r, &steps[i], i);
        }
        graph_make(g, r, steps, w->steps.count);
        read_retries(r, g, w->error_handling);
        for (size_t i = 0; r->problems.count == 0 && i < w->steps.count; i++)
                check_references(r, g, &steps[i]);
}

/* --- the answer ----------------------------------------------------------------------------- */

static void put_references(const struct graph *g, const struct workflow_step *s, struct buffer *out)
{
        const struct reference *refs = s->references.items;
        unsigned char *wanted = calloc(g->count, 1);
        uint32_t count = 0;

        out->failed |= !wanted;
        for (size_t i = 0; wanted && i < s->references.count; i++) {
                const size_t place = graph_find(g, refs[i].from)->place;

                count += !wanted[place];
                wanted[place] = 1;
        }
        put_u32(out, count);
        for (size_t i = 0; wanted && i < g->count; i++)
                if (wanted[i])
                        put_u32(out, (uint32_t)i);
        free(wanted);
}

static void put_step(const struct graph *g, const struct workflow_step *s, struct buffer *out)
{
        const size_t *needs = s->needs.items;
        const char *raw = "{}";
        size_t len = 2, at = answer_begin(out, WORKFLOW_STEP);

        if (s->input.node)
                raw = json_raw(s->input, &len);
        put_text(out, s->id);
        put_u32(out, (uint32_t)s->tool_index);
        put_u32(out, (uint32_t)s->retry_count);
        put_u64(out, s->timeout_us);
        put_u32(out, (uint32_t)s->needs.count);
        for (size_t i = 0; i < s->needs.count; i++)
                put_u32(out, (uint32_t)g->steps[needs[i]].place);
        put_references(g, s, out);
        put_bytes(out, raw, len);
        answer_end(out, at);
}

static int answer_document(
        const struct json *doc, const struct tools *tools, struct buffer *out, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct workflow w = {0};
        struct graph g = {0};
        struct reading r;
        struct workflow_step *steps;
        int result;

        reading_begin(&r, doc);
        field_read(&r, &whole, &root, &w);
        steps = w.steps.items;
        if (r.problems.count == 0)
                check(&r, &g, &w, tools);
        result = reading_error(&r, CODE_WORKFLOW_INVALID, err);
        for (size_t i = 0; result == 0 && i < g.count; i++)
                put_step(&g, &steps[g.order[i]], out);
        if (result == 0)
                reading_put_warnings(&r, out);
        graph_free(&g);
        for (size_t i = 0; i < w.steps.count; i++) {
                list_free(&steps[i].depends_on);
                list_free(&steps[i].references);
                list_free(&steps[i].needs);
        }
        list_free(&w.steps);
        return result;
}

static int workflow_plan(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct reader options = q->options;
        struct tools tools = {.count = get_u32(&options)};
        int r = 0;

        if (tools.count > SCORE_MAX_TOOLS)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        tools.names = calloc(tools.count + 1, sizeof *tools.names);
        if (!tools.names)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (size_t i = 0; i < tools.count; i++)
                tools.names[i] = get_new_text(&options, SCORE_MAX_NAME);
        if (!reader_done(&options))
                r = error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (r == 0)
                r = reading_open(
                        &doc, &q->documents[DOCUMENT_SUBMISSION].bytes, CODE_WORKFLOW_INVALID, err);
        if (r == 0)
                r = answer_document(&doc, &tools, out, err);
        for (size_t i = 0; i < tools.count; i++)
                free(tools.names[i]);
        free(tools.names);
        return r;
}

int workflow_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        static const struct {
                uint16_t type;
                int (*answer)(const struct request *q, struct buffer *out, struct error *err);
        } rows[] = {
                {REQUEST_WORKFLOW, workflow_plan},
                {REQUEST_INPUT, workflow_input},
                {REQUEST_OUTPUT, workflow_output},
                {REQUEST_QUALITY, workflow_quality},
        };
        struct request q;
        int r = request_read(&q, in, err);
        size_t i = 0;

        while (r == 0 && i < COUNT(rows) && rows[i].type != q.type)
                i++;
        if (r == 0)
                r = i < COUNT(rows)
                            ? rows[i].answer(&q, out, err)
                            : error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        request_free(&q);
        return r;
}
