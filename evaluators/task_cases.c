/* The cases of a task; see task_cases.h. */
#include "task_cases.h"

#include "answer.h"
#include "task_keys.h"
#include "task_limits.h"

#include "quantity.h"

enum { MOST_GROUPS = 1000, MOST_CASES = 20000, MOST_INLINE = 64 << 10, MOST_WORDS = 1000 };

/* --- what a case is compared by ------------------------------------------------------------- */

static const struct choice protocols[] = {
        {"plain", CHECKER_PLAIN},
        {"kattis", CHECKER_KATTIS},
        {"testlib", CHECKER_TESTLIB},
        {0},
};

static const struct field numeric_rows[] = {
        FIELD("abs", field_number_text, OPTIONAL, struct comparing, abs),
        FIELD("rel", field_number_text, OPTIONAL, struct comparing, rel),
};
static const struct fields numeric_fields = FIELDS(numeric_rows, UNKNOWN_IS_PROBLEM);

static const struct field compare_rows[] = {
        WHOLE_FIELD("numeric", field_object, OPTIONAL, .fields = &numeric_fields),
        FIELD("regex", field_text, OPTIONAL, struct comparing, pattern, .least = 1, .most = 1000),
        FIELD("contains", field_text, OPTIONAL, struct comparing, pattern, .least = 1,
                .most = SCORE_MAX_TEXT),
        FIELD("checker", field_texts, OPTIONAL, struct comparing, checker, .least = 1,
                .most = MOST_WORDS),
        FIELD("protocol", field_choice, OPTIONAL, struct comparing, protocol, .choices = protocols),
};
static const struct fields compare_fields = FIELDS(compare_rows, UNKNOWN_IS_PROBLEM);

/* By which key the object compares: one, and `protocol` only beside a checker. */
static bool find_key(const struct spot *s, unsigned *ret)
{
        static const struct {
                const char *key;
                unsigned how;
        } keys[] = {{"numeric", COMPARE_NUMERIC}, {"regex", COMPARE_REGEX},
                {"contains", COMPARE_CONTAINS}, {"checker", COMPARE_EXACT}};
        unsigned found = 0;

        for (size_t i = 0; i < COUNT(keys); i++)
                if (json_object_get(s->value.node, keys[i].key)) {
                        *ret = keys[i].how;
                        found++;
                }
        return found == 1;
}

enum { BY_WORD, BY_OBJECT };

static const struct choice compare_words[] = {
        {"exact", COMPARE_EXACT}, {"tokens", COMPARE_TOKENS}, {0}};
static const struct field compare_forms[] = {
        [BY_WORD] = {.type = &field_choice, .choices = compare_words},
        [BY_OBJECT] = {.type = &field_object, .fields = &compare_fields},
        {0},
};

static bool read_compare(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct comparing *c = to;

        c->how = NOT_GIVEN;
        if (!json_is_object(s->value.node))
                return field_choice.read(r, &f->forms[BY_WORD], s, &c->how);
        field_read(r, &f->forms[BY_OBJECT], s, c);
        if (!find_key(s, &c->how))
                reading_problem(r, s, "must have one of numeric, regex, contains and checker");
        else if (json_object_get(s->value.node, "protocol") && c->checker.count == 0)
                reading_problem(r, s, "has a protocol, which belongs to a checker");
        return true;
}

static void want_compare(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size,
                "\"exact\", \"tokens\", or an object with numeric, regex, contains or checker");
}

static const struct field_type compare_type = {read_compare, want_compare};

/* --- a case --------------------------------------------------------------------------------- */

/* A file of the task that submissions do not see. */
static const char *check_file(const char *path)
{
        if (strncmp(path, "tests/", 6) != 0 && strncmp(path, "truth/", 6) != 0)
                return "must be below tests/ or truth/";
        return task_check_relative(path);
}

