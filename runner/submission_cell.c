/* Cells of a submission; see submission_cell.h. */
#include "evaluation.h"

#include "environment.h"
#include "evaluators/contract.h"
#include "image/store.h"
#include "image/view.h"

void cell_usage_add(struct cell_usage *u, const struct cell_outcome *o)
{
        u->cells++;
        u->cpu_us += o->cpu_us;
        u->wall_us += o->wall_us;
        if (o->memory_peak > u->memory_peak)
                u->memory_peak = o->memory_peak;
        if (o->pids_peak > u->pids_peak)
                u->pids_peak = o->pids_peak;
}

/* What submissions get of an image: always without what the contract and the suite have there. */
static int open_view(struct evaluation *e, struct error *err)
{
        const struct submission_image *s = &e->task.submission_image;
        const struct view view = {
                .image = s->declared && *s->name ? s->name : e->task.image,
                .layers = s->layers,
                .hide = (const char *const *)s->hide,
                .hide_count = s->hide_count,
                .own = contracts[e->task.contract].own,
                .command = e->task.command,
        };
        struct image_cell *image = &e->cell.image;

        if (strcmp(view.image, "host") == 0)
                return 0;
        if (image_open_in(image, e->image_store, view.image, &view, true, err) == 0)
                return 0;
        image_close(image);
        *image = (struct image_cell){0};
        return view_make_in(&e->channel, e->image_store, &view, err) < 0 ||
                               image_open_in(image, e->image_store, view.image, &view, true, err) <
                                       0
                       ? -1
                       : 0;
}

int submission_cell_prepare(struct evaluation *e, struct error *err)
{
        const struct task *t = &e->task;

        if (e->cell.env)
                return 0;
        e->cell.place = contracts[t->contract].submission[0].place;
        e->cell.over = contracts[t->contract].submission[0].kind == PLACE_OVER;
        e->cell.limits = t->limits[CELL_SUBMISSION];
        e->cell.allow_weak = e->options->allow_weak;
        if (open_view(e, err) < 0)
                return -1;
        e->cell.env = environment_make_plain(e->cell.image.env,
                (const char *const *)t->submission_env, t->submission_env_count, err);
        return e->cell.env ? 0 : -1;
}

void submission_cell_order(const struct submission_cell *s, struct cell_order *ret)
{
        *ret = (struct cell_order){
                .profile = PROFILE_SUBMISSION,
                .allow_weak = s->allow_weak,
                .limits = s->limits,
                .uid = s->image.uid,
                .gid = s->image.gid,
                .workdir = s->place,
                .envp = s->env,
                .mounts = {{s->tree, s->over ? PLACE_OVER : PLACE_COPY, s->place}},
                .mount_count = 1,
                .layers = s->image.layers,
                .layer_count = s->image.layer_count,
        };
}

void submission_cell_free(struct submission_cell *s)
{
        free(s->env);
        s->env = NULL;
        image_close(&s->image);
}
