/* Judging one entry of a layer; see layer_entry.h. Nothing is ever made through a link: the
 * inventory refuses what lies below one. Where links lead is then no concern of ours, but of the
 * cell, in which they lead to places of its own. */
#include "images/layer_entry.h"

#include "images/whiteout.h"

static int refuse(const struct entry *e, const char *why, struct error *err)
{
        return error_set(err, CODE_IMAGE_LAYER_INVALID, "%.300s: %s", e->path, why);
}

static int judge_symlink(const struct entry *e, struct error *err)
{
        return *e->target ? 0 : refuse(e, "a symbolic link to nothing", err);
}

static int judge_hardlink(const struct entry *e, const struct inventory *v, struct layer_plan *p,
        enum item_kind *ret_kind, struct error *err)
{
        if (e->size > 0)
                return refuse(e, "a hard link with content of its own", err);
        if (whiteout_normalise(e->target, &p->source, err) < 0)
                return error_add(err, "%.200s: a hard link", e->path);
        *ret_kind = inventory_kind(v, p->source.text);
        if ((*ret_kind == ITEM_FILE || *ret_kind == ITEM_SYMLINK) &&
                strcmp(p->source.text, p->path.text) != 0)
                return 0;
        return error_set(err, CODE_IMAGE_LAYER_INVALID,
                "%.200s: a hard link to `%.200s`, which is no file or link earlier in the layer",
                e->path, e->target);
}

static const struct {
        enum layer_step step;
        enum item_kind kind;
} plans[] = {
        [ENTRY_FILE] = {LAYER_FILE, ITEM_FILE},
        [ENTRY_DIRECTORY] = {LAYER_DIRECTORY, ITEM_DIRECTORY},
        [ENTRY_SYMLINK] = {LAYER_SYMLINK, ITEM_SYMLINK},
        [ENTRY_HARDLINK] = {LAYER_HARDLINK, ITEM_FILE},
        [ENTRY_PIPE] = {LAYER_PIPE, ITEM_PIPE},
        [ENTRY_SPECIAL] = {LAYER_DROP, ITEM_NOTHING},
};

/* An ordinary entry. */
static int judge_plain(
        const struct entry *e, struct inventory *v, struct layer_plan *p, struct error *err)
{
        enum item_kind kind = plans[e->type].kind;
        int r = 0;

        p->step = plans[e->type].step;
        if (p->step == LAYER_DROP)
                return 0;
        if (*p->path.text == '\0' && p->step != LAYER_DIRECTORY)
                return refuse(e, "takes the place of the layer's root", err);
        if (p->step == LAYER_SYMLINK)
                r = judge_symlink(e, err);
        else if (p->step == LAYER_HARDLINK)
                r = judge_hardlink(e, v, p, &kind, err);
        return r < 0 ? -1 : inventory_add(v, p->path.text, kind, &p->place, err);
}

/* A mark counts for the layers below alone, wherever in this layer it stands; what it becomes is
 * seen at the end. */
static int judge_mark(
        enum whiteout mark, struct inventory *v, struct layer_plan *p, struct error *err)
{
        bool opaque = mark == WHITEOUT_CONTENT;

        if (inventory_add(v, p->path.text, opaque ? ITEM_DIRECTORY : ITEM_NOTHING, &p->place, err) <
                0)
                return -1;
        p->place.item->opaque |= opaque;
        p->place.item->hidden |= !opaque;
        p->step = opaque ? LAYER_OPAQUE : LAYER_FOLDERS;
        return 0;
}

int layer_entry_judge(
        const struct entry *e, struct inventory *v, struct layer_plan *ret, struct error *err)
{
        enum whiteout mark;

        ret->step = LAYER_SKIP;
        if (whiteout_read(e->path, &ret->path, &mark, err) < 0)
                return -1;
        switch (mark) {
        case WHITEOUT_NONE:
                return judge_plain(e, v, ret, err);
        case WHITEOUT_FOREIGN:
                return 0;
        default:
                return judge_mark(mark, v, ret, err);
        }
}
