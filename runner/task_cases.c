/* Cases of a task; see task_cases.h. */
#include "task_cases.h"

#include "sandbox/messages.h"

#include <stdlib.h>

enum { MOST_GROUPS = 1000, MOST_CASES = 20000, MOST_TEXT = 64 << 10 };

char **texts_take(struct reader *r, uint32_t most)
{
        uint32_t count = get_u32(r);
        char **list = count <= most ? calloc(count + 1, sizeof *list) : NULL;

        r->bad |= !list;
        for (uint32_t i = 0; i < count && !r->bad; i++)
                list[i] = get_new_text(r, SCORE_MAX_TEXT);
        return list;
}

uint64_t task_case_wall(const struct task_case *c)
{
        return c->timeout_us > 0 ? 3 * c->timeout_us + 1000000 : 0;
}

void texts_free(char **list)
{
        for (char **text = list; text && *text; text++)
                free(*text);
        free(list);
}

void *list_append(void **list, unsigned *count, size_t size, unsigned most, struct reader *r)
{
        char *more = *count < most ? realloc(*list, (*count + 1) * size) : NULL;

        if (!more) {
                r->bad = true;
                return NULL;
        }
        *list = more;
        return memset(more + size * (*count)++, 0, size);
}

static char *take_decimal(struct reader *r, bool may_be_empty)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && !(may_be_empty && !*text) && (!scorer_is_decimal(text) || *text == '-'))
                r->bad = true;
        return text;
}

static void take_group(struct task_cases *c, struct reader *r)
{
        struct task_group *g =
                list_append((void **)&c->groups, &c->count, sizeof *g, MOST_GROUPS, r);

        if (!g)
                return;
        g->name = scorer_text(r, SCORE_MAX_NAME);
        g->points = take_decimal(r, true);
        g->aggregate = get_u8(r);
        g->stop_on_failure = get_u8(r);
        g->visibility = get_u8(r);
        g->requires = texts_take(r, MOST_GROUPS);
        r->bad |= g->aggregate >= AGGREGATE_COUNT || g->visibility > VISIBILITY_COUNT;
}

static char *take_given(struct reader *r, enum case_given *ret)
{
        *ret = get_u8(r);
        r->bad |= *ret >= CASE_GIVEN_COUNT;
        return scorer_text(r, MOST_TEXT);
}

static void take_case(struct task_cases *c, struct reader *r)
{
        struct task_group *g = c->count > 0 ? &c->groups[c->count - 1] : NULL;
        struct task_case *to =
                g ? list_append((void **)&g->cases, &g->case_count, sizeof *to, MOST_CASES, r)
                  : NULL;

        if (!to) {
                r->bad = true;
                return;
        }
        to->each = get_u8(r);
        to->name = scorer_text(r, SCORE_MAX_NAME);
        to->command = texts_take(r, CELL_MAX_ARGUMENTS);
        to->in = take_given(r, &to->in_given);
        to->out = take_given(r, &to->out_given);
        to->exit = get_u8(r);
        to->timeout_us = get_u64(r);
        to->comparison = get_u8(r);
        to->abs = take_decimal(r, true);
        to->rel = take_decimal(r, true);
        to->pattern = scorer_text(r, SCORE_MAX_TEXT);
        to->protocol = get_u8(r);
        to->checker = texts_take(r, CELL_MAX_ARGUMENTS);
        to->interactor = texts_take(r, CELL_MAX_ARGUMENTS);
        to->points = take_decimal(r, false);
        r->bad |= to->comparison >= COMPARISON_COUNT || to->protocol >= CHECKER_COUNT ||
                  to->timeout_us > limit_info(LIMIT_CPU)->most ||
                  (to->each && to->in_given != CASE_FILE);
}

void task_cases_take(struct task_cases *c, unsigned type, struct reader *r)
{
        if (type == TASK_GROUP)
                take_group(c, r);
        else
                take_case(c, r);
}

static void free_case(struct task_case *c)
{
        char *const texts[] = {c->name, c->in, c->out, c->abs, c->rel, c->pattern, c->points};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        texts_free(c->command);
        texts_free(c->checker);
        texts_free(c->interactor);
}

void task_cases_free(struct task_cases *c)
{
        for (unsigned i = 0; i < c->count; i++) {
                struct task_group *g = &c->groups[i];

                for (unsigned n = 0; n < g->case_count; n++)
                        free_case(&g->cases[n]);
                free(g->cases);
                free(g->name);
                free(g->points);
                texts_free(g->requires);
        }
        free(c->groups);
        *c = (struct task_cases){0};
}
