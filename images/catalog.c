/* The names an archive has made so far; see catalog.h. */
#include "images/catalog.h"

#include "images/messages.h"
#include "images/name.h"

#include <search.h>

enum { PATH_ROOM = UNPACK_MAX_PATH + 1 };

struct node {
        const struct node *parent; /* NULL: at the top */
        enum node_kind kind;
        size_t name_len, folded_len;
        const char *name, *folded; /* into `bytes`, but for the key of a search */
        struct node *next;
        char bytes[];
};

static int compare(const void *left, const void *right)
{
        const struct node *a = left, *b = right;

        if (a->parent != b->parent)
                return (uintptr_t)a->parent < (uintptr_t)b->parent ? -1 : 1;
        if (a->folded_len != b->folded_len)
                return a->folded_len < b->folded_len ? -1 : 1;
        return memcmp(a->folded, b->folded, a->folded_len);
}

void catalog_init(struct catalog *c, uint64_t max)
{
        *c = (struct catalog){.max = max};
}

void catalog_free(struct catalog *c)
{
        tdestroy(c->nodes, free);
        *c = (struct catalog){.max = c->max};
}

static struct node *find(const struct catalog *c, const struct node *parent, const char *name,
        size_t len, struct buffer *folded)
{
        struct node key = {.parent = parent};
        void *const *found;

        buffer_clear(folded);
        name_fold(name, len, folded);
        key.folded = buffer_text(folded);
        key.folded_len = folded->len;
        found = tfind(&key, &c->nodes, compare);
        return found ? *found : NULL;
}

static bool is_spelled(const struct node *n, const char *name, size_t len)
{
        return n->name_len == len && memcmp(n->name, name, len) == 0;
}

static struct node *insert(struct catalog *c, const struct node *parent, const char *name,
        size_t len, const struct buffer *folded, enum node_kind kind)
{
        struct node *n = malloc(sizeof *n + len + 1 + folded->len);

        if (!n)
                return NULL;
        memcpy(n->bytes, name, len);
        n->bytes[len] = '\0';
        memcpy(n->bytes + len + 1, folded->data, folded->len);
        *n = (struct node){
                .parent = parent,
                .kind = kind,
                .name_len = len,
                .folded_len = folded->len,
                .name = n->bytes,
                .folded = n->bytes + len + 1,
        };
        if (!tsearch(n, &c->nodes, compare)) {
                free(n);
                return NULL;
        }
        if (c->last)
                c->last->next = n;
        else
                c->first = n;
        c->last = n;
        c->count++;
        c->files += kind == NODE_FILE;
        if (!parent) {
                c->at_top++;
                c->last_at_top = n;
        }
        return n;
}

/* A component that is there already, met again on the way to (or as the end of) `path`. */
static int judge_known(const struct node *n, const char *path, const char *name, size_t len,
        bool last, enum node_kind kind, struct error *err)
{
        if (!is_spelled(n, name, len))
                return error_set(err, CODE_ARCHIVE_COLLISION,
                        "%.300s: differs from %.100s only in letter case or accent form", path,
                        n->name);
        if (!last && n->kind == NODE_SYMLINK)
                return error_set(err, CODE_ARCHIVE_LINK_ESCAPE,
                        "%.300s: goes through the symbolic link %.100s", path, n->name);
        if (!last && n->kind == NODE_FILE)
                return error_set(err, CODE_ARCHIVE_COLLISION,
                        "%.300s: %.100s is a file and cannot hold others", path, n->name);
        if (last && !(kind == NODE_DIRECTORY && n->kind == NODE_DIRECTORY))
                return error_set(
                        err, CODE_ARCHIVE_COLLISION, "%.300s: a second entry of this name", path);
        return 0;
}

int catalog_add(struct catalog *c, const char *path, enum node_kind kind, size_t *ret_known,
        struct error *err)
{
        _cleanup_buffer_ struct buffer folded = BUFFER_INIT;
        const struct node *parent = NULL;
        size_t known = 0;

        for (const char *at = path; at;) {
                size_t len = strcspn(at, "/");
                bool last = at[len] == '\0';
                struct node *n = find(c, parent, at, len, &folded);

                if (n && judge_known(n, path, at, len, last, kind, err) < 0)
                        return -1;
                if (!n && c->count >= c->max)
                        return error_set(err, CODE_ARCHIVE_ENTRIES,
                                "%.300s: more than %llu files and folders", path,
                                (unsigned long long)c->max);
                if (n)
                        known = (size_t)(at - path) + len;
                else
                        n = insert(c, parent, at, len, &folded, last ? kind : NODE_DIRECTORY);
                if (!n || !buffer_ok(&folded)) /* at the limit of this program's memory */
                        return error_set(err, CODE_ARCHIVE_ENTRIES,
                                "%.300s: more files and folders than there is memory for", path);
                parent = n;
                at = last ? NULL : at + len + 1;
        }
        *ret_known = known;
        return 0;
}

static const struct node *find_exact(const struct catalog *c, const char *path)
{
        _cleanup_buffer_ struct buffer folded = BUFFER_INIT;
        const struct node *n = NULL;

        for (const char *at = path; at;) {
                size_t len = strcspn(at, "/");

                n = find(c, n, at, len, &folded);
                if (!n || !is_spelled(n, at, len))
                        return NULL;
                at = at[len] ? at + len + 1 : NULL;
        }
        return n;
}

bool catalog_has_file(const struct catalog *c, const char *path)
{
        const struct node *n = find_exact(c, path);

        return n && n->kind == NODE_FILE;
}

const char *catalog_find_file(const struct catalog *c, const char *dir, const char *name)
{
        _cleanup_buffer_ struct buffer folded = BUFFER_INIT;
        const struct node *parent = *dir ? find_exact(c, dir) : NULL;
        const struct node *n;

        if (*dir && !parent)
                return NULL;
        n = find(c, parent, name, strlen(name), &folded);
        return n && n->kind == NODE_FILE ? n->name : NULL;
}

const char *catalog_common_root(const struct catalog *c)
{
        if (c->at_top != 1 || c->last_at_top->kind != NODE_DIRECTORY)
                return NULL;
        return c->last_at_top->name;
}

/* --- going through it ----------------------------------------------------------------------- */

static void see_node(const struct node *file, void (*see)(void *to, const char *path), void *to)
{
        char path[PATH_ROOM];
        size_t at = sizeof path - 1;

        path[at] = '\0';
        for (const struct node *n = file; n; n = n->parent) {
                if (at < n->name_len + (n->parent != NULL))
                        return; /* cannot be: whole paths were judged */
                at -= n->name_len;
                memcpy(path + at, n->name, n->name_len);
                if (n->parent)
                        path[--at] = '/';
        }
        see(to, path + at);
}

void catalog_each_file(const struct catalog *c, void (*see)(void *to, const char *path), void *to)
{
        for (const struct node *n = c->first; n; n = n->next)
                if (n->kind == NODE_FILE)
                        see_node(n, see, to);
}
