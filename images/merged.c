/* Layers as one tree; see merged.h. Each step looks for one name in the layers that still take part
 * in its directory, from the top: a whiteout, or what is no directory, ends the search. */
#include "images/merged.h"

#include "beneath.h"
#include "fd.h"
#include "images/listing.h"

#include <search.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_FOLLOWED = 4000000 };

static int failure(const char *path, struct error *err)
{
        return error_errno(err, CODE_INFRA_STATE, errno, "the image store: %.300s", path);
}

int merged_open(struct merged *m, int store, char *const *names, unsigned count, struct error *err)
{
        char path[UNPACK_MAX_PATH + 8];

        m->followed = 0;
        for (m->count = 0; m->count < count; m->count++) {
                snprintf(path, sizeof path, "%s/tree", names[m->count]);
                m->trees[m->count] = beneath_open(store, path, O_PATH | O_DIRECTORY, 0);
                if (m->trees[m->count] < 0)
                        return failure(names[m->count], err);
        }
        return 0;
}

void merged_close(struct merged *m)
{
        while (m->count > 0)
                fd_close(m->trees[--m->count]);
}

static bool is_whiteout(const struct stat *st)
{
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

enum layer_answer { NOTHING, SOMETHING, AN_END }; /* the last: lower ones are hidden there */

/* What a layer says of a path: it has it, or has what is no directory on the way to it, or neither.
 * A name that is too long is in none. -1. */
static int look_in_layer(int tree, const char *path, struct stat *ret, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(tree, *path ? path : ".", O_PATH | O_NOFOLLOW, 0);

        if (fd < 0 && (errno == ENOENT || errno == ENAMETOOLONG))
                return NOTHING;
        if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
                return AN_END;
        return fd >= 0 && fstat(fd, ret) == 0 ? SOMETHING : failure(path, err);
}

/* From the top, in the layers that `item` is in. */
static int look_down(
        const struct merged *m, const char *path, struct merged_item *item, struct error *err)
{
        bool found = false;

        for (unsigned i = m->count; i-- > 0;) {
                struct stat st = {0};
                int r = item->in[i] ? look_in_layer(m->trees[i], path, &st, err) : NOTHING;

                if (r < 0)
                        return -1;
                item->in[i] =
                        r == SOMETHING && !is_whiteout(&st) && (!found || S_ISDIR(st.st_mode));
                if (item->in[i] && !found) {
                        item->st = st;
                        item->top = i;
                        found = true;
                }
                if (r == AN_END || (r == SOMETHING && !S_ISDIR(st.st_mode)))
                        while (i > 0)
                                item->in[--i] = false;
        }
        return found;
}

int merged_down(
        const struct merged *m, const char *path, struct merged_item *item, struct error *err)
{
        return S_ISDIR(item->st.st_mode) ? look_down(m, path, item, err) : 0;
}

int merged_look(
        const struct merged *m, const char *path, struct merged_item *ret, struct error *err)
{
        memset(ret, 0, sizeof *ret);
        for (unsigned i = 0; i < m->count; i++)
                ret->in[i] = true;
        return look_down(m, path, ret, err);
}

int merged_root(const struct merged *m, struct merged_item *ret, struct error *err)
{
        return merged_look(m, "", ret, err);
}

/* Add one name to a path. */
static int append(struct path *p, const char *name, size_t len, struct error *err)
{
        size_t at = strlen(p->text);

        if (at + len + 2 > sizeof p->text)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "%.300s: too long", p->text);
        if (at > 0)
                p->text[at++] = '/';
        memcpy(p->text + at, name, len);
        p->text[at + len] = '\0';
        return 0;
}

static void remove_last(struct path *p)
{
        char *slash = strrchr(p->text, '/');

        *(slash ? slash : p->text) = '\0';
}

/* Put what a link says in the place of its name, before the `rest` of the path. */
static int take_link(struct merged *m, struct path *where, const struct merged_item *item,
        const char *rest, struct path *ret_rest, struct error *err)
{
        char target[UNPACK_MAX_PATH + 1];
        struct path all;
        ssize_t len;
        _cleanup_fd_ int fd =
                beneath_open(m->trees[item->top], where->text, O_PATH | O_NOFOLLOW, 0);

        len = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof target - 1);
        if (len < 0)
                return failure(where->text, err);
        target[len] = '\0';
        if ((size_t)snprintf(all.text, sizeof all.text, "%s/%s", target, rest) >= sizeof all.text)
                return error_set(
                        err, CODE_IMAGE_UNSUPPORTED, "%.300s: its target is too long", where->text);
        if (*target == '/')
                where->text[0] = '\0';
        else
                remove_last(where);
        *ret_rest = all;
        return 0;
}

