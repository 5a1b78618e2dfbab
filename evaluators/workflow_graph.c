/* What depends on what in a workflow; see workflow.h. */
#include "workflow.h"

#include <stdarg.h>
#include <stdlib.h>

__attribute__((format(printf, 5, 6))) static void problem(struct reading *r, const struct graph *g,
        const struct workflow_step *s, const char *key, const char *format, ...)
{
        char path[64], text[300];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        snprintf(path, sizeof path, "steps[%zu].%s", (size_t)(s - g->steps), key);
        reading_problem_at(r, path, "%s", text);
}

/* --- ids ------------------------------------------------------------------------------------ */

struct workflow_step *graph_find(const struct graph *g, const char *id)
{
        for (size_t i = 0; i < g->count; i++)
                if (strcmp(g->steps[i].id, id) == 0)
                        return &g->steps[i];
        return NULL;
}

static void check_ids(const struct graph *g, struct reading *r)
{
        for (size_t i = 0; i < g->count; i++) {
                const struct workflow_step *first = graph_find(g, g->steps[i].id);

                if (*g->steps[i].id && first != &g->steps[i])
                        problem(r, g, &g->steps[i], "id",
                                "\"%.100s\" is the id of another step already", first->id);
        }
}

static const char *id_at(const void *steps, size_t i)
{
        return ((const struct workflow_step *)steps)[i].id;
}

static void resolve(struct graph *g, struct reading *r, struct workflow_step *s)
{
        const struct spot root = {.value = json_root(r->doc)};
        const char *const *ids = s->depends_on.items;

        if (!list_make(&s->needs, s->depends_on.count, sizeof(size_t), r, &root))
                return;
        s->needs.count = 0;
        for (size_t i = 0; i < s->depends_on.count; i++) {
                const struct workflow_step *other = graph_find(g, ids[i]);
                const char *near;

                if (other) {
                        ((size_t *)s->needs.items)[s->needs.count++] = (size_t)(other - g->steps);
                        continue;
                }
                near = suggest(ids[i], id_at, g->steps, g->count);
                if (near)
                        problem(r, g, s, "depends_on", "names no step; did you mean \"%.100s\"?",
                                near);
                else
                        problem(r, g, s, "depends_on", "names \"%.100s\", which is no step",
                                ids[i]);
        }
}

/* --- order ---------------------------------------------------------------------------------- */

static bool is_ready(const struct workflow_step *s, const bool *placed)
{
        const size_t *needs = s->needs.items;

        for (size_t i = 0; i < s->needs.count; i++)
                if (!placed[needs[i]])
                        return false;
        return true;
}

/* One of those it waits for and that wait themselves. */
static const struct workflow_step *waits_for(
        const struct graph *g, const struct workflow_step *s, const bool *placed)
{
        const size_t *needs = s->needs.items;

        for (size_t i = 0; i < s->needs.count; i++)
                if (!placed[needs[i]])
                        return &g->steps[needs[i]];
        return s;
}

/* Whoever waits, waits for one that waits: that way ends in a circle. */
static void say_circle(const struct graph *g, struct reading *r, const bool *placed)
{
        const struct workflow_step *s = g->steps;

        while (placed[s - g->steps])
                s++;
        for (size_t i = 0; i < g->count; i++)
                s = waits_for(g, s, placed);
        problem(r, g, s, "depends_on",
                "makes a circle: the step waits for itself, through \"%.100s\"",
                waits_for(g, s, placed)->id);
}

static void put_in_order(struct graph *g, struct reading *r, bool *placed)
{
        size_t count = 0;

        while (count < g->count) {
                size_t i = 0;

                while (i < g->count && (placed[i] || !is_ready(&g->steps[i], placed)))
                        i++;
                if (i == g->count) {
                        say_circle(g, r, placed);
                        return;
                }
                placed[i] = true;
                g->steps[i].place = count;
                g->order[count++] = i;
        }
}

/* --- who depends on whom -------------------------------------------------------------------- */

bool graph_reaches(
        const struct graph *g, const struct workflow_step *step, const struct workflow_step *other)
{
        return g->reaches[(size_t)(step - g->steps) * g->count + (size_t)(other - g->steps)];
}

static void find_reach(struct graph *g)
{
        for (size_t n = 0; n < g->count; n++) {
                const size_t i = g->order[n];
                const size_t *needs = g->steps[i].needs.items;
                unsigned char *row = g->reaches + i * g->count;

                for (size_t k = 0; k < g->steps[i].needs.count; k++) {
                        const unsigned char *theirs = g->reaches + needs[k] * g->count;

                        row[needs[k]] = 1;
                        for (size_t m = 0; m < g->count; m++)
                                row[m] |= theirs[m];
                }
        }
}

void graph_make(struct graph *g, struct reading *r, struct workflow_step *steps, size_t count)
{
        const struct spot root = {.value = json_root(r->doc)};
        bool *placed = calloc(count + 1, sizeof *placed);

        *g = (struct graph){.steps = steps, .count = count};
        g->order = calloc(count + 1, sizeof *g->order);
        g->reaches = calloc(count + 1, count + 1);
        if (!placed || !g->order || !g->reaches)
                reading_problem(r, &root, "is too large for the memory there is");
        else {
                check_ids(g, r);
                for (size_t i = 0; i < count; i++)
                        resolve(g, r, &steps[i]);
                if (r->problems.count == 0)
                        put_in_order(g, r, placed);
                if (r->problems.count == 0)
                        find_reach(g);
        }
        free(placed);
}

void graph_free(struct graph *g)
{
        free(g->order);
        free(g->reaches);
        *g = (struct graph){0};
}
