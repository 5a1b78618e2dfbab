/* What may be told of a task's cells and cases; see description.h. */
#include "report/description.h"

#include "case_files.h"

#include <stdlib.h>

const enum limit description_limits[DESCRIPTION_LIMITS] = {
        LIMIT_WALL, LIMIT_CPU, LIMIT_CPUS, LIMIT_MEMORY, LIMIT_DISK, LIMIT_PIDS, LIMIT_FILES};

bool description_has_suite(const struct task *t)
{
        return t->mode == MODE_CONTAINER || t->mode == MODE_HYBRID;
}

bool description_has_own_cells(const struct task *t)
{
        return t->broker || t->build != BUILD_NONE || t->cases.count > 0 || t->workflow.given;
}

const struct limits *description_limits_of(const struct task *t)
{
        return &t->limits[description_has_own_cells(t) ? CELL_SUBMISSION : CELL_SUITE];
}

/* What is shown after a date is not shown yet: nobody says here that it came. */
static bool is_visible(const struct task *t, const struct task_group *g)
{
        return (g->visibility == VISIBILITY_COUNT ? t->visible_tests : g->visibility) ==
               VISIBILITY_VISIBLE;
}

static int count_cases(
        const struct task *t, const struct task_group *g, unsigned *ret, struct error *err)
{
        *ret = 0;
        for (unsigned i = 0; i < g->case_count; i++) {
                struct files files;

                if (!g->cases[i].each) {
                        ++*ret;
                        continue;
                }
                if (case_files_find(t, g->cases[i].in, &files, err) < 0) {
                        files_free(&files);
                        return -1;
                }
                *ret += files.count;
                files_free(&files);
        }
        return 0;
}

static int show_case(const struct task *t, const struct task_case *c, const struct case_listener *l,
        struct error *err)
{
        struct files files;
        int r;

        if (!c->each) {
                l->one(l->to, c->name, c->points);
                return 0;
        }
        /* Named like a run names them. */
        r = case_files_find(t, c->in, &files, err);
        for (unsigned i = 0; r == 0 && i < files.count; i++) {
                char *name = case_file_named("{name}", files.paths[i]);

                if (name)
                        l->one(l->to, name, c->points);
                free(name);
        }
        files_free(&files);
        return r;
}

int description_cases(const struct task *t, const struct case_listener *l, struct error *err)
{
        for (unsigned i = 0; i < t->cases.count; i++) {
                const struct task_group *g = &t->cases.groups[i];
                const bool visible = is_visible(t, g);
                unsigned count;

                if (count_cases(t, g, &count, err) < 0)
                        return -1;
                l->group(l->to, g, visible, count);
                for (unsigned n = 0; visible && n < g->case_count; n++)
                        if (show_case(t, &g->cases[n], l, err) < 0)
                                return -1;
                l->group_end(l->to);
        }
        return 0;
}