static const char *check_template(const char *path)
{
        return strncmp(path, "{stem}", 6) == 0 ? task_check_line(path) : check_file(path);
}

#define COMMON_ROWS                                                                                \
        FIELD("command", field_texts, REQUIRED, struct test_case, command, .least = 1,             \
                .most = MOST_WORDS),                                                               \
                FIELD("exit", field_whole, OPTIONAL, struct test_case, exit, .most = 255),         \
                FIELD("timeout", task_limit, OPTIONAL, struct test_case, timeout_us,               \
                        .argument = LIMIT_CPU),                                                    \
                FIELD("compare", compare_type, OPTIONAL, struct test_case, compare,                \
                        .forms = compare_forms),                                                   \
                FIELD("interactor", field_texts, OPTIONAL, struct test_case, interactor,           \
                        .least = 1, .most = MOST_WORDS),                                           \
                FIELD("points", field_positive, OPTIONAL, struct test_case, points)

static const struct field case_rows[] = {
        FIELD("name", field_text, REQUIRED, struct test_case, name, .least = 1, .most = 200,
                .check = task_check_line),
        COMMON_ROWS,
        FIELD("stdin", field_text, OPTIONAL, struct test_case, in, .most = MOST_INLINE),
        FIELD("stdin_file", field_text, OPTIONAL, struct test_case, in_file, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = check_file),
        FIELD("stdout", field_text, OPTIONAL, struct test_case, out, .most = MOST_INLINE),
        FIELD("stdout_file", field_text, OPTIONAL, struct test_case, out_file, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = check_file),
};
static const struct test_case case_default = {.points = "1", .compare.pattern = ""};
static const struct fields case_fields = {
        case_rows, COUNT(case_rows), UNKNOWN_IS_PROBLEM, &case_default};

/* A case for each file that `stdin` matches. */
static const struct field each_rows[] = {
        COMMON_ROWS,
        FIELD("stdin", field_text, REQUIRED, struct test_case, in_file, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = check_file),
        FIELD("stdout", field_text, OPTIONAL, struct test_case, out_file, .least = 1,
                .most = SCORE_MAX_NAME - 1, .check = check_template),
};
static const struct fields each_fields = FIELDS(each_rows, UNKNOWN_IS_PROBLEM);

/* --- groups --------------------------------------------------------------------------------- */

static const struct choice aggregates[] = {
        {"sum", AGGREGATE_SUM},
        {"min", AGGREGATE_MIN},
        {"all", AGGREGATE_ALL},
        {0},
};

static const struct field each_forms[] = {
        {.type = &field_object, .fields = &each_fields},
        {0},
};

static bool read_each(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct case_group *g = to;

        g->has_each = true;
        g->each = case_default;
        return field_object.read(r, f->forms, s, &g->each);
}

static void want_each(const struct field *f, char *out, size_t size)
{
        field_object.want(f, out, size);
}

static const struct field_type each_type = {read_each, want_each};

static const struct field group_rows[] = {
        FIELD("name", field_text, REQUIRED, struct case_group, name, .least = 1, .most = 200,
                .check = task_check_line),
        FIELD("points", field_positive, OPTIONAL, struct case_group, points),
        FIELD("aggregate", field_choice, OPTIONAL, struct case_group, aggregate,
                .choices = aggregates),
        FIELD("requires", field_texts, OPTIONAL, struct case_group, requires, .most = MOST_GROUPS),
        FIELD("stop_on_failure", field_boolean, OPTIONAL, struct case_group, stop_on_failure),
        FIELD("visibility", field_choice, OPTIONAL, struct case_group, visibility,
                .choices = task_visibilities),
        WHOLE_FIELD("each", each_type, OPTIONAL, .forms = each_forms),
        FIELD("cases", field_list, OPTIONAL, struct case_group, cases, .most = MOST_CASES,
                .fields = &case_fields, .item_size = sizeof(struct test_case)),
};
static const struct case_group group_default = {.name = "", .visibility = NOT_GIVEN};
static const struct fields group_fields = {
        group_rows, COUNT(group_rows), UNKNOWN_IS_PROBLEM, &group_default};