/* One name of a path, as directories have them: also `.` and `..`. */
static int follow_one(struct merged *m, const char *name, size_t len, struct path *path,
        struct merged_item *item, struct error *err)
{
        if (len == 0 || (len == 1 && *name == '.'))
                return 1;
        m->followed += m->count;
        if (m->followed > MOST_FOLLOWED)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "there are more links to follow than anyone needs");
        if (len == 2 && strncmp(name, "..", 2) == 0) {
                remove_last(path);
                return merged_look(m, path->text, item, err);
        }
        return append(path, name, len, err) < 0 ? -1 : merged_down(m, path->text, item, err);
}

int merged_follow(struct merged *m, const char *path, bool last, struct path *ret_path,
        struct merged_item *ret, struct error *err)
{
        unsigned links = 0;
        struct path rest;
        int r = merged_root(m, ret, err);

        snprintf(rest.text, sizeof rest.text, "%s", path);
        ret_path->text[0] = '\0';
        for (;;) {
                const char *name = rest.text + strspn(rest.text, "/");
                size_t len = strcspn(name, "/");
                const char *more = name + len + strspn(name + len, "/");

                if (r > 0)
                        r = follow_one(m, name, len, ret_path, ret, err);
                if (r <= 0)
                        return r;
                if (S_ISLNK(ret->st.st_mode) && (*more || last)) {
                        if (++links > MOST_LINKS)
                                return 0;
                        if (take_link(m, ret_path, ret, more, &rest, err) < 0)
                                return -1;
                        r = merged_look(m, ret_path->text, ret, err);
                        continue;
                }
                if (!*more)
                        return 1;
                memmove(rest.text, more, strlen(more) + 1);
        }
}

int merged_open_file(const struct merged *m, const struct path *path,
        const struct merged_item *item, struct error *err)
{
        int fd = beneath_open(
                m->trees[item->top], path->text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

        return fd >= 0 ? fd : failure(path->text, err);
}

/* --- listing -------------------------------------------------------------------------------- */

struct name {
        const struct name *next;
        bool hidden; /* by a whiteout */
        char text[];
};

struct names {
        void *tree; /* of tsearch() */
        const struct name *last;
        size_t count;
};

static int compare(const void *left, const void *right)
{
        const struct name *l = left, *r = right;

        return strcmp(l->text, r->text);
}

static int compare_pointed(const void *left, const void *right)
{
        return compare(*(const void *const *)left, *(const void *const *)right);
}

/* A name from a layer, unless one above had it. */
static int add(struct names *names, int dir, const struct dirent64 *e, struct error *err)
{
        size_t size = strlen(e->d_name) + 1;
        struct name *n = malloc(sizeof *n + size);
        struct stat st = {0};
        void **there;

        if (!n)
                return error_set(err, CODE_IMAGE_TOO_LARGE, "more names than there is memory for");
        memcpy(n->text, e->d_name, size);
        if (e->d_type == DT_CHR || e->d_type == DT_UNKNOWN)
                fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW);
        n->hidden = is_whiteout(&st);
        there = tsearch(n, &names->tree, compare);
        if (!there || *there != n) {
                free(n);
        } else {
                n->next = names->last;
                names->last = n;
                names->count++;
        }
        return there ? 0
                     : error_set(err, CODE_IMAGE_TOO_LARGE, "more names than there is memory for");
}

static int add_layer(struct names *names, int tree, const char *path, struct error *err)
{
        _cleanup_fd_ int dir = beneath_open(tree, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0);
        const struct dirent64 *e;
        struct listing l;

        if (dir < 0)
                return failure(path, err);
        listing_begin(&l, dir);
        while ((e = listing_next(&l)))
                if (add(names, dir, e, err) < 0)
                        return -1;
        return l.failed ? failure(path, err) : 0;
}

/* In their order. */
static int gather(
        const struct names *names, struct buffer *ret, size_t *ret_count, struct error *err)
{
        const struct name **sorted = calloc(names->count + 1, sizeof(const struct name *));
        size_t count = 0;

        if (!sorted)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (const struct name *n = names->last; n; n = n->next)
                if (!n->hidden)
                        sorted[count++] = n;
        qsort(sorted, count, sizeof(const struct name *), compare_pointed);
        for (size_t i = 0; i < count; i++)
                buffer_add(ret, sorted[i]->text, strlen(sorted[i]->text) + 1);
        free(sorted);
        *ret_count = count;
        return buffer_ok(ret) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int merged_list(const struct merged *m, const char *path, const struct merged_item *item,
        struct buffer *ret_names, size_t *ret_count, struct error *err)
{
        struct names names = {.tree = NULL};
        int r = 0;

        for (unsigned i = m->count; r == 0 && i-- > 0;)
                if (item->in[i])
                        r = add_layer(&names, m->trees[i], path, err);
        if (r == 0)
                r = gather(&names, ret_names, ret_count, err);
        tdestroy(names.tree, free);
        return r;
}
