/* Cells of a submission; see submission_cell.h. */
#include "submission_cell.h"

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