static const struct field groups_rows[] = {
        FIELD("groups", field_list, REQUIRED, struct cases, groups, .least = 1, .most = MOST_GROUPS,
                .fields = &group_fields, .item_size = sizeof(struct case_group)),
};
static const struct fields groups_fields = FIELDS(groups_rows, UNKNOWN_IS_PROBLEM);

enum { GROUPS, PLAIN };

const struct field task_cases_forms[] = {
        [GROUPS] = {.type = &field_object, .fields = &groups_fields},
        [PLAIN] = {.type = &field_list,
                .least = 1,
                .most = MOST_CASES,
                .fields = &case_fields,
                .item_size = sizeof(struct test_case)},
        {0},
};

static bool read_cases(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct cases *c = to;

        c->given = true;
        if (!json_is_array(s->value.node))
                return field_object.read(r, &f->forms[GROUPS], s, c);
        if (!list_make(&c->groups, 1, sizeof(struct case_group), r, s))
                return true;
        *(struct case_group *)c->groups.items = group_default;
        return field_list.read(
                r, &f->forms[PLAIN], s, &((struct case_group *)c->groups.items)->cases);
}

static void want_cases(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an array of cases, or an object with `groups`");
}

const struct field_type task_cases = {read_cases, want_cases};

/* --- between keys --------------------------------------------------------------------------- */

static bool has_output(const struct test_case *c)
{
        return c->out || c->out_file;
}

static void check_case(struct reading *r, const char *path, const struct test_case *c)
{
        const bool by_pattern =
                c->compare.how == COMPARE_REGEX || c->compare.how == COMPARE_CONTAINS;
        char key[128];

        snprintf(key, sizeof key, "%s.stdin_file", path);
        if (c->in && c->in_file)
                reading_problem_at(r, key, "and stdin are two inputs; give one");
        snprintf(key, sizeof key, "%s.stdout_file", path);
        if (c->out && c->out_file)
                reading_problem_at(r, key, "and stdout are two outputs; give one");
        snprintf(key, sizeof key, "%s.compare", path);
        if (by_pattern && has_output(c))
                reading_problem_at(r, key, "has what is wanted already; leave stdout out");
        if (c->compare.how != NOT_GIVEN && reading_has(r, key) && !by_pattern && !has_output(c) &&
                c->compare.checker.count == 0)
                reading_problem_at(r, key, "needs an stdout to compare with");
        snprintf(key, sizeof key, "%s.interactor", path);
        if (c->interactor.count > 0 && reading_has(r, key) && c->compare.checker.count > 0)
                reading_problem_at(r, key, "judges by itself; leave the checker out");
}

static bool is_group(const struct cases *c, size_t before, const char *name)
{
        const struct case_group *g = c->groups.items;

        for (size_t i = 0; i < before; i++)
                if (strcmp(g[i].name, name) == 0)
                        return true;
        return false;
}

static void check_names(struct reading *r, const char *path, const struct list *cases)
{
        const struct test_case *c = cases->items;
        char key[160];

        for (size_t i = 0; i < cases->count && i < 1000; i++)
                for (size_t j = 0; j < i; j++)
                        if (c[i].name && c[j].name && *c[i].name &&
                                strcmp(c[i].name, c[j].name) == 0) {
                                snprintf(key, sizeof key, "%scases[%zu].name", path, i);
                                reading_problem_at(r, key, "is the name of cases[%zu] already", j);
                                return;
                        }
}

