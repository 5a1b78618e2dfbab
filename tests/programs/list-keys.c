/* list-keys task|operator|expect: the keys of such a document, as the tables of its reader have
 * them, a line each: PATH required|optional|each KIND. A value of several forms has a line for
 * each. `[]` is an item of a list, `.*` a member of any name; of two objects in one place the
 * second is PATH#2. */
#include "evaluators/expect.h"
#include "evaluators/policy.h"
#include "evaluators/primitives.h"
#include "evaluators/task.h"
#include "evaluators/task_limits.h"

#include <err.h>
#include <stdarg.h>

static void list_value(const char *path, const char *need, const struct field *f);

/* --- paths ---------------------------------------------------------------------------------- */

enum { PATH_SIZE = 512 };

__attribute__((format(printf, 2, 3))) static void path_format(char *out, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(out, PATH_SIZE, format, args);
        va_end(args);
        if (n >= PATH_SIZE)
                errx(1, "the path of a key is too long: %s", out);
}

/* --- kinds ---------------------------------------------------------------------------------- */

static void list_range(const char *path, const char *need, const char *kind, const struct field *f)
{
        printf("%s %s %s %llu..%llu\n", path, need, kind, (unsigned long long)f->least,
                (unsigned long long)f->most);
}

/* In the order of the alphabet, which is nobody's. */
static int by_name(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_words(const char *path, const char *need, const char **words, size_t count)
{
        qsort(words, count, sizeof *words, by_name);
        printf("%s %s one of", path, need);
        for (size_t i = 0; i < count; i++)
                printf(" %s", words[i]);
        printf("\n");
}

static void list_choices(const char *path, const char *need, const struct choice *choices)
{
        const char *words[64];
        size_t count = 0;

        for (const struct choice *c = choices; c->name && count < COUNT(words); c++)
                words[count++] = c->name;
        list_words(path, need, words, count);
}

/* A text in the table: its names are those of another one. */
static void list_primitives(const char *path, const char *need)
{
        const char *words[64];
        size_t count = 0;

        for (; primitive_name(count) && count < COUNT(words); count++)
                words[count] = primitive_name(count);
        list_words(path, need, words, count);
}

static void list_limit(const char *path, const char *need, enum limit limit)
{
        static const char *const units[] = {
                [UNIT_COUNT] = "count",
                [UNIT_BYTES] = "size",
                [UNIT_TIME] = "time",
                [UNIT_MILLI] = "milli",
        };

        printf("%s %s %s\n", path, need, units[limit_info(limit)->unit]);
}

/* --- tables --------------------------------------------------------------------------------- */

/* It is in the table for the sake of its message. */
static bool is_refused(const struct field *f)
{
        char want[256];

        f->type->want(f, want, sizeof want);
        return strcmp(want, "absent") == 0;
}

static void list_rows(const char *path, const struct fields *fields)
{
        char below[PATH_SIZE];

        for (size_t i = 0; i < fields->count; i++) {
                const struct field *f = &fields->rows[i];
                const char *need = f->required ? "required" : "optional";

                path_format(below, "%s.%s", path, f->key);
                if (strcmp(f->key, "primitive") == 0)
                        list_primitives(below, need);
                else if (!is_refused(f))
                        list_value(below, need, f);
        }
}

static void list_object(const char *path, const char *need, const struct fields *fields)
{
        static const char *const unknown[] = {
                [UNKNOWN_IS_PROBLEM] = "", [UNKNOWN_WARNS] = " open", [UNKNOWN_IGNORED] = " open"};

        printf("%s %s object%s\n", path, need, unknown[fields->unknown]);
        list_rows(path, fields);
}

static void list_limits(const char *path, const char *need, const struct fields *others)
{
        char below[PATH_SIZE];

        list_object(path, need, others);
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                path_format(below, "%s.%s", path, limit_info((enum limit)i)->name);
                if (!field_find(others, limit_info((enum limit)i)->name))
                        list_limit(below, "optional", (enum limit)i);
        }
}

static void list_items(const char *path, const char *need, const struct field *f)
{
        static const struct field text = {.type = &field_text, .least = 1, .most = SCORE_MAX_TEXT};
        char below[PATH_SIZE];

        list_range(path, need, "list", f);
        path_format(below, "%s[]", path);
        if (f->type == &field_texts)
                list_value(below, "each", &text);
        else
                list_object(below, "each", f->fields);
}

static void list_forms(const char *path, const char *need, const struct field *forms)
{
        unsigned objects = 0;
        char at[PATH_SIZE];

        if (!forms)
                errx(1, "%s: what is its type?", path);
        for (const struct field *form = forms; form->type; form++) {
                objects += form->type == &field_object;
                if (form->type == &field_object && objects > 1)
                        path_format(at, "%s#%u", path, objects);
                else
                        path_format(at, "%s", path);
                if (!form->key) {
                        list_value(at, need, form);
                        continue;
                }
                printf("%s %s object\n", at, need);
                path_format(at, "%s.%s", path, form->key);
                list_value(at, "each", form);
        }
}

/* --- one value ------------------------------------------------------------------------------ */

static void list_value(const char *path, const char *need, const struct field *f)
{
        static const struct {
                const struct field_type *type;
                const char *kind;
                bool ranges;
        } plain[] = {
                {&field_text, "text", true},
                {&field_prose, "text", true},
                {&field_boolean, "boolean", false},
                {&field_whole, "whole", true},
                {&field_decimal, "number", true},
                {&field_number, "number", false},
                {&field_positive, "number", false},
                {&field_number_text, "amount", false},
                {&field_duration, "duration", false},
                {&field_bytes, "size", false},
        };

        for (size_t i = 0; i < COUNT(plain); i++)
                if (f->type == plain[i].type && plain[i].ranges) {
                        list_range(path, need, plain[i].kind, f);
                        return;
                } else if (f->type == plain[i].type) {
                        printf("%s %s %s\n", path, need, plain[i].kind);
                        return;
                }
        if (f->type == &field_choice)
                list_choices(path, need, f->choices);
        else if (f->type == &field_object)
                list_object(path, need, f->fields);
        else if (f->type == &field_list || f->type == &field_texts)
                list_items(path, need, f);
        else if (f->type == &task_limits)
                list_limits(path, need, f->fields);
        else if (f->type == &task_limit)
                list_limit(path, need, (enum limit)f->argument);
        else
                list_forms(path, need, f->forms);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                const struct field *document;
        } documents[] = {
                {"task", &task_document},
                {"operator", &policy_document},
                {"expect", &expect_document},
        };

        for (size_t i = 0; i < COUNT(documents); i++)
                if (argc == 2 && strcmp(argv[1], documents[i].name) == 0) {
                        list_value(argv[1], "required", documents[i].document);
                        return fflush(stdout) == 0 ? 0 : 1;
                }
        errx(2, "usage: list-keys task|operator|expect");
}
