/* The limits of a task; see task_limits.h. */
#include "task_limits.h"

#include "task_keys.h"

static const char *limit_name(const void *names, size_t i)
{
        (void)names;
        return limit_info((enum limit)i)->name;
}

static void say_unknown_limit(struct reading *r, const struct spot *s)
{
        const char *near = suggest(s->key, limit_name, NULL, LIMIT_COUNT);

        if (near)
                reading_problem(r, s, "is not a limit; did you mean \"%s\"?", near);
        else
                reading_problem(r, s, "is not a limit");
}

/* A plain number counts in seconds or bytes, by the limit's unit. */
static bool read_limit(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const enum limit limit = (enum limit)f->argument;
        const char *text = json_string_value(s->value.node);
        char number[NUMBER_TEXT_SIZE + 1];
        struct error err;

        if (json_is_number(s->value.node)) {
                json_number_text(s->value, number, NUMBER_TEXT_SIZE);
                if (limit_info(limit)->unit == UNIT_TIME)
                        memcpy(number + strlen(number), "s", 2);
                text = number;
        }
        if (text && limit_parse(limit, text, to, &err) < 0)
                reading_problem(r, s, "%s", err.text);
        return text;
}

static void want_limit(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number, or a text such as \"10s\" or \"1GiB\"");
}

const struct field_type task_limit = {read_limit, want_limit};

/* That the operator must agree shows when it is run. */
static const struct choice networks[] = {{"none", false}, {"outbound", true}, {0}};
static const struct choice no_networks[] = {{"none", false}, {0}};
static const struct field network_forms[] = {{.type = &field_choice, .choices = networks}, {0}};
static const struct field no_network_forms[] = {
        {.type = &field_choice, .choices = no_networks}, {0}};

static bool read_network(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        unsigned outbound = false;
        const bool good = field_choice.read(r, f->forms, s, &outbound);

        *(bool *)to = outbound;
        return good;
}

static void want_network(const struct field *f, char *out, size_t size)
{
        field_choice.want(f->forms, out, size);
}

static const struct field_type network_type = {read_network, want_network};

static bool read_no_network(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        if (!read_network(r, f, s, to))
                reading_problem(r, s, "must be \"none\": a submission cell never has a network");
        return true;
}

static const struct field_type no_network = {read_no_network, want_network};

static bool read_no_result(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)f;
        (void)to;
        reading_problem(r, s, "a submission cell writes no result");
        return true;
}

static void want_no_result(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "absent");
}

static const struct field_type no_result = {read_no_result, want_no_result};

static const struct field suite_limit_rows[] = {
        FIELD("network", network_type, OPTIONAL, struct task_limits, network,
                .forms = network_forms),
        FIELD("total_memory", field_bytes, OPTIONAL, struct task_limits, total_memory,
                .least = 1 << 20, .most = TASK_MAX_SIZE),
};
static const struct field submission_limit_rows[] = {
        FIELD("network", no_network, OPTIONAL, struct task_limits, network,
                .forms = no_network_forms),
        WHOLE_FIELD("result", no_result, OPTIONAL),
};
const struct fields task_suite_limits = FIELDS(suite_limit_rows, UNKNOWN_IS_PROBLEM);
const struct fields task_submission_limits = FIELDS(submission_limit_rows, UNKNOWN_IS_PROBLEM);

static void read_any_limit(struct reading *r, const struct fields *others, const struct spot *s,
        struct task_limits *to)
{
        const enum limit limit = limit_find(s->key);
        const struct field row = {.type = &task_limit, .argument = limit};
        const struct field *other = field_find(others, s->key);

        if (other)
                field_read(r, other, s, (char *)to + other->offset);
        else if (limit == LIMIT_COUNT)
                say_unknown_limit(r, s);
        else {
                field_read(r, &row, s, &to->value[limit]);
                to->given[limit] = true;
        }
}

static bool read_limits(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct json_value child;

        if (!json_is_object(s->value.node))
                return false;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);

                read_any_limit(r, f->fields, &below, to);
        }
        return true;
}

static void want_limits(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object of limits");
}

const struct field_type task_limits = {read_limits, want_limits};