static void check_group(struct reading *r, const struct cases *c, size_t at)
{
        const struct case_group *g = &((const struct case_group *)c->groups.items)[at];
        const bool plain = !reading_has(r, "cases.groups");
        const char *const *needed = g->requires.items;
        char path[64], key[128];

        snprintf(path, sizeof path, "cases.groups[%zu]", at);
        if (is_group(c, at, g->name) && *g->name) {
                snprintf(key, sizeof key, "%s.name", path);
                reading_problem_at(r, key, "is the name of another group already");
        }
        for (size_t i = 0; i < g->requires.count; i++)
                if (!is_group(c, at, needed[i])) {
                        snprintf(key, sizeof key, "%s.requires[%zu]", path, i);
                        reading_problem_at(r, key, "is no group that stands before this one");
                }
        if (!plain && !g->has_each && g->cases.count == 0)
                reading_problem_at(r, path, "has neither `each` nor `cases`");
        snprintf(key, sizeof key, "%s.each", path);
        if (g->has_each)
                check_case(r, key, &g->each);
        for (size_t i = 0; i < g->cases.count; i++) {
                snprintf(key, sizeof key, plain ? "cases[%zu]" : "%2$s.cases[%1$zu]", i, path);
                check_case(r, key, &((const struct test_case *)g->cases.items)[i]);
        }
        snprintf(key, sizeof key, "%s.", path);
        check_names(r, plain ? "" : key, &g->cases);
}

void cases_check(struct reading *r, const struct cases *c)
{
        for (size_t i = 0; i < c->groups.count; i++)
                check_group(r, c, i);
}

/* --- frames --------------------------------------------------------------------------------- */

static void put_given(struct buffer *out, const char *text, const char *file)
{
        put_u8(out, file ? CASE_FILE : text ? CASE_TEXT : CASE_NOTHING);
        put_text(out, file ? file : text ? text : "");
}

static void put_case(struct buffer *out, const struct test_case *c, bool is_template)
{
        const struct comparing *how = &c->compare;
        size_t at = answer_begin(out, TASK_CASE);

        put_u8(out, is_template);
        put_text(out, c->name ? c->name : "");
        put_texts(out, &c->command);
        put_given(out, c->in, c->in_file);
        put_given(out, c->out, c->out_file);
        put_u8(out, (uint8_t)c->exit);
        put_u64(out, c->timeout_us);
        put_u8(out, (uint8_t)how->how);
        put_number(out, how->abs);
        put_number(out, how->rel);
        put_text(out, how->pattern);
        put_u8(out, (uint8_t)how->protocol);
        put_texts(out, &how->checker);
        put_texts(out, &c->interactor);
        put_number(out, c->points);
        answer_end(out, at);
}

void cases_put(const struct cases *c, struct buffer *out)
{
        for (size_t i = 0; i < c->groups.count; i++) {
                const struct case_group *g = &((const struct case_group *)c->groups.items)[i];
                size_t at = answer_begin(out, TASK_GROUP);

                put_text(out, g->name);
                put_number(out, g->points);
                put_u8(out, (uint8_t)g->aggregate);
                put_u8(out, g->stop_on_failure);
                put_u8(out,
                        (uint8_t)(g->visibility == NOT_GIVEN ? VISIBILITY_COUNT : g->visibility));
                put_texts(out, &g->requires);
                answer_end(out, at);
                if (g->has_each)
                        put_case(out, &g->each, true);
                for (size_t n = 0; n < g->cases.count; n++)
                        put_case(out, &((const struct test_case *)g->cases.items)[n], false);
        }
}

static void case_free(struct test_case *c)
{
        list_free(&c->command);
        list_free(&c->compare.checker);
        list_free(&c->interactor);
}

void cases_free(struct cases *c)
{
        for (size_t i = 0; i < c->groups.count; i++) {
                struct case_group *g = &((struct case_group *)c->groups.items)[i];

                list_free(&g->requires);
                case_free(&g->each);
                for (size_t n = 0; n < g->cases.count; n++)
                        case_free(&((struct test_case *)g->cases.items)[n]);
                list_free(&g->cases);
        }
        list_free(&c->groups);
}
