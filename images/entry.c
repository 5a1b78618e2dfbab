/* Judging one entry; see entry.h. Nothing is ever made through a symlink (the catalog refuses
 * it), so every parent of an entry is a real directory. A symlink's target is therefore inside
 * the tree when it climbs no further than its own depth and never climbs again after that: what
 * follows are names below a directory inside, or symlinks for which the same was proved. */
#include "images/entry.h"

static bool symlink_stays(const struct entry *e, struct plan *p)
{
        int climb = name_climb(e->target);
        unsigned depth = name_depth(p->path.text);

        p->reaches_top = climb >= 0 && (unsigned)climb == depth;
        return climb >= 0 && (unsigned)climb <= depth;
}

/* A hard link becomes a copy: no two names of the tree share an inode, and its bytes count. */
static bool hardlink_stays(const struct entry *e, const struct catalog *c, struct plan *p)
{
        return name_normalise(e->target, &p->source, NULL) == 0 &&
               catalog_has_file(c, p->source.text);
}

static int judge_link(const struct entry *e, bool links_drop, const struct catalog *c,
        struct plan *p, struct error *err)
{
        bool hard = e->type == ENTRY_HARDLINK;

        if (hard && e->size > 0)
                return error_set(err, CODE_ARCHIVE_DAMAGED,
                        "%.300s: a hard link with content of its own", p->path.text);
        if (hard ? hardlink_stays(e, c, p) : symlink_stays(e, p))
                return 0;
        if (!links_drop)
                return error_set(err, CODE_ARCHIVE_LINK_ESCAPE, "%.200s: a link to `%.200s`, %s",
                        p->path.text, e->target,
                        hard ? "which is no file earlier in the archive"
                             : "outside the submission");
        p->step = PLAN_SKIP;
        p->warning = "left out: a link to something outside the submission";
        return 0;
}

static const struct {
        enum plan_step step;
        enum node_kind kind;
} plans[] = {
        [ENTRY_FILE] = {PLAN_FILE, NODE_FILE},
        [ENTRY_DIRECTORY] = {PLAN_DIRECTORY, NODE_DIRECTORY},
        [ENTRY_SYMLINK] = {PLAN_SYMLINK, NODE_SYMLINK},
        [ENTRY_HARDLINK] = {PLAN_COPY, NODE_FILE},
};

int entry_judge(const struct entry *e, unsigned rules, struct catalog *c, struct plan *ret,
        struct error *err)
{
        ret->step = PLAN_SKIP;
        ret->warning = NULL;
        ret->reaches_top = false;
        if (name_normalise(e->path, &ret->path, err) < 0)
                return -1;
        if (e->encrypted)
                return error_set(err, CODE_ARCHIVE_UNSUPPORTED, "%.300s: is encrypted", e->path);
        if (e->type == ENTRY_SPECIAL || e->type == ENTRY_PIPE)
                return error_set(
                        err, CODE_ARCHIVE_SPECIAL, "%.300s: a device, pipe or socket", e->path);
        if (!(rules & RULE_JUNK_STAYS) && name_is_junk(ret->path.text))
                return 0;
        if (*ret->path.text == '\0') {
                if (e->type == ENTRY_DIRECTORY)
                        return 0;
                return error_set(err, CODE_ARCHIVE_UNSAFE_PATH,
                        "%.300s: takes the place of the submission's own folder", e->path);
        }
        ret->step = plans[e->type].step;
        if ((e->type == ENTRY_SYMLINK || e->type == ENTRY_HARDLINK) &&
                judge_link(e, rules & RULE_LINKS_DROP, c, ret, err) < 0)
                return -1;
        if (ret->step == PLAN_SKIP)
                return 0;
        return catalog_add(c, ret->path.text, plans[e->type].kind, &ret->known, err);
}
