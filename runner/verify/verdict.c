/* From the results of solutions to what is wrong with a task; see verdict.h. */
#include "verify/verdict.h"

#include "text.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MOST_TEXTS = 200 };

/* --- lists of sentences ---------------------------------------------------------------------- */

static int say(char ***list, unsigned *count, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static int say(char ***list, unsigned *count, const char *format, ...)
{
        char **more = *count < MOST_TEXTS ? realloc(*list, (*count + 2) * sizeof *more) : *list;
        va_list args;
        int r;

        if (*count >= MOST_TEXTS)
                return 0;
        if (!more)
                return -1;
        *list = more;
        more[*count] = more[*count + 1] = NULL;
        va_start(args, format);
        r = vasprintf(&more[*count], format, args);
        va_end(args);
        if (r < 0) {
                more[*count] = NULL;
                return -1;
        }
        ++*count;
        return 0;
}

#define SAY_OF(solution, ...) say(&(solution)->differs, &(solution)->differ_count, __VA_ARGS__)
#define WARN(verdict, ...)    say(&(verdict)->warnings, &(verdict)->warning_count, __VA_ARGS__)

/* --- one solution --------------------------------------------------------------------------- */

static bool is_graded(const struct aside_result *r)
{
        return r->failed.code == CODE_NONE && r->status == STATUS_GRADED;
}

static bool passes(const struct aside_result *r)
{
        return is_graded(r) && r->exit == END_PASSED;
}

static const char *text_of(const char *text)
{
        return text && *text ? text : "none";
}

static int compare_tests(const void *left, const void *right)
{
        const struct test_result *a = left, *b = right;
        const int order = strcmp(a->name, b->name);

        return order ? order : (int)a->passed - (int)b->passed;
}

static void sort_tests(struct aside_result *r)
{
        if (r->test_count > 0)
                qsort(r->tests, r->test_count, sizeof *r->tests, compare_tests);
}

/* The first test that differs between two rounds, or NULL. */
static const char *differing_test(const struct aside_result *a, const struct aside_result *b)
{
        for (unsigned i = 0; i < a->test_count || i < b->test_count; i++) {
                if (i == a->test_count)
                        return b->tests[i].name;
                if (i == b->test_count || compare_tests(&a->tests[i], &b->tests[i]) != 0)
                        return a->tests[i].name;
        }
        return NULL;
}

static int compare_rounds(struct solution *s)
{
        const struct aside_result *a = &s->results[0], *b = &s->results[1];
        const char *test = differing_test(a, b);
        int r = 0;

        if (a->status != b->status || a->code != b->code)
                r = SAY_OF(s, "not deterministic: %s %s, then %s %s", status_name(a->status),
                        code_info(a->code)->name, status_name(b->status), code_info(b->code)->name);
        else if (strcmp(a->exact, b->exact) != 0 || strcmp(a->outcome, b->outcome) != 0 ||
                 strcmp(a->test_score, b->test_score) != 0)
                r = SAY_OF(s, "not deterministic: score %s, then %s (tests %s, then %s)",
                        text_of(a->score), text_of(b->score), text_of(a->test_score),
                        text_of(b->test_score));
        if (r == 0 && test)
                r = SAY_OF(s, "not deterministic: the test \"%s\"", test);
        return r;
}

/* Nothing that was handed in may pass; what else it says of the task is only a warning. */
static int judge_empty(struct solution *s, struct verdict_of_task *v)
{
        const struct aside_result *r = &s->results[0];

        if (passes(r))
                return SAY_OF(s, "an empty submission passes, with %s", r->score);
        if (is_graded(r) && strspn(r->score, "0.") != strlen(r->score))
                return WARN(v, "an empty submission scores %s", r->score);
        if (r->status == STATUS_ERROR)
                return code_info(r->code)->class == CLASS_INFRA
                               ? SAY_OF(s, "%s: %s", code_info(r->code)->name, r->reason)
                               : WARN(v,
                                         "an empty submission gets no score (%s: %s); it should "
                                         "get 0",
                                         code_info(r->code)->name, r->reason);
        return 0;
}

static bool is_infra(enum code code)
{
        const enum error_class class = code_info(code)->class;

        return class == CLASS_INFRA || class == CLASS_INTERNAL;
}

/* Copies what assay-score found to differ, and adds what two rounds show. */
static int judge(struct solution *s, unsigned rounds, struct verdict_of_task *v)
{
        bool infra = false;
        int r = 0;

        for (unsigned n = 0; n < rounds; n++) {
                const struct aside_result *result = &s->results[n];
                const enum code failed = result->failed.code;

                if (failed != CODE_NONE &&
                        SAY_OF(s, "%s: %s", code_info(failed)->name, result->failed.text) < 0)
                        return -1;
                infra = infra || is_infra(failed) || is_infra(result->code);
                sort_tests(&s->results[n]);
        }
        for (unsigned i = 0; r == 0 && i < s->results[0].differ_count; i++)
                r = SAY_OF(s, "%s", s->results[0].differs[i]);
        if (r == 0 && s->differ_count == 0 && s->made_up)
                r = judge_empty(s, v);
        if (r == 0 && s->differ_count == 0 && rounds > 1)
                r = compare_rounds(s);
        s->met = s->differ_count == 0;
        v->infra = v->infra || (infra && !s->met);
        ++*(s->met ? &v->met : &v->unmet);
        return r;
}

/* --- the task ------------------------------------------------------------------------------- */

static int count_ends(const struct solutions *s, struct verdict_of_task *v, bool *ret_wrong)
{
        bool right = false, wrong = false;

        for (unsigned i = 0; i < s->count; i++) {
                const struct aside_result *r = &s->all[i].results[0];

                if (s->all[i].made_up || !s->all[i].met)
                        continue;
                right = right || passes(r);
                wrong = wrong || (is_graded(r) && !passes(r)) || r->status == STATUS_REJECTED;
        }
        *ret_wrong = wrong;
        if (v->unmet > 0)
                return 0;
        if (!right && WARN(v, "no solution passes: nothing shows that one can") < 0)
                return -1;
        return wrong ? 0
                     : WARN(v, "no solution fails: nothing shows that the task tells wrong work "
                               "from right");
}

/* All tests of the task's own solutions, by name. */
static struct test_result *gather_tests(const struct solutions *s, unsigned *ret_count)
{
        struct test_result *all;
        unsigned count = 0;

        for (unsigned i = 0; i < s->count; i++)
                count += s->all[i].made_up ? 0 : s->all[i].results[0].test_count;
        all = calloc(count + 1, sizeof *all);
        count = 0;
        for (unsigned i = 0; all && i < s->count; i++)
                for (unsigned n = 0; !s->all[i].made_up && n < s->all[i].results[0].test_count; n++)
                        all[count++] = s->all[i].results[0].tests[n];
        if (count > 0)
                qsort(all, count, sizeof *all, compare_tests);
        *ret_count = count;
        return all;
}

static int judge_tests(const struct solutions *s, bool has_wrong, struct verdict_of_task *v)
{
        unsigned count;
        struct test_result *all = gather_tests(s, &count);
        int r = all ? 0 : -1;

        for (unsigned i = 0, next; r == 0 && i < count; i = next) {
                bool passed = false, failed = false;

                for (next = i; next < count && strcmp(all[next].name, all[i].name) == 0; next++) {
                        passed = passed || all[next].passed;
                        failed = failed || !all[next].passed;
                }
                if (!passed)
                        r = WARN(v, "no solution passes the test \"%s\"", all[i].name);
                else if (!failed && has_wrong)
                        r = WARN(v, "no wrong solution fails the test \"%s\"", all[i].name);
        }
        free(all);
        return r;
}

int verdict_reach(
        struct solutions *s, unsigned rounds, struct verdict_of_task *ret, struct error *err)
{
        bool wrong;
        int r = 0;

        *ret = (struct verdict_of_task){0};
        for (unsigned i = 0; r == 0 && i < s->count; i++)
                r = judge(&s->all[i], rounds, ret);
        if (r < 0 || count_ends(s, ret, &wrong) < 0 || judge_tests(s, wrong, ret) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return 0;
}

void verdict_of_task_free(struct verdict_of_task *v)
{
        texts_free(v->warnings);
        *v = (struct verdict_of_task){0};
}
